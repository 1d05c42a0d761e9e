// How a try ends: what fails before anything is made only releases the Lock; what fails later rolls back first.
import { advanced, type Outcome, type Status, timeOf } from '../model/status.ts';

/** The time of a decision. */
export interface Moment {
  /** The API server's time in ms since the epoch. */
  readonly now: number;
  /** ms after which no request of a process that died can take effect: the deadline of a call, and the lifetime of a write. */
  readonly late: number;
}

export function ended(status: Status, outcome: Outcome): Status {
  const failures = outcome.kind === 'Failed' ? status.failures + 1 : status.failures;
  const made = status.phase === 'Installing' || status.phase === 'Verifying';
  return advanced(status, { phase: made ? 'RollingBack' : 'Releasing', outcome, failures });
}

export function abandoned(status: Status): Status {
  return ended(status, { kind: 'Abandoned', message: 'it is being deleted' });
}

export function lostLock(status: Status): Status {
  const message = 'the Lock was taken away, or its packages were changed by somebody else, while it was held';
  return ended(status, { kind: 'Failed', step: 'Installation', reason: 'InstallationFailed', message });
}

/** The last status: from here on somebody else may take the Lock, and only what is left is deleted. */
export function finished(status: Status, outcome: Outcome | undefined, now: number): Status {
  const phase = outcome?.kind === 'Succeeded' ? 'Succeeded' : 'Failed';
  return advanced(status, { phase, outcome, completionTime: timeOf(now), sweepTime: timeOf(now) });
}

const longestPause = 300;

/** Seconds until the next try. */
export function pauseAfter(failures: number): number {
  return Math.min(2 ** Math.min(failures, 20), longestPause);
}
