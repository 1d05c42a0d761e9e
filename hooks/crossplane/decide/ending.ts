// After a try, the hook releases the Lock. Then the package transaction ends, or another try follows. The hook deletes leftovers
// later.
//
// The hook deletes a stage no earlier than one late window after the stage was created. A create names no version, so a late create
// can take effect whenever the name is free. Its answer may have been lost, or its process may have stopped before it sent the
// create. The engine would then make that stage again. While a stage exists, such a create gets 409, whichever process sends it. So
// any number of processes may create one stage, and no process waits for another. The late window is enough, because a process that
// creates a stage has found none in that call. That call began before the stage was created, and sends nothing after the window. A
// process can stop for longer between its read of the clock and the request. So stages usually stay for `keptFor`. Contents may
// come late: no process reads them without a stage. The hook deletes them with the package transaction, or as contents of a package
// transaction that is gone.
import type { PackageTransaction } from '../model/package-transaction.ts';
import { advanced, type Status, timeOf } from '../model/status.ts';
import { createdAt, isOlder, keptFor, type ObservedTo } from '../observe/observation.ts';
import { type Step, setStatus } from './step.ts';
import { finished, handOver, pauseAfter, releasing } from './transitions.ts';

export function release({ ptx, now, lock, paused = [], unrecorded = [] }: ObservedTo<'release'>): Step {
  const { status } = ptx;
  // The Lock is written: nothing is undone any more, and no other package transaction waits for a revision.
  if (paused.length > 0 && status.handOverFault === undefined) return handOver(paused, status);
  if (!isTriedAgain(ptx)) {
    const end = { because: 'the Lock is released', status: finished(status, status.outcome, now), wait: 1 };
    return releasing(ptx, lock, end, unrecorded);
  }
  const wait = Math.max(pauseAfter(status.failures), wishOf(status));
  const next = advanced(status, { phase: 'Waiting', retryTime: timeOf(now + wait * 1000), tryTime: undefined });
  return releasing(ptx, lock, { because: 'the Lock is released until the next try', status: next, wait });
}

/** The times of the API server are in whole seconds: the registry may have asked up to a second later. */
function wishOf({ outcome }: Status): number {
  const seconds = outcome?.retryAfterSeconds;
  return seconds === undefined ? 0 : Math.ceil(seconds) + 1;
}

/** The API server had refused to unpause a revision. */
export function handOverLate({ ptx: { status }, paused = [] }: ObservedTo<'handOver'>): Step {
  if (paused.length > 0) return handOver(paused, status);
  return setStatus(advanced(status, { handOverFault: undefined }), 'Crossplane has all revisions');
}

function isTriedAgain({ status, retryLimit, isDeleting, isDryRun }: PackageTransaction): boolean {
  const { outcome, failures } = status;
  const isLast = outcome?.isFinal === true || failures >= retryLimit || isDryRun;
  return outcome?.kind === 'Failed' && !isLast && !isDeleting;
}

/** How much of the history a call deletes. Each deleted one is called about at once. */
const mostOfHistory = 20;
const untilMore = 2;

/** The step of a finished package transaction. If it is being deleted, it goes once nothing is left. */
export function cleanUp(observation: ObservedTo<'cleanUp'>): Step {
  const history = observation.history.slice(0, mostOfHistory);
  const step = sweep({ ...observation, history });
  return history.length === observation.history.length ? step : { ...step, status: observation.ptx.status, wait: untilMore };
}

function sweep(observation: ObservedTo<'cleanUp'>): Step {
  const { ptx, now, lateWindow, garbage, history } = observation;
  const { status, isDeleting } = ptx;
  if (garbage.length === 0) return withoutGarbage(observation);
  const kept = isDeleting ? lateWindow : keptFor;
  const due = garbage.filter((one) => isOlder(one, kept, now));
  const step = { kind: 'cleanUp', garbage: due, history, finalized: false } as const;
  // A stage goes once its finalizer is removed, and that change wakes the package transaction.
  if (due.length > 0) return { ...step, because: 'stages and contents are deleted', status, wait: 1 };
  const next = Math.min(...garbage.map(createdAt)) + kept;
  const later = isDeleting ? status : advanced(status, { sweepTime: timeOf(next) });
  return { ...step, because: 'a request that creates a stage again may be late', status: later, wait: (next - now) / 1000 };
}

/**
 * A package transaction goes once nothing depends on it. If the API server refuses this, it stays, and its condition has the
 * reason.
 */
function withoutGarbage({ ptx: { status, isDeleting }, history, orphans }: ObservedTo<'cleanUp'>): Step {
  const because = 'installed objects get owners that stay';
  if (isDeleting && orphans.length > 0) return { kind: 'adopt', orphans, isOptional: false, because, status, wait: 0.2 };
  const next = status.sweepTime === undefined ? status : advanced(status, { sweepTime: undefined });
  const step = { kind: 'cleanUp', garbage: [], history, finalized: isDeleting } as const;
  return { ...step, because: 'nothing is left to do', status: next, wait: 0 };
}
