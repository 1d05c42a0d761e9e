// The checks before the first write, and the state of the locks.

import type { Clock, Expressions, Reader, ResourceAnswer } from '../../objects/cluster.ts';
import type { Failure } from '../../objects/failure.ts';
import { textAt } from '../../objects/json.ts';
import { resourceFromChanged, resourceFromCreated } from '../checks/defined.ts';
import type { Fault } from '../checks/fault.ts';
import { gapFaults, missingAccount, needsOf } from '../checks/permissions.ts';
import { namespaceCreator, type Resolved, targetFaults, targetOf, unknownKind } from '../checks/targets.ts';
import { staticFaults } from '../checks/validity.ts';
import { type Lock, leaseLocation, lockOf } from '../locks/lease.ts';
import type { Change } from '../model/change.ts';
import { isCrd } from '../model/crds.ts';
import { sourceOf } from '../model/source.ts';
import type { Transaction } from '../model/transaction.ts';
import type { CallReads } from '../reading/call-reads.ts';
import { engine } from '../writes/resources.ts';
import { reviewAccess } from './access.ts';
import type { Carry } from './carry.ts';
import { expressionFaults } from './expressions.ts';
import { readHolders } from './holders.ts';
import type { BeginView, LockState, LockView, RollbackView } from './observation.ts';
import { read, readOwnLeases, readServiceAccount } from './read.ts';
import type { Filled, Sources } from './sources.ts';

export interface LockContext {
  readonly reader: Reader;
  readonly callReads: CallReads;
  readonly transaction: Transaction;
  readonly engineNamespace: string;
  readonly carry: Carry;
  readonly expressions: Expressions | undefined;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** ms since the epoch, by the API server's clock. */
  readonly now: () => number;
  readonly sources: Sources;
  /** Whether an earlier call has begun to wait for locks: it made the checks, and the Transaction may hold some locks. */
  readonly isWaiting: boolean;
  /** What a rollback makes of its objects. */
  readonly composition?: RollbackView | undefined;
  /** Who makes the requests, as faults name it. Absent for the ServiceAccount of the Transaction. */
  readonly requester?: string;
}

export async function observeBegin(context: LockContext): Promise<BeginView> {
  const checked = await check(context);
  if (checked.faults.length > 0 || checked.trouble !== undefined) {
    const { resolved: _none, ...checks } = checked;
    return { ...checks, targets: [], locks: noLocks };
  }
  const locks = await observeLocks(
    context,
    checked.resolved.map(({ target }) => lockOf(target)),
  );
  return { faults: [], targets: checked.resolved.map(({ target }) => target), locks };
}

// The checks run once. A kind that is no longer served is a fault even then, because its target has no lock name. The engine reads
// a source's content again only if that content may define how a kind is served.
async function check(context: LockContext): Promise<Targets> {
  const isChecked = context.carry.checked || context.isWaiting;
  const own = await ownFaults(context);
  if (own.faults.length > 0 || own.trouble !== undefined) return { ...own, resolved: [] };
  const filled = await fillContents(context, isChecked ? isCrd : undefined);
  if (filled.trouble !== undefined) return { faults: [], trouble: filled.trouble, resolved: [] };
  if (filled.faults.length > 0) return { faults: filled.faults, resolved: [] };
  const targets = await resolveTargets(context.reader, filled.transaction);
  if (targets.trouble !== undefined) return { faults: [], trouble: targets.trouble, resolved: [] };
  return isChecked ? targets : { ...targets, ...(await checkTargets(context, targets)) };
}

// No source is read as a ServiceAccount that does not exist.
export async function fillContents(context: LockContext, isWanted?: (change: Change) => boolean): Promise<Filled> {
  const { reader, sources, transaction } = context;
  const isSourced = transaction.changes.some((change) => sourceOf(change) !== undefined);
  const account: Checks = isSourced ? await checkAccount(context) : { faults: [] };
  if (account.faults.length > 0 || account.trouble !== undefined) return { ...account, transaction };
  return sources.fill(reader, transaction, isWanted);
}

/** The faults of the Transaction on its own. */
export async function ownFaults({ transaction, expressions, clock, carry, isWaiting }: LockContext): Promise<Checks> {
  const faults = staticFaults(transaction);
  if (carry.checked || isWaiting) return { faults };
  const checked = await expressionFaults(expressions, transaction, clock);
  return { ...checked, faults: [...faults, ...checked.faults] };
}

export interface Checks {
  readonly faults: readonly Fault[];
  readonly trouble?: Failure;
}

interface Targets extends Checks {
  readonly resolved: readonly Resolved[];
}

