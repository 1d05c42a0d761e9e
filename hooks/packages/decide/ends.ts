// How a try ends: what fails before anything is made only releases the Lock; what fails later rolls back first.
import { advanced, type Outcome, type Status, timeOf } from '../model/status.ts';

/** The time of a decision. */
export interface Moment {
  /** The API server's time in ms since the epoch. */
  readonly now: number;
  /** ms after which no request of a process that died can take effect: the deadline of a call, and the lifetime of a write. */
  readonly late: number;
}

/** `own`: a stage failed by itself, so no process can have gone on to the next one. */
export function ended(status: Status, outcome: Outcome, { now, late }: Moment, own = false): Status {
  const failures = outcome.kind === 'Failed' ? status.failures + 1 : status.failures;
  const made = status.phase === 'Installing' || status.phase === 'Verifying';
  const settled = own || status.phase === 'Validating' ? {} : { settledTime: timeOf(now + late) };
  return advanced(status, { phase: made ? 'RollingBack' : 'Releasing', outcome, failures, ...settled });
}

export function abandoned(status: Status, moment: Moment): Status {
  return ended(status, { kind: 'Abandoned', message: 'it is being deleted' }, moment);
}

export function lostLock(status: Status, moment: Moment): Status {
  const message = 'the Lock was taken away, or its packages were changed by somebody else, while it was held';
  return ended(status, { kind: 'Failed', step: 'Installation', reason: 'InstallationFailed', message }, moment);
}

const longestPause = 300;

/** Seconds until the next try. */
export function pauseAfter(failures: number): number {
  return Math.min(2 ** Math.min(failures, 20), longestPause);
}
