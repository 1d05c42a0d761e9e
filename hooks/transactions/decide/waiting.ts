// Waiting is when the next call comes (model/wait.ts), never a counter in the status: an equal observation gives an equal status.
import type { Failure, Passing } from '../../objects/failure.ts';
import { isToUndo } from '../model/item.ts';
import { isTerminal } from '../model/phase.ts';
import type { Status } from '../model/status.ts';
import type { Pause, Wait } from '../model/wait.ts';
import type { SetStatus } from './step.ts';
import { passedOver } from './undo-transitions.ts';
import { count } from './wording.ts';

/** Between two reads of something that others must finish. */
export const patience: Wait = { seconds: 1 };

/** Between two reads of a lock. */
export const lockPatience: Wait = { seconds: 0.5 };

/** Until the next try to have a turn. */
const turnPatience: Wait = { seconds: 0.2 };

/** ms for which something that is not written yet waits for a webhook: with the last try it is a minute. */
const webhookPatienceMs = 45_000;

/** ms for which a refusal is tried again that an earlier write removes: an API server may hear of that write late. */
const hearsayPatienceMs = 30_000;

/** ms of tries a second apart, and in seconds the pause after that. */
const brisk = { span: 5_000, pause: 5 } as const;

/** What the process knows of the wait: ms since it began. */
interface Waited {
  readonly refusedFor?: number;
}

/** Until the next try of what is refused or cannot be admitted: each time the process counts on. */
export function refusalPause({ refusedFor = 0 }: Waited): Pause {
  return { seconds: refusedFor < brisk.span ? 1 : brisk.pause, isRefusal: true };
}

/** Whether a wait for a webhook before the first write is over. */
export function isTooLong({ refusedFor = 0 }: Waited): boolean {
  return refusedFor >= webhookPatienceMs;
}

/** Whether an API server may still not have heard of an earlier write. */
export function mayHearLater({ refusedFor = 0 }: Waited): boolean {
  return refusedFor < hearsayPatienceMs;
}

/** Whether the API server could not finish its admission or its conversion: it mostly waits for a webhook. */
export function isHungUp({ origin, reason }: Failure): boolean {
  return origin === 'call' || reason === 'Timeout';
}

/** Why the Transaction ends after it has waited for a webhook for a minute. */
export function hungUpMessage(what: string, { reason, said }: Passing): string {
  return `${what} failed (${reason}) for a minute${said === undefined ? '' : `: ${said}`}; repair or delete the webhook or server that it needs, then create the Transaction again`;
}

/** Nothing is written yet: as `waitOut`, and the wait is over before spec.timeout. */
export function waitForWebhook(status: Status, what: string, failure: Passing, waited: Waited): SetStatus {
  const message = troubleIn(status.message, `waiting: ${what}`, failure, 'retrying for a minute');
  return waitFor(status, message, refusalPause(waited));
}

/**
 * The sentence does not change from try to try, whatever the API server adds to the reason: a changed status wakes Metacontroller
 * at once. No later status would repeat the message of an end, so that message stays. `isNews`: a deletion or a requested undo is
 * under way since the end, and the message says what fails.
 */
export function waitOut(status: Status, what: string, failure: Passing, isNews = false): SetStatus {
  if (failure.isLate === true) return waitFor(status, `waiting: ${failure.message}`, turnPatience, isNews);
  const message = troubleIn(status.message, `waiting: ${what}`, failure, 'retrying until spec.timeout');
  return waitFor(status, message, 'backoff', isNews);
}

function troubleIn(before: string | undefined, what: string, { reason, said }: Passing, next: string): string {
  const known = `${what} failed (${reason})`;
  if (said === undefined) return `${known}; ${next}`;
  return before?.startsWith(`${known}: `) === true ? before : `${known}: ${said}; ${next}`;
}

/** As `waitOut`, with that sentence and that pause. */
export function waitFor(status: Status, message: string, wait: Wait, isNews = false): SetStatus {
  const next = isTerminal(status.phase) && !isNews ? status : { ...status, message };
  return { kind: 'setStatus', status: next, because: message, wait };
}

/** The undo of one change waits: it is passed over for the others, then tried again. */
export function undoLater(status: Status, index: number, message: string, wait: Wait = patience): SetStatus {
  return passOver(status, index, { message, wait });
}

/**
 * As `waitOut`, in an undo: trouble with one target does not keep the engine from undoing the others. If no answer arrives at all,
 * the others would meet this trouble, too. An answer below 500 may be an admission webhook's answer to this write alone. A busy API
 * server may also send it. Then the others have their turn, but not at once.
 */
export function undoOut(status: Status, index: number, what: string, failure: Passing): SetStatus {
  return failure.code === 0 ? waitOut(status, what, failure) : setAside(status, index, what, failure);
}

/** Trouble that the others would not meet, whatever the answer. */
export function setAside(status: Status, index: number, what: string, failure: Passing): SetStatus {
  const message = troubleIn(status.items[index]?.waiting ?? status.message, what, failure, 'retrying');
  return passOver(status, index, {
    message,
    wait: 'backoff',
    ...(failure.code < 500 ? { first: 'backoff' } : {}),
  });
}

interface Passed {
  readonly message: string;
  readonly wait: Wait;
  /** The wait if the item is passed over for the first time. */
  readonly first?: Wait;
}

function passOver(status: Status, index: number, { message, wait, first = 'now' }: Passed): SetStatus {
  const others = status.items.filter((item, at) => at !== index && isToUndo(item));
  if (others.length === 0) return { kind: 'setStatus', status: { ...status, message }, because: message, wait };
  const next = passedOver(status, index, message);
  const isNew = status.items[index]?.waiting === undefined;
  // The sentence does not depend on the item that has its turn: a changed status wakes Metacontroller at once.
  const waiting = next.items.filter((item) => item.waiting !== undefined);
  const summary = `${count(waiting.length, 'change')} cannot be undone yet: ${waiting.at(-1)?.waiting ?? message}`;
  return { kind: 'setStatus', status: { ...next, message: summary }, because: message, wait: isNew ? first : wait };
}

export function setStatus(status: Status, because: string, wait: Wait = 'none'): SetStatus {
  return { kind: 'setStatus', status, because, wait };
}
