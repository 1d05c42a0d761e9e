// Reads every target before anything is changed, and makes a dry run of every change as the ServiceAccount.

import { stateFault, tooDeep, unservedFault } from '../checks/existence.ts';
import type { Fault } from '../checks/fault.ts';
import { refusalFault } from '../checks/refusal.ts';
import type { Resolved } from '../checks/targets.ts';
import { asNew } from '../content/content.ts';
import type { Failure } from '../model/failure.ts';
import { type JsonObject, textAt } from '../model/json.ts';

import { fieldManagers, mayBreak, type Transaction } from '../model/transaction.ts';

import { isTooDeep } from '../snapshots/codec.ts';
import { snapshotNames } from '../snapshots/names.ts';
import { changeWrite, locationOf } from '../writes/change.ts';
import { preconditionOf, serviceAccountOf } from '../writes/resources.ts';
import type { Around } from './along.ts';
import { type LockContext, resolveTargets } from './begin.ts';
import { deferred, dependent, earlierRemover } from './deferred.ts';
import { irreversibleFaults, lookAroundDeleted, withNote } from './irreversible.ts';
import { mayCreate } from './may-create.ts';
import { deletedOwnerFaults, wrongOwner } from './new-owners.ts';
import type { Prepared, PrepareView } from './observation.ts';
import { type Found, findSnapshot } from './own-snapshots.ts';
import { read } from './read.ts';
import type { SnapshotSource } from './snapshot.ts';

export async function observePrepare(context: LockContext, source: SnapshotSource): Promise<PrepareView> {
  const names = snapshotNames(context.transaction, source.packer);
  const { snapshotNameInUse } = context.carry;
  // With one key there is one name: creating the snapshot shows whether it is in use. An earlier try may have used another key.
  const looked = snapshotNameInUse !== undefined || names.length > 1 ? names : [];
  const found = await Promise.all(looked.map((name) => findSnapshot(source, context.transaction, name, snapshotNameInUse)));
  return lookedAt(found, names[0]) ?? { ...(await prepareTargets(context)), snapshotName: names[0] };
}

function lookedAt(found: readonly Found[], name: string): PrepareView | undefined {
  const base = { faults: [], targets: [], incompleteParts: [], snapshotName: name } as const;
  const trouble = found.find((one) => one.kind === 'trouble');
  if (trouble !== undefined) return { ...base, trouble: trouble.failure };
  const adopted = found.find((one) => one.kind === 'stored');
  if (adopted !== undefined) return { ...base, adopted };
  // Incomplete parts under other names block nothing; the engine deletes them with the Transaction.
  const [incompleteParts = []] = found.map((one) => (one.kind === 'none' ? one.incompleteParts : []));
  return incompleteParts.length === 0 ? undefined : { ...base, incompleteParts };
}

async function prepareTargets(context: LockContext): Promise<PrepareView> {
  const { reader, transaction } = context;
  const base = { targets: [], incompleteParts: [], snapshotName: '' } as const;
  const { resolved, faults, trouble } = await resolveTargets(reader, transaction);
  if (trouble !== undefined || faults.length > 0) return { ...base, faults, ...(trouble === undefined ? {} : { trouble }) };
  const [verdict, arounds] = await Promise.all([
    Promise.all(resolved.map((one) => prepareOne({ reader, transaction, all: resolved }, one))),
    lookAroundDeleted(context, resolved),
  ]);
  const troubled = [...verdict, ...arounds.values()].find((one) => one.kind === 'trouble');
  if (troubled?.kind === 'trouble') return { ...base, faults: [], trouble: troubled.failure };
  const prepared = verdict.flatMap((one) => (one.kind === 'prepared' ? [one.prepared] : []));
  const refused = verdict.flatMap((one) => (one.kind === 'fault' ? [one.fault] : []));
  const aroundOf = ({ resolved: { index } }: Prepared): Around | undefined => {
    const looked = arounds.get(index);
    return looked?.kind === 'known' ? looked.around : undefined;
  };
  const irreversible = mayBreak(transaction) ? [] : irreversibleFaults(prepared, aroundOf);
  const targets = prepared.map((one) => withNote(one, aroundOf(one)));
  return { ...base, faults: [...refused, ...irreversible, ...deletedOwnerFaults(prepared, transaction)], targets };
}

type Evaluated =
  | { readonly kind: 'prepared'; readonly prepared: Prepared }
  | { readonly kind: 'fault'; readonly fault: Fault }
  | { readonly kind: 'trouble'; readonly failure: Failure };

/** The dry run met another version of the object than the read before it, which found `prior`. */
interface Moved {
  readonly kind: 'moved';
  readonly failure: Failure;
  readonly prior: JsonObject | undefined;
}

type Refused = Resolved & { readonly prior?: JsonObject | undefined };

