// One attempt of a call: read, decide, plan, perform, and the result of the step. The engine reads the Transaction with its Leases,
// and retries for a moment if it cannot. Then it finds the step that is due, and makes the reads that this step needs. What the
// engine has read counts for a moment (`timing.readAge`).

import type { Reader } from '../objects/cluster.ts';
import type { JsonObject } from '../objects/json.ts';
import type { Outcome } from '../objects/mutation.ts';
import { turnFor } from '../objects/requests/loop-turns.ts';
import type { Call, EngineParts, Timing } from './call.ts';
import { decide } from './decide/decide.ts';
import { firstLease } from './decide/guards.ts';
import { lockTime } from './decide/locks.ts';
import type { Step } from './decide/step.ts';
import { withdrawn } from './decide/undo-transitions.ts';
import { type Due, dueOf } from './due.ts';
import { isAccountedFor, mayLandUntil, type OwnWrites } from './in-flight/in-flight.ts';
import type { Memory } from './memory.ts';
import { isUnderWay } from './model/phase.ts';
import type { Pace, Status } from './model/status.ts';
import type { Carry } from './observe/carry.ts';
import { turnToCompare } from './observe/comparing.ts';
import { encodedFor } from './observe/encoding.ts';
import { type LiveRead, type NotLive, readTransaction, readWithLeases } from './observe/live.ts';
import { itemOf, type LockView, type Observation, type Observed, type Presence } from './observe/observation.ts';
import { observe } from './observe/observe.ts';
import { createPrefetch, type Prefetch } from './observe/prefetch.ts';
import { readLive } from './observe/read.ts';
import { readOrder } from './observe/snapshot.ts';
import type { Sources } from './observe/sources.ts';
import type { Result } from './outcome/answer.ts';
import { heldByTrial, trialBefore } from './outcome/forgotten.ts';
import { recovered } from './outcome/recovered.ts';
import { denied } from './outcome/refused.ts';
import { resultOf } from './outcome/result.ts';
import { performChecked } from './perform/invariants.ts';
import { plan } from './plan/plan.ts';
import { writeContextOf } from './plan/write-context.ts';
import type { CallReader } from './reading/pipeline.ts';
import type { Answered } from './report/report.ts';
import { withRollback } from './undo/rollback.ts';
import { withSurvey } from './undo/survey.ts';

/** What serves one call: the parts of the engine, and what this process and this call know. */
export interface CallContext extends CallReader {
  readonly parts: EngineParts;
  /** The name of this process in Leases. */
  readonly server: string;
  /** The name of this call as a writer. */
  readonly writer: string;
  readonly memory: Memory;
  readonly sources: Sources;
  /** The Transaction is gone: the process forgets what it knows of it. */
  forget(): void;
}

/** The Transaction as read, and the time from which this read counts. */
interface TimedRead extends LiveRead {
  /** A target that the engine read before the Transaction. */
  readonly target: { readonly index: number; readonly presence: Presence } | undefined;
  /** Monotonic ms just before the read. */
  readonly readAt: number;
  /** Monotonic ms at the server time `now`. */
  readonly nowAt: number;
  readonly ahead: Prefetch;
}

/** The input of an attempt: the Transaction as read, and this call's pending status if no process has stored another since. */
export interface Basis extends TimedRead {
  /** The status that the reply will store; absent until this call has completed a first target. */
  readonly pending?: Status;
  /** The kind of the last completed step of this call. */
  readonly after?: Due['kind'];
  /** Whether another engine stored a status while this call was writing. */
  readonly isOvertaken: boolean;
  /** The Lease of the first change, in phases in which changes may be made or undone. */
  readonly first: JsonObject | undefined;
}

/** What an attempt found and did. */
export interface Attempt extends Answered {
  /** The status that was found stored. */
  readonly stored: Status;
  /** The status with which the attempt began: stored, or pending. */
  readonly status: Status;
  readonly result: Result;
  /** The Leases that the attempt has read. */
  readonly leases: readonly JsonObject[];
  /** The Lease of the first change, in phases in which changes may be made or undone, or were about to be. */
  readonly first: JsonObject | undefined;
  /** The locks as the attempt read them, by the names of their Leases. */
  readonly locks?: LockView;
}

export type Answer = Extract<Result, { kind: 'answer' }>;

/** What the attempts of a call have done so far. */
export interface Progress {
  /** Monotonic ms at the start of the call. */
  readonly began: number;
  /** Attempts for this target, the next one included. */
  readonly attempts: number;
  /** The writes so far. */
  readonly outcome: Outcome;
  readonly carry: Carry;
  /** The read to use again while it is recent. */
  readonly recent?: TimedRead;
  /** The last read. */
  readonly last?: TimedRead;
  /** The last target that ended well, and its answer with the pending status. */
  readonly ended?: { readonly attempt: Attempt; readonly answer: Answer };
}

/** In ms: a request may be sent until the deadline of the call, and the API server works on it until its timeout. */
export function lateWindowOf({ stepDeadline, writeTimeout }: Timing): number {
  return stepDeadline + writeTimeout;
}

