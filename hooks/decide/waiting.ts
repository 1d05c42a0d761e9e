// Waiting is `resyncAfterSeconds`, never a counter in the status: an equal observation gives an equal status.
import type { Failure } from '../model/failure.ts';
import { isToUndo } from '../model/item.ts';
import type { Status } from '../model/status.ts';
import type { Become } from './step.ts';
import { passedOver } from './undo-transitions.ts';
import { count } from './wording.ts';

/** Seconds between two looks at something that others must finish. */
export const patience = 1;

/** Seconds between two looks at a lock. */
export const lockPatience = 0.5;

/** Transient trouble: phase and items stay. The pause grows with each try; it is kept in memory, so it is not decided here. */
export const backoff = -1;

export function waitFor(status: Status, message: string, seconds = patience): Become {
  return { kind: 'become', status: { ...status, message }, because: message, resyncAfterSeconds: seconds };
}

/** The trouble is named by its reason alone: it is the same sentence at each try. */
export function waitOut(status: Status, what: string, failure: Failure): Become {
  const message = `waiting: ${what} failed for now (${failure.reason}); it is tried again until spec.timeout`;
  return { kind: 'become', status: { ...status, message }, because: message, resyncAfterSeconds: backoff };
}

/** The undo of one change waits: it is passed over for the others, then tried again. */
export function undoLater(status: Status, index: number, message: string, seconds = patience): Become {
  return passOver(status, index, { message, because: message, seconds });
}

/**
 * As `waitOut`, in an undo: trouble with one target does not keep the others from being undone. Where there is no answer at all
 * they would meet the same. An answer below 500 may be that of an admission webhook to this write alone, or of an API server that
 * is busy: the others have their turn, and not at once.
 */
export function undoOut(status: Status, index: number, what: string, failure: Failure): Become {
  return failure.code === 0 ? waitOut(status, what, failure) : setAside(status, index, what, failure);
}

/** Trouble that the others would not meet, whatever the answer. */
export function setAside(status: Status, index: number, what: string, failure: Failure): Become {
  const message = `${what} failed for now (${failure.reason}); it is tried again`;
  return passOver(status, index, {
    message,
    because: message,
    seconds: backoff,
    ...(failure.code < 500 ? { first: backoff } : {}),
  });
}

interface Pause {
  readonly message: string;
  readonly because: string;
  readonly seconds: number;
  /** Where it is passed over for the first time. */
  readonly first?: number;
}

function passOver(status: Status, index: number, { message, because, seconds, first = 0.001 }: Pause): Become {
  const others = status.items.filter((item, at) => at !== index && isToUndo(item));
  if (others.length === 0) return { kind: 'become', status: { ...status, message }, because, resyncAfterSeconds: seconds };
  const next = passedOver(status, index, message);
  const isNew = status.items[index]?.waiting === undefined;
  // The same sentence whichever of them has its turn: a status that changes wakes Metacontroller at once.
  const waiting = next.items.filter((item) => item.waiting !== undefined);
  const summary = `${count(waiting.length, 'change')} cannot be undone yet: ${waiting.at(-1)?.waiting ?? message}`;
  return { kind: 'become', status: { ...next, message: summary }, because, resyncAfterSeconds: isNew ? first : seconds };
}

export function become(status: Status, because: string, resyncAfterSeconds = 0): Become {
  return { kind: 'become', status, because, resyncAfterSeconds };
}
