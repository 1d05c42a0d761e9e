// The step that is due for a stored Transaction: a list of guards, then one answer for each phase. The answer names the reads that
// the step needs. decide/ judges the results of these reads.
//
// I9. Every Transaction ends: each phase has its deadline, and what is terminal causes no further write.
// I10. A terminal or deleted Transaction holds no Lease, and no other Transaction waits for it.

import { believedTime, formatDuration, serverTimeResolution } from '../objects/time.ts';
import { nextToDisown } from './model/entries.ts';
import { type OpenGates, openGates } from './model/gated.ts';
import { mayBeHalfMade } from './model/halves.ts';
import { type Item, isNotRestored, nextToUndo, type UndoOrder } from './model/item.ts';
import type { Phase } from './model/phase.ts';
import type { Cause, Status } from './model/status.ts';
import { annotationOf, annotations, type Transaction } from './model/transaction.ts';
import { newRequest, type Request } from './model/undo.ts';

export type { Request };

/** Why a running Transaction ends before all is applied, and the request that it answers. */
export interface Ending extends Cause {
  readonly request?: Request;
}

export type Due =
  | { readonly kind: 'begin' }
  /** What a rollback undoes is to be found. */
  | { readonly kind: 'compose'; readonly request?: Request }
  | { readonly kind: 'prepare' }
  | { readonly kind: 'apply'; readonly index: number }
  /** Gates are open: the engine reads their objects. */
  | ({ readonly kind: 'await' } & OpenGates)
  | { readonly kind: 'restore'; readonly index: number }
  /** Nothing was applied: ends as Failed. */
  | { readonly kind: 'fail'; readonly cause: Ending }
  /** `gates`: the gates that were open when the time was over. */
  | { readonly kind: 'rollBack'; readonly cause: Ending; readonly gates?: OpenGates }
  /** Take the locks again for an undo that a user asks for. */
  | { readonly kind: 'reacquire'; readonly request: Request }
  /** A user asks what an undo would do. */
  | { readonly kind: 'planUndo'; readonly request: Request }
  /** A request that does not apply: it is noted and answered. */
  | { readonly kind: 'ignore'; readonly request: Request; readonly message: string }
  /** No change is left to undo, or no time is left. */
  | { readonly kind: 'conclude'; readonly overdue: boolean }
  | { readonly kind: 'release' }
  | { readonly kind: 'releaseFields'; readonly index: number }
  | { readonly kind: 'cleanUp' }
  /** The time that a finished Transaction is kept is over. */
  | { readonly kind: 'expire' }
  /** Nothing, or nothing for so many seconds; 0 for ever. */
  | { readonly kind: 'rest'; readonly seconds: number };

export interface Stored {
  readonly transaction: Transaction;
  readonly status: Status;
  readonly now: number;
  /** How long after the undo began a write in flight may still take effect, in ms. */
  readonly lateWindow: number;
  /** How many calls in a row have only waited: where several changes wait, each has its turn. */
  readonly waits: number;
  /** The order from the snapshot; absent if it is not known. */
  readonly order?: UndoOrder | undefined;
}

export function dueOf(stored: Stored): Due {
  return (stored.transaction.isBeingDeleted ? deletion(stored) : undefined) ?? byPhase[stored.status.phase](stored);
}

const byPhase: Readonly<Record<Phase, (stored: Stored) => Due>> = {
  Pending: (stored) => stopped(stored) ?? composed(stored) ?? { kind: 'begin' },
  Preparing: (stored) => stopped(stored) ?? { kind: 'prepare' },
  Prepared: running,
  Committing: running,
  RollingBack: undoing,
  Committed: committed,
  RolledBack: rolledBack,
  Failed: failed,
};

