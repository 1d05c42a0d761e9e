// Waiting is `resyncAfterSeconds`, never a counter in the status: an equal observation gives an equal status.
import type { Failure } from '../model/failure.ts';
import type { Status } from '../model/status.ts';
import type { Step } from './step.ts';

/** Seconds between two looks at something that others must finish. */
export const patience = 1;

/** Seconds between two looks at a lock. */
export const lockPatience = 0.5;

/** Transient trouble: phase and items stay. The pause grows with each try; it is kept in memory, so it is not decided here. */
export const backoff = -1;

export function waitFor(status: Status, message: string, seconds = patience): Step {
  return { kind: 'become', status: { ...status, message }, because: message, resyncAfterSeconds: seconds };
}

/** The trouble is named by its reason alone: it is the same sentence at each try. */
export function waitOut(status: Status, what: string, failure: Failure): Step {
  const message = `waiting: ${what} failed for now (${failure.reason}); it is tried again until spec.timeout`;
  return { kind: 'become', status: { ...status, message }, because: message, resyncAfterSeconds: backoff };
}

export function become(status: Status, because: string, resyncAfterSeconds = 0): Step {
  return { kind: 'become', status, because, resyncAfterSeconds };
}
