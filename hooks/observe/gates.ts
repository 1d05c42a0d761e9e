// What must be known of open gates: their objects, read as the ServiceAccount, what their expressions come to, and the locks.
import type { Clock, Expressions, Reader } from '../cluster.ts';
import type { Look } from '../gates/finding.ts';
import { needsNoLook } from '../gates/kinds.ts';
import { isSealed, type SnapshotEntry } from '../model/entry.ts';
import { deadlineExceeded } from '../model/failure.ts';
import type { Gate } from '../model/gate.ts';
import type { OpenGates } from '../model/gated.ts';
import { type JsonObject, textAt } from '../model/json.ts';
import type { Status } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import { locationOf } from '../writes/change.ts';
import { serviceAccountOf, storageClasses } from '../writes/resources.ts';
import type { AwaitView, GateView, StoredSnapshot } from './awaited.ts';
import type { Carry } from './carry.ts';
import { readDiagnosis } from './diagnosis.ts';
import { type Evaluate, evaluateInTurn } from './expressions.ts';
import { gatedHalf } from './halves.ts';
import type { Presence } from './observation.ts';
import { type Listed, presenceOf } from './read.ts';
import { isUnserved, untilServed } from './served.ts';
import { readSnapshot, type SnapshotSource } from './snapshot.ts';

interface GateContext {
  readonly source: SnapshotSource;
  readonly transaction: Transaction;
  readonly status: Status;
  readonly now: number;
  readonly ownLeases: () => Promise<Listed>;
  readonly clock: Clock;
  readonly aside: Reader;
  readonly expressions: Expressions | undefined;
  readonly carry: Pick<Carry, 'diagnose' | 'awaitLeft'>;
}

export async function observeGates(context: GateContext, open: OpenGates): Promise<AwaitView> {
  const [snapshot, own] = await Promise.all([snapshotOf(context), context.ownLeases()]);
  const base = { snapshot, views: [], leases: own.kind === 'ok' ? own.objects : [], awaitLeft: context.carry.awaitLeft ?? 0 };
  if (own.kind === 'trouble') return { ...base, trouble: own.failure };
  if (snapshot.kind !== 'stored') return base;
  const evaluate = evaluateInTurn(context.expressions, context.clock, context.transaction);
  const found = await Promise.all(
    open.gates.map(({ index, gate }) => {
      const entry = snapshot.entries[index];
      return entry === undefined ? [] : lookAt({ ...context, evaluate }, gatedHalf(entry), gate);
    }),
  );
  const views = found.flat();
  const bad = views.find(({ index }) => index === context.carry.diagnose);
  return {
    ...base,
    views,
    ...(bad === undefined ? {} : { diagnosis: { index: bad.index, words: await diagnosed(context, bad) } }),
  };
}

/** Where the time of the Transaction is over: the first of them that is not ready, and why. */
export async function observeOverdue(
  context: GateContext,
  open: OpenGates | undefined,
): Promise<{ readonly awaited?: AwaitView }> {
  const gate = open?.gates.find(({ index }) => context.status.items[index]?.gate?.readySince === undefined);
  if (open === undefined || gate === undefined) return {};
  return { awaited: await observeGates({ ...context, carry: { diagnose: gate.index } }, { ...open, gates: [gate] }) };
}

// What this process has verified is not looked for again at every look: it is only compared with, nothing is written on its word.
async function snapshotOf({ source, transaction, status: { rollbackRef } }: GateContext): Promise<StoredSnapshot> {
  const cached = source.cache.get(transaction.uid);
  return rollbackRef !== undefined && cached?.digest === rollbackRef.digest
    ? { kind: 'stored', ref: rollbackRef, entries: cached.entries }
    : readSnapshot(source, transaction, rollbackRef);
}

async function lookAt(
  context: GateContext & { readonly evaluate: Evaluate },
  entry: SnapshotEntry,
  gate: Gate,
): Promise<GateView> {
  const { source, transaction } = context;
  const { index } = entry;
  const look = { ...unseen(context, entry, gate), live: undefined };
  if (needsNoLook(look)) return { index, entry, look };
  const live = await readGated(source.reader, transaction, entry);
  if (live.kind === 'trouble') return { index, entry, look, trouble: live.failure };
  if (live.kind === 'absent') return { index, entry, look };
  const [evaluated, storageClass] = await Promise.all([
    evaluatedOf(context.evaluate, gate, live.object),
    readStorageClass(context, entry, live.object),
  ]);
  if (evaluated === 'late') return { index, entry, look, trouble: outOfTime };
  return { index, entry, look: { ...look, live: live.object, evaluated, ...storageClass } };
}

function unseen({ transaction, status, now }: GateContext, entry: SnapshotEntry, gate: Gate): Omit<Look, 'live'> {
  const item = status.items[entry.index];
  return {
    gate,
    type: entry.type,
    resource: entry.resource,
    sealed: isSealed(entry, transaction),
    prior: entry.prior,
    uid: item?.uid ?? textAt(entry.prior, 'metadata', 'uid'),
    ...(item?.resourceVersion === undefined ? {} : { version: item.resourceVersion }),
    evaluated: {},
    // What has passed before was seen with evidence, or long enough after the change.
    age: item?.gate?.passed === true ? Number.POSITIVE_INFINITY : now - (item?.gate?.since ?? now),
  };
}

async function evaluatedOf(evaluate: Evaluate, gate: Gate, object: JsonObject): Promise<Look['evaluated'] | 'late'> {
  const results = await Promise.all(
    (['ready', 'failed'] as const).map(async (checked) => {
      const check = gate[checked];
      return [checked, check?.kind === 'expression' ? await evaluate(check.expression, object) : undefined] as const;
    }),
  );
  if (results.some(([, result]) => result === 'late')) return 'late';
  return Object.fromEntries(results.filter(([, result]) => result !== undefined));
}

const outOfTime = deadlineExceeded('the look has no time left for its expression');

async function readGated(reader: Reader, transaction: Transaction, { target, resource, type }: SnapshotEntry): Promise<Presence> {
  const answer = await reader.get(locationOf(target, resource), serviceAccountOf(transaction));
  if (answer.kind === 'ok' || !isUnserved(answer.failure) || type === 'Delete') return presenceOf(answer);
  return { kind: 'trouble', failure: untilServed(answer.failure) };
}

/** That of a claim which waits; a class that may not be read is no reason to fail. */
async function readStorageClass(
  { source: { reader }, transaction }: GateContext,
  { resource }: SnapshotEntry,
  claim: JsonObject,
): Promise<Pick<Look, 'storageClass'>> {
  const name = textAt(claim, 'spec', 'storageClassName');
  const isWaiting =
    resource.group === '' && resource.kind === 'PersistentVolumeClaim' && textAt(claim, 'status', 'phase') === 'Pending';
  if (!isWaiting || name === undefined || name === '') return {};
  const answer = await reader.get({ resource: storageClasses, name }, serviceAccountOf(transaction));
  return answer.kind === 'ok' ? { storageClass: answer.object } : {};
}

// Of what is gone there is nothing to read.
async function diagnosed({ aside, transaction, clock }: GateContext, { entry, look, trouble }: GateView): Promise<string> {
  const { live, sealed } = look;
  if (live === undefined || trouble !== undefined || needsNoLook(look)) return '';
  const location = locationOf(entry.target, entry.resource);
  return readDiagnosis({ reader: aside, identity: serviceAccountOf(transaction), clock, location, object: live, sealed });
}