// By default, the engine stops and leaves the applied changes. A rollback always finishes. The engine also undoes a change that may
// be half recreated, because the Transaction holds the only copy of its object.
function deletion({ transaction, status }: Stored): Due | undefined {
  const isApplying = status.phase === 'Prepared' || status.phase === 'Committing';
  if (status.phase === 'RollingBack') return undefined;
  const isHalfMade = status.items.some((item, index) => mayBeHalfMade(item, transaction.changes[index]));
  if (isApplying && (isHalfMade || annotationOf(transaction, annotations.automaticRollback) === 'true')) {
    return { kind: 'rollBack', cause: { reason: 'Deleted', message: 'the Transaction was deleted while it was running' } };
  }
  const owned = nextToDisown(transaction, status);
  return owned >= 0 ? { kind: 'releaseFields', index: owned } : { kind: 'cleanUp' };
}

function stopped(stored: Stored): Due | undefined {
  const request = pending(stored, annotations.requestRollback);
  if (request !== undefined) {
    return {
      kind: 'fail',
      cause: { reason: 'RollbackRequested', message: 'stopped on request before anything was applied', request },
    };
  }
  if (overdue(stored)) return { kind: 'fail', cause: timeoutCause(stored) };
  // The engine makes the checks once: no content that they did not see may follow them.
  return stored.status.specDigest !== undefined && isAltered(stored) ? { kind: 'fail', cause: specChanged } : undefined;
}

/** s between two calls of a rollback whose plan was asked for: it ends by its timeout. */
const plannedFor = 60;

// A rollback with a request for a plan goes no further than its plan, also if the annotation is removed later.
function composed(stored: Stored): Due | undefined {
  const { transaction, status } = stored;
  if (transaction.rollback === undefined) return undefined;
  const isComposed = status.rollback !== undefined;
  const isPlan = isComposed
    ? annotations.planUndo in status.handledAnnotations
    : annotationOf(transaction, annotations.planUndo) !== undefined;
  const request = isPlan ? pending(stored, annotations.planUndo) : undefined;
  if (request !== undefined) return { kind: 'compose', request };
  if (isPlan) return { kind: 'rest', seconds: plannedFor };
  return isComposed ? undefined : { kind: 'compose' };
}

const specChanged: Ending = { reason: 'SpecChanged', message: 'the spec changed after it was checked' };

function isAltered({ status, transaction }: Stored): boolean {
  return status.specDigest !== transaction.specDigest;
}

function running(stored: Stored): Due {
  const request = pending(stored, annotations.requestRollback);
  if (request !== undefined)
    return { kind: 'rollBack', cause: { reason: 'RollbackRequested', message: 'a rollback was requested', request } };
  const gates = openGates(stored.transaction, stored.status.items);
  if (overdue(stored)) return { kind: 'rollBack', cause: timeoutCause(stored), ...(gates === undefined ? {} : { gates }) };
  if (isAltered(stored)) return { kind: 'rollBack', cause: specChanged };
  if (gates !== undefined) return { kind: 'await', ...gates };
  const index = stored.status.items.findIndex(({ progress }) => progress.kind === 'announced');
  return index < 0
    ? { kind: 'rollBack', cause: { reason: 'Inconsistent', message: 'the status announces no next change' } }
    : { kind: 'apply', index };
}

function undoing({ transaction, status, now, lateWindow, waits, order }: Stored): Due {
  const index = nextToUndo(status.items, waits, order);
  // Waiting a late write out is no time of the undo: a short spec.timeout must not end it before it could begin.
  const mayWait =
    status.items.some(wasInFlight) ||
    transaction.changes.some(({ type, restore }) => type === 'Create' || restore?.way === 'Create');
  const patience = transaction.timeout + (mayWait ? lateWindow + serverTimeResolution : 0);
  const began = Math.max(status.rollbackStartedAt ?? now, status.rollbackObservedAt ?? 0);
  const isOverdue = now > believedTime(began, transaction.createdAt, now) + patience;
  return index < 0 || isOverdue ? { kind: 'conclude', overdue: index >= 0 } : { kind: 'restore', index };
}

