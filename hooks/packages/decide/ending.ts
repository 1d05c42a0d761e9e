// After a try: the Lock is released, and that is its end, or another try follows. What is left is deleted later.
//
// A stage is deleted no earlier than one late window after it was created. A create names no version, so one whose answer was lost, or whose
// process was stopped before it was sent, can land whenever the name is free, and the engine would make that stage again. While a stage is
// there, such a create gets 409, whoever sends it: so any number of processes may create the same stage, and nobody waits for another. The
// late window is enough, because who creates a stage has found none in the same call: that call began before the stage was created, and
// sends nothing after the window. A process can stop for longer between its look at the clock and the request: usually stages stay for
// `keptFor`. Contents may come late: nobody reads them without a stage, and they go with the package transaction, or as those of one that
// is gone.
import type { PackageTransaction } from '../model/package-transaction.ts';
import { advanced, timeOf } from '../model/status.ts';
import { createdAt, isOlder, keptFor, type ObservedTo } from '../observe/observation.ts';
import type { Step } from './step.ts';
import { finished, pauseAfter, releasing } from './transitions.ts';

export function release({ ptx, now, lock }: ObservedTo<'release'>): Step {
  const { status } = ptx;
  if (!isTriedAgain(ptx))
    return releasing(ptx, lock, { because: 'the Lock is released', status: finished(status, status.outcome, now), wait: 1 });
  const wait = Math.max(pauseAfter(status.failures), status.outcome?.retryAfterSeconds ?? 0);
  const next = advanced(status, { phase: 'Waiting', retryTime: timeOf(now + wait * 1000), tryTime: undefined });
  return releasing(ptx, lock, { because: 'the Lock is released until the next try', status: next, wait });
}

function isTriedAgain({ status, retryLimit, isDeleting }: PackageTransaction): boolean {
  const { outcome, failures } = status;
  return outcome?.kind === 'Failed' && outcome.isFinal !== true && failures < retryLimit && !isDeleting;
}

/** Of one that is finished; being deleted, it goes once nothing is left. */
export function cleanUp(observation: ObservedTo<'cleanUp'>): Step {
  const { ptx, now, lateWindow, garbage, history } = observation;
  const { status, isDeleting } = ptx;
  if (garbage.length === 0) return withoutGarbage(observation);
  const kept = isDeleting ? lateWindow : keptFor;
  const due = garbage.filter((one) => isOlder(one, kept, now));
  const step = { kind: 'cleanUp', garbage: due, history, finalized: false } as const;
  // A stage goes once its finalizer is removed, and that wakes us.
  if (due.length > 0) return { ...step, because: 'stages and contents are deleted', status, wait: 1 };
  const next = Math.min(...garbage.map(createdAt)) + kept;
  const later = isDeleting ? status : advanced(status, { sweepTime: timeOf(next) });
  return { ...step, because: 'a request that creates a stage again may be late', status: later, wait: (next - now) / 1000 };
}

/** A package transaction goes once nothing depends on it; if that is refused, it stays, and its condition has the reason. */
function withoutGarbage({ ptx: { status, isDeleting }, history, orphans }: ObservedTo<'cleanUp'>): Step {
  const because = 'installed objects get owners that stay';
  if (isDeleting && orphans.length > 0) return { kind: 'adopt', orphans, isOptional: false, because, status, wait: 0.2 };
  const next = status.sweepTime === undefined ? status : advanced(status, { sweepTime: undefined });
  const step = { kind: 'cleanUp', garbage: [], history, finalized: isDeleting } as const;
  return { ...step, because: 'nothing is left to do', status: next, wait: 0 };
}
