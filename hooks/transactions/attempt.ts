// One attempt of a call: read, decide, plan, perform, and the result of the step. The engine reads the Transaction with its Leases,
// and retries for a moment if it cannot. Then it finds the step that is due, and makes the reads that this step needs. What the
// engine has read counts for a moment (`timing.readAge`).

import type { Reader } from '../objects/cluster.ts';
import type { JsonObject } from '../objects/json.ts';
import type { Outcome } from '../objects/mutation.ts';
import type { Call, EngineParts, Timing } from './call.ts';
import { firstLease } from './decide/guards.ts';
import type { Due } from './due.ts';
import type { Memory } from './memory.ts';
import { isUnderWay } from './model/phase.ts';
import type { Status } from './model/status.ts';
import type { Carry } from './observe/carry.ts';
import { type LiveRead, type NotLive, readWithLeases } from './observe/live.ts';
import type { LockView, Presence } from './observe/observation.ts';
import { createPrefetch, type Prefetch } from './observe/prefetch.ts';
import { readLive } from './observe/read.ts';
import type { Sources } from './observe/sources.ts';
import type { Result } from './outcome/answer.ts';
import { recovered } from './outcome/recovered.ts';
import type { CallReader } from './reading/pipeline.ts';
import type { Answered } from './report/report.ts';

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

/** The attempt that threw. A write may have been sent without a recorded answer. */
export function failedAttempt({ memory, parts }: CallContext, basis: Basis, thrown: unknown): Attempt {
  const { uid } = basis.transaction;
  memory.unsettled(uid, basis.now);
  const { waits } = memory.recall(uid);
  const order = memory.snapshots.get(uid)?.order;
  const found = { ...basis, status: basis.pending ?? basis.status, lateWindow: lateWindowOf(parts.timing), waits, order };
  return { ...recovered(thrown, found), status: found.status, leases: [], first: undefined, stored: basis.status };
}
