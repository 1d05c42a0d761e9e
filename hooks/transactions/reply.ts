// The end of a call: the status to store, what the process knows of its own requests, and when the next call comes.

import { at, isObject, type JsonObject, textAt } from '../objects/json.ts';
import { parseTime } from '../objects/time.ts';
import type { Answer, Attempt, CallContext } from './attempt.ts';
import type { Call, Reply, StepReport } from './call.ts';
import { holdsLocks } from './due.ts';
import { accountFor, type OwnWrites } from './in-flight/in-flight.ts';
import { releaseWrite, writerOf } from './locks/lease.ts';
import { halfLifeLeft } from './locks/state.ts';
import type { Memory, NextFence } from './memory.ts';
import { isPhase, isTerminal, isUnderWay } from './model/phase.ts';
import type { Status } from './model/status.ts';
import type { Wait } from './model/wait.ts';
import type { Carry } from './observe/carry.ts';
import type { NotLive } from './observe/live.ts';
import { storable } from './outcome/bare.ts';
import { completed, isMoved } from './outcome/status.ts';
import { truncated } from './outcome/truncated.ts';
import { reportOf } from './report/report.ts';
import { engine, transactions } from './writes/resources.ts';

/** In seconds: a longer Retry-After of the API server is cut to this. */
const longestStaySeconds = 60;

/**
 * In seconds: as long where locks may be held that cannot be read. They are to be renewed at half of their duration, and the shortest that
 * a spec may have is 30 s (schemas/spec-values.ts).
 */
const longestBlindStaySeconds = 15;

const because = 'internal error of the engine';

/** The reply with the status of the answer. Reports it, and records what this process must remember. */
export function replyOf(context: CallContext, call: Call, made: Attempt, answer: Answer): Reply {
  const { parts, memory, session } = context;
  const { transaction, now, stored } = made;
  const { uid } = transaction;
  const next = spokenFor(memory, made, truncated(answer.status, transaction.size));
  const status = completed(stored, next, now, { ...transaction, order: memory.snapshots.get(uid)?.order });
  const isTroubled = answer.wait === 'backoff';
  const stayAway = 1_000 * Math.min(session.retryAfter(), longestStaySeconds, longestPauseUnder(made));
  const isRefused = answer.wait === 'refusal' || (typeof answer.wait === 'object' && answer.wait.isRefusal === true);
  const isWaiting = (isRefused || answer.wait === 'now' || typeof answer.wait === 'object') && status.version === stored.version;
  const isLooking = context.keepLists();
  const pause = memory.remember(uid, { isTroubled, isLooking, isWaiting, isRefused, stayAway });
  memory.rememberFence(uid, nextFenceOf(made, status, memory.recall(uid)));
  if (answer.finalized) context.forget();
  if (isTerminal(status.phase)) memory.snapshots.delete(uid);
  parts.record(reportOf(made, status));
  return {
    kind: 'status',
    status: storable(status, transaction.size),
    children: call.children,
    resyncAfterSeconds: secondsOf(answer.wait, pause),
    finalized: answer.finalized,
  };
}

/** In seconds. Metacontroller makes no further call for 0, and calls at once for any fraction. */
function secondsOf(wait: Wait, backoff: number): number {
  switch (wait) {
    case 'none':
      return 0;
    case 'now':
      return 0.001;
    case 'backoff':
      return backoff;
    case 'refusal':
      return afterRefusal;
    default:
      return wait.seconds;
  }
}

/** In seconds: after a moment longer than what makes a second refusal final. */
const afterRefusal = 1;

/** Seconds until the next try, if not even the Transaction could be read. */
function pauseAfterTrouble({ memory, session }: CallContext, uid: string): number {
  const stayAway = 1_000 * Math.min(session.retryAfter(), longestBlindStaySeconds);
  return memory.remember(uid, { isTroubled: true, isWaiting: false, stayAway });
}

/** The reply if there is no Transaction to work on: it is gone, unreadable, or has a status of no known engine. */
export async function withoutTransaction(context: CallContext, call: Call, live: NotLive, carry: Carry): Promise<Reply> {
  const { status, children } = call;
  const untouched = { kind: 'status', status, children, resyncAfterSeconds: 0, finalized: false } as const;
  switch (live.kind) {
    case 'unreadable':
      return { kind: 'retry', retryAfterSeconds: pauseAfterTrouble(context, call.uid), because: live.because };
    case 'foreign':
      context.parts.record(unknownStatusReport(call, live));
      // No engine can continue it, but a user must be able to delete it; garbage collection removes what it leaves behind.
      return { ...untouched, status: live.status, finalized: live.isBeingDeleted };
    case 'gone':
      context.forget();
      await releaseAcquired(context, carry);
      return untouched;
  }
}

