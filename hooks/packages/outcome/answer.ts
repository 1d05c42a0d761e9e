// The answer after the writes: the status that was decided, or the one before where a write failed.
import type { Failure } from '../../objects/failure.ts';
import type { PackageCall, PackageReply } from '../call.ts';
import type { Move, Note } from '../decide/move.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import { type Status, timeOf, writeStatus } from '../model/status.ts';
import { conditionsOf } from './conditions.ts';

const afterTrouble = 2;
const afterRefusal = 30;
/** In seconds: a webhook may wish for an hour, for which nobody else would come to the Lock. */
const longestWish = 60;

/** `failure`: of the write that did not take effect; those after it were not sent. */
export function answerOf(ptx: PackageTransaction, move: Move, failure: Failure | undefined, now: number): PackageReply {
  if (failure === undefined) return reply(ptx, { ...move, ...(move.note ? { note: move.note } : {}) }, now);
  if (failure.kind === 'refused' && move.refused !== undefined)
    return reply(ptx, { status: move.refused(failure), wait: 1 }, now);
  // Somebody was faster: look again.
  if (failure.kind === 'stale' || failure.kind === 'exists')
    return reply(ptx, { status: ptx.status, wait: 0.3, ...noteOf(move) }, now);
  return troubled(ptx, failure, now);
}

function noteOf({ note }: Move): { readonly note?: Note } {
  return note === undefined ? {} : { note };
}

/** A read or a write failed: nothing is decided, and it is tried again. */
export function troubled(ptx: PackageTransaction, { kind, message, retryAfterSeconds }: Failure, now: number): PackageReply {
  const wait = kind === 'refused' ? afterRefusal : Math.min(retryAfterSeconds ?? afterTrouble, longestWish);
  return reply(ptx, { status: ptx.status, wait, note: { reason: 'ReconcileError', message } }, now);
}

interface Answering {
  readonly status: Status;
  readonly wait: number;
  readonly finalized?: boolean;
  readonly note?: Note;
}

function reply(
  { generation, status: before }: PackageTransaction,
  { status, wait, finalized, note }: Answering,
  now: number,
): PackageReply {
  // Before the first status everything is new, its version too: otherwise none could be stored.
  const stored = status.version === 0 ? { ...status, version: 1 } : status;
  const conditions = conditionsOf({ ...stored, conditions: before.conditions }, note, generation, timeOf(now));
  return { status: writeStatus(stored, conditions), resyncAfterSeconds: wait, finalized: finalized === true };
}

/** The status stays as it is in the call. */
export function echo({ status }: PackageCall, resyncAfterSeconds: number): PackageReply {
  return { status, resyncAfterSeconds, finalized: false };
}

/** The object is not there any more. */
export function gone({ status }: PackageCall): PackageReply {
  return { status, resyncAfterSeconds: 0, finalized: true };
}