interface Context extends Pick<LockContext, 'reader' | 'transaction'> {
  readonly all: readonly Resolved[];
}

/** Reads of one target in a row, if somebody writes it between each read and its dry run. */
const mostReads = 20;

/** Dry runs of one version: a further refusal is not about that version. (Quotas answer 409 if two writers collide.) */
const mostTries = 3;

async function prepareOne(context: Context, resolved: Resolved, before: readonly string[] = []): Promise<Evaluated> {
  const verdict = await readAndTry(context, resolved);
  if (verdict.kind === 'prepared') return (await wrongOwner(context, verdict.prepared)) ?? verdict;
  if (verdict.kind !== 'moved') return verdict;
  const { failure, prior } = verdict;
  const version = textAt(prior, 'metadata', 'resourceVersion') ?? '';
  const versions = [...before, version];
  if (versions.filter((one) => one === version).length === mostTries)
    return failed(failure, { ...resolved, prior }, tried, context.transaction);
  return versions.length < mostReads ? prepareOne(context, resolved, versions) : { kind: 'trouble', failure };
}

const tried = 'was refused by a dry run';

async function readAndTry(context: Context, resolved: Resolved): Promise<Evaluated | Moved> {
  const { reader, transaction } = context;
  const found = await read(reader, locationOf(resolved.target, resolved.resource), serviceAccountOf(transaction));
  if (found.kind === 'trouble') return failed(found.failure, resolved, 'could not be read', transaction);
  const prior = found.kind === 'present' ? found.object : undefined;
  if (isTooDeep(prior)) return { kind: 'fault', fault: tooDeep(resolved) };
  const wrong = unservedFault(resolved, transaction) ?? stateFault(resolved, prior);
  if (wrong !== undefined) return { kind: 'fault', fault: wrong };
  // No dry run is possible if an earlier change creates the Namespace or the kind.
  if (resolved.dependsOn !== undefined)
    return { kind: 'prepared', prepared: dependent(resolved, resolved.dependsOn, { prior, transaction }) };
  return (await probeUndo(context, resolved, prior)) ?? tryChange(context, resolved, prior);
}

async function tryChange(context: Context, resolved: Resolved, prior: JsonObject | undefined): Promise<Evaluated | Moved> {
  const { reader, transaction } = context;
  const { change, target, resource } = resolved;
  const write = changeWrite({ transaction, change, target, resource, prior, live: prior }, preconditionOf(prior));
  const answer = await reader.dryRun(write);
  if (answer.kind === 'failed') {
    const { failure } = answer;
    const later = deferred(failure, { ...resolved, prior }, context);
    if (later !== undefined) return { kind: 'prepared', prepared: later };
    if (['stale', 'exists', 'absent'].includes(failure.kind)) return { kind: 'moved', failure, prior };
    return failed(failure, { ...resolved, prior }, tried, transaction);
  }
  const expected = write.verb === 'delete' ? undefined : answer.object;
  if (isTooDeep(expected)) return { kind: 'fault', fault: tooDeep(resolved) };
  return { kind: 'prepared', prepared: { resolved, prior, expected, approximate: false } };
}

// Escalation checks may refuse what RBAC rules allow. So a dry run tries to create the role or binding again. The API server makes
// these checks before it finds that the object exists: AlreadyExists means that the undo would pass. The probe uses the object's
// own name, so that policies on names do not stop it.
async function probeUndo(
  { reader, transaction, all }: Context,
  resolved: Resolved,
  prior: JsonObject | undefined,
): Promise<Evaluated | undefined> {
  const { resource, target } = resolved;
  if (resource.group !== 'rbac.authorization.k8s.io' || prior === undefined) return undefined;
  const creating = await mayCreate({ reader, transaction }, resolved);
  if (creating.kind === 'failed') return failed(creating.failure, resolved, 'could not be checked for its rollback', transaction);
  // Without the right to create, a refusal of the probe would say nothing about an update.
  if (!creating.allowed) return undefined;
  const answer = await reader.dryRun({
    verb: 'create',
    identity: serviceAccountOf(transaction),
    location: locationOf(target, resource),
    object: asNew(prior),
    fieldManager: fieldManagers(transaction).restore,
  });
  // The undo restores this object while the earlier changes are still applied.
  if (answer.kind !== 'failed' || answer.failure.kind === 'exists') return undefined;
  if (earlierRemover(answer.failure, { ...resolved, prior }, all) !== undefined) return undefined;
  return failed(answer.failure, resolved, 'could not be restored by the ServiceAccount', transaction);
}

function failed(failure: Failure, resolved: Refused, what: string, transaction: Transaction): Evaluated {
  if (failure.kind === 'transient') return { kind: 'trouble', failure };
  return {
    kind: 'fault',
    fault: refusalFault(failure, resolved, what, transaction),
  };
}