// Releases the locks that this call has acquired for a Transaction that vanished meanwhile (L4).
async function releaseAcquired({ session, parts }: CallContext, { locks, acquired }: Carry): Promise<void> {
  const held = [...locks].flatMap(([name, state]) => (state.kind === 'present' && acquired.has(name) ? [state.object] : []));
  const writes = held.map((lease) => releaseWrite(lease, parts.engineNamespace)).filter((write) => write !== undefined);
  await Promise.all(writes.map((write) => session.cluster.send(write)));
}

// W1 (in-flight/in-flight.ts): a process that calls itself settled needs a new name for its next turn. An unchanged status says
// nothing.
function spokenFor(memory: Memory, { transaction: { uid }, stored, first }: Attempt, next: Status): Status {
  if (!isUnderWay(stored.phase) || !isMoved(stored, next)) return next;
  const accounted = accountFor(next, first, memory.recall(uid));
  if (accounted.settledWriter !== stored.settledWriter) memory.settled(uid);
  return accounted;
}

/** Seconds that a call may wait without renewing its locks: they are renewed at half of their duration. */
function longestPauseUnder({ leases, now, stored }: Attempt): number {
  if (leases.length === 0 && holdsLocks(stored)) return longestBlindStaySeconds;
  const left = leases.map((lease) => halfLifeLeft(lease, now) / 1_000);
  return Math.max(1, Math.min(longestStaySeconds, ...left));
}

// If a process has not read the Transaction, it replaces only itself, or a settled writer. A call that only waits takes no turn.
function nextFenceOf({ stored, first }: Attempt, status: Status, { writer }: OwnWrites): NextFence {
  const { phase, settledWriter, version } = status;
  const signed = first === undefined ? undefined : writerOf(first);
  const mayReplace = first === undefined || (signed !== undefined && [settledWriter, writer].includes(signed));
  // While a gate is open nothing is sent.
  const isToWrite = status.items.some(({ progress }) => progress.kind === 'announced');
  const isNext = version !== stored.version && (phase === 'Prepared' || phase === 'Committing') && mayReplace && isToWrite;
  return { isNext, ...(first === undefined ? {} : { lease: first }) };
}

/** ms for which the undo of a deleted Transaction is retried: only that undo can restore deleted objects. */
const undoPatienceMs = 60_000;

/**
 * The last resort: the reply to an error that not even a failed attempt answered. It depends on nothing that failed: it uses the live
 * Transaction, of which it reads only whether it is being deleted.
 */
export async function recoveredReply(context: CallContext, call: Call, thrown: unknown): Promise<Reply> {
  const { session, parts, memory } = context;
  const { namespace, name, uid, children } = call;
  const found = await session.cluster.get({ resource: transactions, namespace, name }, engine);
  const retry = (): Reply => ({ kind: 'retry', retryAfterSeconds: pauseAfterTrouble(context, uid), because });
  if (found.kind === 'failed' || textAt(found.object, 'metadata', 'uid') !== uid) return retry();
  // A write may have been sent without a recorded answer.
  memory.unsettled(uid, found.serverTime);
  parts.record(faultReport(call, found, thrown));
  if (!isToLetGo(found.object, found.serverTime)) return retry();
  context.forget();
  const status = at(found.object, 'status');
  return { kind: 'status', status: isObject(status) ? status : {}, children, resyncAfterSeconds: 0, finalized: true };
}

// A user must be able to delete it; garbage collection removes what it leaves behind.
function isToLetGo(object: JsonObject, now: number): boolean {
  const deletedAt = parseTime(textAt(object, 'metadata', 'deletionTimestamp'));
  if (deletedAt === undefined) return false;
  return textAt(object, 'status', 'phase') !== 'RollingBack' || now > deletedAt + undoPatienceMs;
}

function faultReport(
  call: Call,
  { object, serverTime }: { readonly object: JsonObject; readonly serverTime: number },
  thrown: unknown,
): StepReport {
  return { ...bareReport(call, object, serverTime), step: 'wait', because, outcome: 'EngineFault', thrown };
}

// Another version of the engine wrote the status: after a downgrade, its Transactions would stop without a word.
function unknownStatusReport(call: Call, { status, now }: Extract<NotLive, { kind: 'foreign' }>): StepReport {
  const message =
    'this engine does not write such a status, and leaves it alone: run the engine that wrote it, or delete the Transaction';
  const events = [{ type: 'Warning', reason: 'UnknownStatus', message }] as const;
  return { ...bareReport(call, { status }, now), step: 'rest', because: message, outcome: 'UnknownStatus', events };
}

/** The report of a call that took no step. `at`: ms since the epoch, by the API server's clock. */
function bareReport({ namespace, name, uid }: Call, object: JsonObject, at: number) {
  const said = textAt(object, 'status', 'phase') ?? '';
  const phase = isPhase(said) ? said : 'Pending';
  const stored = { fromPhase: phase, toPhase: phase, items: [], gates: [], conflicts: [] };
  const moved = { fromPhase: phase, toPhase: phase, foundVersion: 0, version: 0, stored };
  return { namespace, name, uid, at, ...moved, locks: [], audit: [], events: [] } as const;
}
