// How a try ends: what fails before anything is made only releases the Lock; what fails later rolls back first.
import { advanced, type Outcome, type Status, timeOf } from '../model/status.ts';

/** ms after which no request of a process that died can take effect: the deadline of a call, and the lifetime of a write. */
export const mostLate = 30_000;

/** `own`: a stage failed by itself, so no process can have gone on to the next one. */
export function ended(status: Status, outcome: Outcome, now: number, own = false): Status {
  const failures = outcome.kind === 'Failed' ? status.failures + 1 : status.failures;
  const made = status.phase === 'Installing' || status.phase === 'Verifying';
  const late = own || status.phase === 'Validating' ? {} : { settledTime: timeOf(now + mostLate) };
  return advanced(status, { phase: made ? 'RollingBack' : 'Releasing', outcome, failures, ...late });
}

export function abandoned(status: Status, now: number): Status {
  return ended(status, { kind: 'Abandoned', message: 'it is being deleted' }, now);
}

export function lostLock(status: Status, now: number): Status {
  const message = 'the Lock was taken away, or its packages were changed by somebody else, while it was held';
  return ended(status, { kind: 'Failed', step: 'Installation', reason: 'InstallationFailed', message }, now);
}

const longestPause = 300;

/** Seconds until the next try. */
export function pauseAfter(failures: number): number {
  return Math.min(2 ** Math.min(failures, 20), longestPause);
}