function paceOf({ callBudget = 0 }: Timing): Pace {
  return callBudget > 0 ? 'all' : 'one';
}

/** ms to wait before each retry of a Transaction that cannot be read. After the last retry, the next call tries again. */
const readPauses: readonly number[] = [200, 400, 800];

/** The recent read, with the time moved on, or a new read. */
export async function readAgain(context: CallContext, call: Call, progress: Progress): Promise<Basis | NotLive> {
  const { clock, timing } = context.parts;
  const recent = progress.recent;
  const nowAt = clock.monotonic();
  if (recent !== undefined && nowAt < recent.readAt + (timing.readAge ?? 0))
    return basisOf({ ...recent, target: undefined, now: recent.now + (nowAt - recent.nowAt), nowAt }, progress);
  const target = await readEarly(context.session.cluster, progress);
  const readAt = clock.monotonic();
  const live = await readPatiently(context, call);
  if (live.kind !== 'live') return live;
  context.learn(live.transaction);
  return basisOf({ ...live, target, readAt, nowAt: readAt, ahead: createPrefetch() }, progress);
}

// The pending status continues the stored status from which this call started, and no other.
async function basisOf(seen: TimedRead, { ended }: Progress): Promise<Basis> {
  const isOvertaken = ended !== undefined && seen.status.version !== ended.attempt.stored.version;
  const basis = { ...seen, isOvertaken, first: await firstLock(seen) };
  return ended === undefined || isOvertaken ? basis : { ...basis, pending: ended.answer.status, after: ended.attempt.due.kind };
}

/** Reads the target that the previous step needs. It is read before the Transaction is (W5, in-flight/in-flight.ts). */
async function readEarly(reader: Reader, { carry: { reads }, last }: Progress): Promise<TimedRead['target']> {
  if (reads === undefined || last === undefined) return undefined;
  return { index: reads.index, presence: await readLive(reader, last.transaction, reads) };
}

async function readPatiently(context: CallContext, call: Call, tries = 0): Promise<LiveRead | NotLive> {
  const { parts, session } = context;
  const live = await readWithLeases(session.cluster, call, parts.engineNamespace);
  const pause = readPauses[tries];
  if (live.kind !== 'unreadable' || pause === undefined || session.retryAfter() > 0) return live;
  await parts.clock.sleep(pause);
  return readPatiently(context, call, tries + 1);
}

async function firstLock({ status, ownLeases }: LiveRead): Promise<JsonObject | undefined> {
  if (!isUnderWay(status.phase)) return undefined;
  const own = await ownLeases();
  return own.kind === 'ok' ? firstLease(status, own.objects) : undefined;
}

/** The next step of the saga, taken. Throws whatever a stage throws: then `failedAttempt` is the attempt. */
export async function attempt(context: CallContext, basis: Basis, carry: Carry): Promise<Attempt> {
  const { session } = context;
  const { sealer, timing } = context.parts;
  const observation = await observeBasis(context, basis, carry);
  await turnToCompare(...statesOf(observation));
  const step = decide(observation);
  if (await movedMeanwhile(context, basis, step))
    return attemptOf(basis, observation, { step, carry, outcome: [], result: { kind: 'again', carry } });
  await turnFor(...statesOf(observation));
  const planned = plan(step, observation, { packer: sealer, encoded: await encodedFor(step, observation, sealer) });
  const trial = trialBefore(step, planned, observation);
  const held = trial && heldByTrial(trial, await session.cluster.dryRun(trial.write), observation);
  if (held !== undefined) return attemptOf(basis, observation, { step, carry, outcome: [], result: held });
  // Nothing is sent once the lock of the target is over, and nothing that was refused often enough is sent once more.
  const until = basis.nowAt + lockTime(step, observation) - timing.writeTimeout;
  const outcome =
    denied(planned, step, carry.refused) ??
    (planned.kind === 'refused'
      ? []
      : await performChecked(planned, session.writerUntil(until), writeContextOf(step, basis, context.parts)));
  await turnToCompare(...outcome.map(({ answer }) => (answer.kind === 'ok' ? answer.object : undefined)));
  const result = resultOf(step, { observation, plan: planned, outcome, carry, packer: sealer });
  return attemptOf(basis, observation, { step, carry, outcome, result });
}

/** The attempt that threw. A write may have been sent without a recorded answer. */
export function failedAttempt({ memory, parts }: CallContext, basis: Basis, thrown: unknown): Attempt {
  const { uid } = basis.transaction;
  memory.unsettled(uid, basis.now);
  const { waits } = memory.recall(uid);
  const order = memory.snapshots.get(uid)?.order;
  const found = { ...basis, status: basis.pending ?? basis.status, lateWindow: lateWindowOf(parts.timing), waits, order };
  return { ...recovered(thrown, found), status: found.status, leases: [], first: undefined, stored: basis.status };
}