/** Announced when the undo began, and not known as applied. */
function wasInFlight({ progress }: Item): boolean {
  return progress.kind === 'announced' || ('applied' in progress && !progress.applied);
}

function committed(stored: Stored): Due {
  const request = pending(stored, annotations.requestRollback);
  if (request !== undefined) return undoOnRequest(stored, request);
  return planned(stored) ?? ignored(stored, annotations.retryRollback, 'there is no failed rollback to retry') ?? ended(stored);
}

function rolledBack(stored: Stored): Due {
  const why = 'everything is already rolled back';
  return (
    ignored(stored, annotations.requestRollback, why) ??
    ignored(stored, annotations.retryRollback, why) ??
    ignored(stored, annotations.planUndo, why) ??
    ended(stored)
  );
}

function failed(stored: Stored): Due {
  const request = pending(stored, annotations.retryRollback);
  const isLeft = stored.status.items.some(isNotRestored);
  if (request !== undefined && isLeft) return undoOnRequest(stored, request);
  return (
    (isLeft ? planned(stored) : ignored(stored, annotations.planUndo, 'there is nothing to undo')) ??
    ignored(stored, annotations.retryRollback, 'there is nothing to undo') ??
    ignored(
      stored,
      annotations.requestRollback,
      `the Transaction has already finished; to retry a failed rollback set ${annotations.retryRollback}`,
    ) ??
    ended(stored)
  );
}

/** s between two tries of a requested undo that has given its locks back. */
export const returnedFor = 10;

function undoOnRequest({ status: { locksReturnedAt }, now }: Stored, request: Request): Due {
  const waited = locksReturnedAt === undefined ? returnedFor : (now - locksReturnedAt) / 1_000;
  return waited >= 0 && waited < returnedFor ? { kind: 'rest', seconds: returnedFor - waited } : { kind: 'reacquire', request };
}

function planned(stored: Stored): Due | undefined {
  const request = pending(stored, annotations.planUndo);
  return request === undefined ? undefined : { kind: 'planUndo', request };
}

function ignored(stored: Stored, annotation: string, message: string): Due | undefined {
  const request = pending(stored, annotation);
  return request === undefined
    ? undefined
    : { kind: 'ignore', request, message: `${annotation}="${request.value}" has no effect: ${message}` };
}

function ended(stored: Stored): Due {
  // A terminal Transaction holds no Lease (I10).
  if (holdsLocks(stored.status)) return { kind: 'release' };
  const left = timeToLive(stored);
  return left === undefined || left > 0 ? { kind: 'rest', seconds: left ?? 0 } : { kind: 'expire' };
}

/** Seconds until the engine deletes a finished Transaction. Undefined if it holds the only copy of a state that is not restored. */
function timeToLive({ transaction, status, now }: Stored): number | undefined {
  const { ttlSecondsAfterFinished } = transaction;
  if (ttlSecondsAfterFinished === undefined || status.completionTime === undefined || status.items.some(isNotRestored))
    return undefined;
  return (status.completionTime - now) / 1000 + ttlSecondsAfterFinished;
}

export function holdsLocks({ items }: Status): boolean {
  return items.some(({ lockLease }) => lockLease !== undefined);
}

/** A value of an annotation takes effect once; what has taken effect is in the status. */
function pending({ transaction, status }: Stored, annotation: string): Request | undefined {
  return newRequest(annotation, annotationOf(transaction, annotation), status.handledAnnotations[annotation]);
}

/** Whether spec.timeout is over (I9). */
function overdue({ transaction, status, now }: Stored): boolean {
  return status.startTime !== undefined && now > believedTime(status.startTime, transaction.createdAt, now) + transaction.timeout;
}

function timeoutCause({ transaction, status: { message } }: Stored): Ending {
  const last = message === '' ? '' : `; the last message was: ${message}`;
  return { reason: 'Timeout', message: `not finished within spec.timeout (${formatDuration(transaction.timeout)})${last}` };
}
