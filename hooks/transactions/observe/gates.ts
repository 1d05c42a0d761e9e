// The facts that open gates need: their objects, read as the ServiceAccount, the results of their expressions, and the locks.
import type { Clock, Expressions, Logs, Reader } from '../../objects/cluster.ts';
import { deadlineExceeded, type Failure } from '../../objects/failure.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { needsNoRead } from '../gates/kinds.ts';
import { findingOf } from '../gates/readiness.ts';
import type { GateEvidence } from '../gates/verdict.ts';
import { isSealed, type SnapshotEntry } from '../model/entry.ts';
import type { Gate } from '../model/gate.ts';
import type { OpenGates } from '../model/gated.ts';
import type { Status } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import { droppingEach } from '../reading/memory-budget.ts';
import { isUnserved, untilServed } from '../reading/served.ts';
import { locationOf } from '../writes/change.ts';
import { serviceAccountOf, storageClasses } from '../writes/resources.ts';
import type { AwaitView, GateView, PodsView, StoredSnapshot } from './awaited.ts';
import type { Carry } from './carry.ts';
import { type GateFailure, readDiagnosis } from './diagnosis.ts';
import { type Evaluate, evaluateInTurn } from './expressions.ts';
import { gatedHalf } from './halves.ts';
import { type PodTurns, viewPods } from './new-pods.ts';
import type { Presence } from './observation.ts';
import { type Listed, presenceOf } from './read.ts';
import { readSnapshot, type SnapshotSource } from './snapshot.ts';

/** Objects that are in memory at once. */
const atOnce = 8;

interface GateContext {
  readonly source: SnapshotSource;
  readonly transaction: Transaction;
  readonly status: Status;
  readonly now: number;
  readonly ownLeases: () => Promise<Listed>;
  readonly clock: Clock;
  readonly aside: Reader & Logs;
  readonly podTurns: PodTurns;
  readonly expressions: Expressions | undefined;
  readonly carry: Pick<Carry, 'diagnose' | 'awaitLeft'>;
}

export async function observeGates(context: GateContext, open: OpenGates): Promise<AwaitView> {
  const [snapshot, own] = await Promise.all([snapshotOf(context), context.ownLeases()]);
  const base = { snapshot, views: [], leases: own.kind === 'ok' ? own.objects : [], awaitLeft: context.carry.awaitLeft ?? 0 };
  if (own.kind === 'trouble') return { ...base, trouble: own.failure };
  if (snapshot.kind !== 'stored') return base;
  const evaluate = evaluateInTurn(context.expressions, context.clock, context.transaction);
  const gates = open.gates.flatMap(({ index, gate }) => {
    const entry = snapshot.entries[index];
    return entry === undefined ? [] : [{ entry: gatedHalf(entry), gate }];
  });
  const seen = await droppingEach({ reader: context.source.reader, atOnce }, gates, ({ entry, gate }, reader) =>
    observeGate({ ...context, reader, evaluate }, entry, gate),
  );
  const [read] = seen.flatMap(({ view: { index }, why }) => (why === undefined ? [] : [{ index, ...why }]));
  return { ...base, views: seen.map(({ view }) => view), ...(read === undefined ? {} : { diagnosis: read }) };
}

/** If the time of the Transaction is over: the first gate that is not ready, and why. */
export async function observeOverdue(
  context: GateContext,
  open: OpenGates | undefined,
): Promise<{ readonly awaited?: AwaitView }> {
  const gate = open?.gates.find(({ index }) => context.status.items[index]?.gate?.readySince === undefined);
  if (open === undefined || gate === undefined) return {};
  return { awaited: await observeGates({ ...context, carry: { diagnose: gate.index } }, { ...open, gates: [gate] }) };
}

// The engine does not read a snapshot that this process has verified again at every attempt. It only compares with that snapshot,
// and writes nothing because of it.
async function snapshotOf({ source, transaction, status: { rollbackRef } }: GateContext): Promise<StoredSnapshot> {
  const cached = source.cache.get(transaction.uid);
  return rollbackRef !== undefined && cached?.digest === rollbackRef.digest
    ? { kind: 'stored', ref: rollbackRef, entries: cached.entries }
    : readSnapshot(source, transaction, rollbackRef);
}

interface GateReads extends GateContext {
  readonly reader: Reader;
  readonly evaluate: Evaluate;
}

interface Seen {
  readonly view: GateView;
  /** Why it is not ready, if that is wanted. */
  readonly why?: Why;
}