/** The states of the target that the step is about: they may be large. */
function statesOf({ due }: Observation): readonly (JsonObject | undefined)[] {
  const view = itemOf(due);
  if (view === undefined) return [];
  const entry = view.snapshot.kind === 'stored' ? view.snapshot.entries[view.index] : undefined;
  return [view.live.kind === 'present' ? view.live.object : undefined, entry?.prior, entry?.expected];
}

/**
 * Whether the Transaction has changed while the engine observed a change for longer than a read counts. A user may have requested
 * to stop it. To list the dependents of a Delete among 500 kinds takes that long.
 */
async function movedMeanwhile({ parts, session }: CallContext, { transaction, readAt }: Basis, step: Step): Promise<boolean> {
  const { clock, timing } = parts;
  if (step.kind !== 'apply' || clock.monotonic() < readAt + (timing.readAge ?? Number.POSITIVE_INFINITY)) return false;
  const live = await readTransaction(session.cluster, transaction);
  return live.kind !== 'live' || live.transaction.resourceVersion !== transaction.resourceVersion;
}

/** The due step, with all facts that the decision needs. */
async function observeBasis(context: CallContext, basis: Basis, carry: Carry): Promise<Observation> {
  const { memory, session, callReads, sources, server, writer, parts } = context;
  const { engineNamespace, namespaces = [], timing } = parts;
  const { transaction, now, first, ownLeases, target, isOvertaken, after } = basis;
  // The process knows this before the reads. If the reads are refused, this is at least so much later than the first refusal.
  const { waits, refusedFor, ...ownWrites } = memory.recall(transaction.uid);
  const status = foundStatus(basis.pending ?? basis.status, first, ownWrites);
  const [lateWindow, pace] = [lateWindowOf(timing), paceOf(timing)];
  const source = { reader: context.reader(), packer: parts.sealer, cache: memory.snapshots, callReads };
  const { snapshot, order } =
    status.phase === 'RollingBack' ? await readOrder(source, transaction, status.rollbackRef) : unordered;
  const due = dueOf({ transaction, status, now, lateWindow, waits, order });
  const earlier = 'index' in due && due.index === target?.index ? target.presence : undefined;
  const until = mayLandUntil({ status, ownWrites, first }, lateWindow);
  // A write in flight may still change a target that was read ahead: such a read is not used.
  const ahead = until !== 'unobserved' && now > until && pace === 'all' ? basis.ahead : undefined;
  const reads = {
    ...{ source, transaction, status, now, engineNamespace, namespaces, carry, ownLeases, earlier, ahead, snapshot },
    ...{ expressions: parts.expressions, sources, clock: parts.clock, aside: parts.cluster },
    ...{ podTurns: memory.podTurns, polled: memory.polled },
  };
  const observing = await withRollback(reads, due);
  const observation = {
    ...{ now, transaction, status, due: await observe(observing, due), isOvertaken },
    ...{ ...(carry.touched === undefined ? {} : { touched: carry.touched }), ...(after === undefined ? {} : { after }) },
    ...{ engineNamespace, server, writer, ownWrites, waits, lateWindow, pace, refusedFor },
  };
  return { ...(await withSurvey(observing, observation)), barred: session.barred() };
}

/** W3 (in-flight/in-flight.ts): a change that is only announced was never sent, if all writes are accounted for. */
function foundStatus(status: Status, first: JsonObject | undefined, ownWrites: OwnWrites): Status {
  return status.phase === 'RollingBack' && isAccountedFor({ status, first, ownWrites }) ? withdrawn(status) : status;
}

const unordered = { snapshot: undefined, order: undefined };

interface Taken {
  readonly step: Step;
  readonly carry: Carry;
  readonly outcome: Outcome;
  readonly result: Result;
}

function attemptOf(basis: Basis, observation: Observation, { step, carry, outcome, result }: Taken): Attempt {
  const { transaction, due, now, status } = observation;
  const first = basis.first ?? firstAcquired(observation, carry, result);
  const answered = { transaction, now, due, step, outcome: aboutChange(due, outcome), before: status };
  const locks = due.kind === 'begin' ? { locks: due.locks } : {};
  return { ...answered, leases: leasesIn(due), stored: basis.status, first, result, status, ...locks };
}

// The Lease of the first change, as this call acquired it.
function firstAcquired({ due, status }: Observation, carry: Carry, result: Result): JsonObject | undefined {
  const { items } = result.kind === 'answer' ? result.status : status;
  const locks = due.kind === 'begin' ? due.locks.states : carry.locks;
  const lease = locks.get(items[0]?.lockLease ?? '');
  return lease?.kind === 'present' ? lease.object : undefined;
}

function leasesIn(due: Observed): readonly JsonObject[] {
  const leases = due.kind === 'await' ? due.leases : itemOf(due)?.leases;
  if (leases !== undefined) return leases;
  const states = 'locks' in due ? [...due.locks.states.values()] : [];
  return states.flatMap((state) => (state.kind === 'present' ? [state.object] : []));
}

/** The writes, each with its change. */
function aboutChange(due: Observed, outcome: Outcome): Outcome {
  return 'index' in due ? outcome.map((one) => ({ ...one, item: due.index })) : outcome;
}
