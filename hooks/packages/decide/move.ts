// What a call does: writes, in order, and the status that follows once they took effect.
import type { Write } from '../../objects/cluster.ts';
import type { Failure } from '../../objects/failure.ts';
import type { Status } from '../model/status.ts';

/** A write, and the failure that shows that it took effect before, or need not any more. */
export interface Deed {
  readonly write: Write;
  readonly settledBy?: 'exists' | 'absent';
  /** Nothing that follows depends on it. */
  readonly mayBeRefused?: true;
}

/** Said in the conditions while nothing else is known. */
export interface Note {
  readonly reason: 'WaitingForLock' | 'Resolving' | 'ReconcileError';
  readonly message: string;
}

export interface Move {
  /** For the log. */
  readonly because: string;
  readonly deeds: readonly Deed[];
  /** The same as before where nothing must be stored. */
  readonly status: Status;
  /** Seconds until the next call; 0: the stored status, or a change of what is related, brings it. */
  readonly wait: number;
  readonly finalized?: boolean;
  readonly note?: Note;
  /** The status where a write is refused for good; without it, it is tried again. */
  readonly refused?: (failure: Failure) => Status;
}

/** Seconds after which a call comes though no watch brought it. */
export const safetyWait = 10;

export function staying(status: Status, because: string, wait: number, note?: Note): Move {
  return { because, deeds: [], status, wait, ...(note === undefined ? {} : { note }) };
}

export function going(status: Status, because: string): Move {
  return { because, deeds: [], status, wait: 1 };
}