type Why = Omit<GateFailure, 'below'>;

async function observeGate(context: GateReads, entry: SnapshotEntry, gate: Gate): Promise<Seen> {
  const { transaction, status, now, carry } = context;
  const { index } = entry;
  const evidence = { ...unseen(context, entry, gate), live: undefined };
  const view = { index, entry, evidence: { gate, sealed: evidence.sealed } };
  const isToExplain = index === carry.diagnose;
  const before = status.items[index]?.gate ?? { since: now };
  const seen = (finding: GateView['finding'], why: Why = { words: '' }, pods?: PodsView): Seen => ({
    view: { ...view, finding, ...(pods === undefined ? {} : { pods }) },
    ...(isToExplain ? { why } : {}),
  });
  const trouble = (failure: Failure): Seen => seen({ kind: 'trouble', failure });
  if (needsNoRead(evidence)) return seen(findingOf(evidence, before));
  const live = await readGated(context.reader, transaction, entry);
  if (live.kind === 'trouble') return trouble(live.failure);
  if (live.kind === 'absent') return seen(findingOf(evidence, before));
  const [evaluated, storageClass] = await Promise.all([
    evaluatedOf(context.evaluate, gate, live.object),
    readStorageClass(context, entry, live.object),
  ]);
  if (evaluated === 'late') return trouble(outOfTime);
  const finding = findingOf({ ...evidence, live: live.object, evaluated, ...storageClass }, before);
  const { below, ...why } = isToExplain ? await diagnosed(context, { entry, gate, evidence, object: live.object }) : unexplained;
  const owner = ownerOf(context, entry, live.object);
  const parts = { ...context, entry, gate, before, sealed: evidence.sealed, owner, below };
  return seen(finding, why, finding.kind === 'notYet' ? await viewPods(parts) : undefined);
}

const unexplained: Why & { readonly below?: GateFailure['below'] } = { words: '' };

function unseen({ transaction, status, now }: GateContext, entry: SnapshotEntry, gate: Gate): Omit<GateEvidence, 'live'> {
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

async function evaluatedOf(evaluate: Evaluate, gate: Gate, object: JsonObject): Promise<GateEvidence['evaluated'] | 'late'> {
  const results = await Promise.all(
    (['ready', 'failed'] as const).map(async (checked) => {
      const check = gate[checked];
      return [checked, check?.kind === 'expression' ? await evaluate(check.expression, object) : undefined] as const;
    }),
  );
  if (results.some(([, result]) => result === 'late')) return 'late';
  return Object.fromEntries(results.filter(([, result]) => result !== undefined));
}

const outOfTime = deadlineExceeded('the call has no time left for its expression');

async function readGated(reader: Reader, transaction: Transaction, { target, resource, type }: SnapshotEntry): Promise<Presence> {
  const answer = await reader.get(locationOf(target, resource), serviceAccountOf(transaction));
  if (answer.kind === 'ok' || !isUnserved(answer.failure) || type === 'Delete') return presenceOf(answer);
  return { kind: 'trouble', failure: untilServed(answer.failure) };
}

/** That of a claim which waits; a class that may not be read is no reason to fail. */
async function readStorageClass(
  { reader, transaction }: GateReads,
  { resource }: SnapshotEntry,
  claim: JsonObject,
): Promise<Pick<GateEvidence, 'storageClass'>> {
  const name = textAt(claim, 'spec', 'storageClassName');
  const isWaiting =
    resource.group === '' && resource.kind === 'PersistentVolumeClaim' && textAt(claim, 'status', 'phase') === 'Pending';
  if (!isWaiting || name === undefined || name === '') return {};
  const answer = await reader.get({ resource: storageClasses, name }, serviceAccountOf(transaction));
  return answer.kind === 'ok' ? { storageClass: answer.object } : {};
}

function ownerOf({ aside, transaction, clock }: GateContext, { target, resource }: SnapshotEntry, object: JsonObject) {
  const location = locationOf(target, resource);
  return { reader: aside, identity: serviceAccountOf(transaction), clock, location, object };
}

interface Explained {
  readonly entry: SnapshotEntry;
  readonly gate: Gate;
  readonly evidence: Pick<GateEvidence, 'sealed'>;
  /** As it was read. */
  readonly object: JsonObject;
}

function diagnosed(context: GateContext, { entry, gate, evidence, object }: Explained): Promise<GateFailure> {
  return readDiagnosis({ ...ownerOf(context, entry, object), sealed: evidence.sealed, keepLogs: gate.keepLogs === true });
}
