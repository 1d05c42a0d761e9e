// The end of a call: the status to store, what the process knows of its own requests, and when the next call comes.

import type { JsonObject } from '../objects/json.ts';
import type { Call, EngineParts, Reply } from './call.ts';
import { holdsLocks } from './due.ts';
import { accountFor } from './in-flight/in-flight.ts';
import type { OwnWrites } from './in-flight/own-writes.ts';
import { releaseWrite, writerOf } from './locks/lease.ts';
import { halfLifeLeft } from './locks/state.ts';
import type { Memory, Turn } from './memory.ts';
import { isTerminal, isUnderWay } from './model/phase.ts';
import { encodeStatus, type Status } from './model/status.ts';
import type { Wait } from './model/wait.ts';
import type { Carry } from './observe/carry.ts';
import type { NotLive } from './observe/live.ts';
import type { Result } from './outcome/answer.ts';
import { bounded } from './outcome/bounded.ts';
import { completed, isMoved } from './outcome/status.ts';
import type { Session } from './perform/deadline.ts';
import type { Looks } from './reading/looks.ts';
import { type Answered, reportOf } from './report/report.ts';

/** In seconds: a longer Retry-After of the API server is cut to this. */
const longestStay = 60;

/**
 * In seconds: as long where locks may be held that cannot be read. They are to be renewed at half of their duration, and the shortest that
 * a spec may have is 30 s (schemas/spec-values.ts).
 */
const longestBlindStay = 15;

interface Replying {
  readonly parts: Pick<EngineParts, 'record' | 'engineNamespace'>;
  readonly memory: Memory;
  readonly session: Session;
  readonly looks: Pick<Looks, 'unfinished'>;
}

/** The last look of a call, and its result. */
export interface Ended extends Answered {
  /** The status that was found stored. */
  readonly found: Status;
  /** The Leases that this step has read. */
  readonly leases: readonly JsonObject[];
  /** The Lease of the first change, in phases in which changes may be made or undone, or were about to be. */
  readonly first: JsonObject | undefined;
}

export type Answering = Extract<Result, { kind: 'answer' }>;

/** The reply with the status of the answer. Reports it, and records what this process must remember. */
export function replyOf({ parts, memory, session, looks }: Replying, call: Call, ended: Ended, answer: Answering): Reply {
  const { transaction, now, found } = ended;
  const { uid } = transaction;
  const next = spokenFor(memory, ended, bounded(answer.status, transaction.size));
  const status = completed(found, next, now, { ...transaction, order: memory.snapshots.get(uid)?.order });
  const isTroubled = answer.wait === 'backoff';
  const stayAway = 1_000 * Math.min(session.retryAfter(), longestStay, longestPauseUnder(ended));
  const isRefused = answer.wait === 'refusal';
  const isWaiting = (isRefused || answer.wait === 'now' || typeof answer.wait === 'object') && status.version === found.version;
  const lists = looks.unfinished();
  memory.unfinished.keep(uid, lists);
  const isLooking = lists.size > 0;
  const pause = memory.remember(uid, { isTroubled, isLooking, isWaiting, isRefused, stayAway });
  memory.keepTurn(uid, nextTurn(ended, status, memory.recall(uid)));
  if (answer.finalized) memory.forget(uid);
  if (isTerminal(status.phase)) memory.snapshots.delete(uid);
  parts.record(reportOf(ended, status));
  return {
    kind: 'status',
    status: encodeStatus(status),
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
export function pauseAfterTrouble({ memory, session }: Omit<Replying, 'parts'>, uid: string): number {
  const stayAway = 1_000 * Math.min(session.retryAfter(), longestBlindStay);
  return memory.remember(uid, { isTroubled: true, isWaiting: false, stayAway });
}

/** The reply if there is no Transaction to work on: it is gone, unreadable, or has a status of no known engine. */
export async function withoutTransaction(serving: Replying, call: Call, live: NotLive, carry: Carry): Promise<Reply> {
  const { status, children } = call;
  const untouched = { kind: 'status', status, children, resyncAfterSeconds: 0, finalized: false } as const;
  switch (live.kind) {
    case 'unreadable':
      return { kind: 'retry', retryAfterSeconds: pauseAfterTrouble(serving, call.uid), because: live.because };
    case 'foreign':
      // No engine can continue it, but a user must be able to delete it; garbage collection removes what it leaves behind.
      return { ...untouched, status: live.status, finalized: live.isBeingDeleted };
    case 'gone':
      serving.memory.forget(call.uid);
      await releaseAcquired(serving, carry);
      return untouched;
  }
}

// Releases the locks that this call has acquired for a Transaction that vanished meanwhile (L4).
async function releaseAcquired({ session, parts }: Replying, { locks, acquired }: Carry): Promise<void> {
  const held = [...locks].flatMap(([name, state]) => (state.kind === 'present' && acquired.has(name) ? [state.object] : []));
  const writes = held.map((lease) => releaseWrite(lease, parts.engineNamespace)).filter((write) => write !== undefined);
  await Promise.all(writes.map((write) => session.cluster.send(write)));
}

// W1 (in-flight/in-flight.ts): a process that calls itself settled needs a new name for its next turn. An unchanged status says
// nothing.
function spokenFor(memory: Memory, { transaction: { uid }, found, first }: Ended, next: Status): Status {
  if (!isUnderWay(found.phase) || !isMoved(found, next)) return next;
  const accounted = accountFor(next, first, memory.recall(uid));
  if (accounted.settledWriter !== found.settledWriter) memory.settled(uid);
  return accounted;
}

/** Seconds that a call may wait without renewing its locks: they are renewed at half of their duration. */
function longestPauseUnder({ leases, now, found }: Ended): number {
  if (leases.length === 0 && holdsLocks(found)) return longestBlindStay;
  const left = leases.map((lease) => halfLifeLeft(lease, now) / 1_000);
  return Math.max(1, Math.min(longestStay, ...left));
}

// Without a look a process replaces only itself, or a settled writer. A call that only waits takes no turn.
function nextTurn({ found, first }: Ended, status: Status, { writer }: OwnWrites): Turn {
  const { phase, settledWriter, version } = status;
  const mayReplace = first === undefined || [settledWriter, writer].includes(writerOf(first) ?? 'nobody');
  // While a gate is open nothing is sent.
  const isToWrite = status.items.some(({ progress }) => progress.kind === 'announced');
  const isNext = version !== found.version && (phase === 'Prepared' || phase === 'Committing') && mayReplace && isToWrite;
  return { isNext, ...(first === undefined ? {} : { lease: first }) };
}