/** Each target, with the resource that serves it. */
export async function resolveTargets(reader: Reader, transaction: Transaction): Promise<Targets> {
  const answers = await Promise.all(transaction.changes.map((_, index) => resourceForChange(reader, transaction, index)));
  const failures = answers.flatMap((answer, index) => (answer.kind === 'failed' ? [{ failure: answer.failure, index }] : []));
  const trouble = failures.find(({ failure }) => failure.kind === 'transient');
  const unknown = failures.map(({ index }) => unknownKind(transaction, index));
  const resolved = answers.flatMap((answer, index) => (answer.kind === 'ok' ? resolvedOf(transaction, index, answer) : []));
  return { resolved, faults: unknown, ...(trouble === undefined ? {} : { trouble: trouble.failure }) };
}

type FoundResource = ResourceAnswer & { readonly by?: number };

async function resourceForChange(reader: Reader, { changes }: Transaction, index: number): Promise<FoundResource> {
  const target = changes[index]?.target ?? { apiVersion: '', kind: '' };
  const created = resourceFromCreated(changes, index);
  if (created !== undefined) return { kind: 'ok', ...created };
  const answer = await reader.resource(target.apiVersion, target.kind);
  const gained = answer.kind === 'failed' && answer.failure.kind === 'absent' ? resourceFromChanged(changes, index) : undefined;
  return gained === undefined ? answer : { kind: 'ok', ...gained };
}

function resolvedOf(
  transaction: Transaction,
  index: number,
  { resource, by }: Extract<FoundResource, { kind: 'ok' }>,
): readonly Resolved[] {
  const change = transaction.changes[index];
  if (change === undefined) return [];
  const target = targetOf(change, resource, transaction);
  const dependsOn = by ?? namespaceCreator(transaction.changes, index, target.namespace);
  return [{ index, change, target, resource, ...(dependsOn === undefined ? {} : { dependsOn }) }];
}

async function checkTargets(context: LockContext, { resolved, faults }: Targets): Promise<Checks> {
  const { transaction, engineNamespace } = context;
  const known = [...faults, ...targetFaults(resolved, transaction, engineNamespace)];
  return known.length > 0 ? { faults: known } : checkRights(context, resolved);
}

/** Whether the ServiceAccount exists, and has the rights for these changes and their undo. */
export async function checkRights(context: LockContext, resolved: readonly Resolved[]): Promise<Checks> {
  const [account, access] = await Promise.all([checkAccount(context), reviewAccess(context, needsOf(resolved))]);
  if (account.faults.length > 0 || account.trouble !== undefined) return account;
  if (access.kind === 'trouble') return { faults: [], trouble: access.failure };
  return { faults: gapFaults(access.gaps, context.requester ?? `ServiceAccount ${accountOf(context.transaction)}`) };
}

async function checkAccount(context: LockContext): Promise<Checks> {
  const account = await readServiceAccount(context, context.transaction);
  if (account.kind === 'trouble') return { faults: [], trouble: account.failure };
  return { faults: account.kind === 'absent' ? [missingAccount(accountOf(context.transaction))] : [] };
}

function accountOf({ namespace, serviceAccountName }: Transaction): string {
  return `${namespace}/${serviceAccountName}`;
}

/**
 * Reads the Leases that another Transaction was seen to hold; the other states come from the carry, or are unknown. A Transaction
 * that has waited lists its own Leases by label, and reads the first one that it lacks before it tries to acquire any.
 * The engine also reads the other holder of an expired Lease (L7).
 */
export async function observeLocks(context: LockContext, wanted: readonly Lock[]): Promise<LockView> {
  const { reader, engineNamespace, carry } = context;
  const locks = [...wanted].sort((left, right) => (left.name < right.name ? -1 : 1));
  const known = context.isWaiting && carry.locks.size === 0 ? await readBeforeAcquiring(context, locks) : carry.locks;
  const states = await Promise.all(
    locks.map(async ({ name }): Promise<readonly [string, LockState]> => {
      if (carry.heldNames.has(name)) return [name, await read(reader, leaseLocation(name, engineNamespace), engine)];
      return [name, known.get(name) ?? { kind: 'unknown' }];
    }),
  );
  const holders = await readHolders({ ...context, now: context.now() }, new Map(states).values());
  return { locks, states: new Map(states), acquired: carry.acquired, holders };
}

export const noLocks: LockView = { locks: [], states: new Map(), acquired: new Set(), holders: new Map() };

async function readBeforeAcquiring(context: LockContext, locks: readonly Lock[]): Promise<ReadonlyMap<string, LockState>> {
  const { reader, transaction, engineNamespace } = context;
  const own = await readOwnLeases(reader, transaction, engineNamespace);
  if (own.kind === 'trouble') return new Map([['', own]]);
  const held = new Map(
    own.objects.map((object) => [textAt(object, 'metadata', 'name') ?? '', { kind: 'present', object } as const]),
  );
  const first = locks.find(({ name }) => !held.has(name));
  if (first === undefined) return held;
  return new Map<string, LockState>([
    ...held,
    [first.name, await read(reader, leaseLocation(first.name, engineNamespace), engine)],
  ]);
}
