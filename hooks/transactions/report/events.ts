// The Events of a Transaction, as `kubectl describe` shows them. They report what has happened, never what may happen.
//
// 1. There are few Events. One Event covers everything that a call has made. Beyond ten changes, one Event covers at least a tenth
//    of them. Of the objects that an undo leaves, the first ten have Events.
// 2. They follow from the two statuses alone, so a repeated call reports equal Events. Only a fault of the engine is not in a status.

import { describe } from '../../objects/reference.ts';
import { clean } from '../../objects/words.ts';
import type { EventRecord } from '../call.ts';
import { waitingSince } from '../decide/transitions.ts';
import { count } from '../decide/wording.ts';
import type { Due } from '../due.ts';
import { InvariantError } from '../model/invariant.ts';
import { type Item, wasRestored } from '../model/item.ts';
import type { Status } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import { openedGates, passedGates } from './gates.ts';
import { conflictReasons, isNewRefusal, newErrors } from './transition-metrics.ts';

/** Up to that many changes are reported one by one, more in that many parts. */
const mostParts = 10;

interface Move {
  readonly before: Status;
  readonly after: Status;
  readonly transaction: Transaction;
}

/** The Events of a change of status, in their order. */
export function eventsOf(before: Status, after: Status, transaction: Transaction): readonly EventRecord[] {
  const move = { before, after, transaction };
  const moved = after.items.flatMap((item, index) => (isMoved(before.items[index], item) ? [index] : []));
  return [...lockWaiting(move), ...changeEvents(move, moved), ...gateEvents(move), ...phaseEvents(move), ...refusedUndo(move)];
}

/** A request without effect. One that came too late is reported only by an Event: the status still says how the Transaction ended. */
export function ignoredEvents(due: Due, before: Status, after: Status): readonly EventRecord[] {
  if (due.kind === 'ignore') return [warning('RequestIgnored', due.message)];
  if (due.kind !== 'reacquire' && due.kind !== 'planUndo') return [];
  const { annotation, value } = due.request;
  const isAnswered = before.handledAnnotations[annotation] !== value && after.handledAnnotations[annotation] === value;
  const hasEffect = before.phase !== after.phase || after.undo?.request.value === value;
  return isAnswered && !hasEffect ? [warning('RequestIgnored', after.message)] : [];
}

/**
 * A fault of the engine, once for each time that it begins: the status repeats its message as long as the fault lasts. `thrown`: what
 * the step has thrown, if it has.
 */
export function faultEvents(thrown: unknown, before: Status, after: Status): readonly EventRecord[] {
  if (thrown === undefined || before.message === after.message) return [];
  const what =
    thrown instanceof InvariantError ? `a write that would break invariant ${thrown.invariant} was not sent` : 'a step failed';
  return [warning('EngineFault', `internal error of the engine: ${what}; the log of the hook says more`)];
}

/** The undo that a user requested would not have been whole: nothing was written. */
function refusedUndo({ before, after }: Move): readonly EventRecord[] {
  return after.undo === undefined || !isNewRefusal(before, after.undo) ? [] : [warning(after.undo.reason, after.undo.message)];
}

// A retry starts with the changes that were left: nothing has happened to them yet.
function isMoved(before: Item | undefined, after: Item): boolean {
  return before?.progress.kind !== after.progress.kind && before?.progress.kind !== 'notRestored';
}

/** Reported once, when the wait begins; later the status names the holder. */
function lockWaiting({ before, after }: Move): readonly EventRecord[] {
  const wantsLocks = ({ items }: Status): boolean => items.some(({ lockLease }) => lockLease !== undefined);
  const begins =
    before.phase === 'Pending'
      ? !wantsLocks(before) && wantsLocks(after)
      : waitingSince(before) === undefined && isAwaited(after);
  return begins && before.phase === after.phase ? [normal('LockWaiting', after.message)] : [];
}

function isAwaited(status: Status): boolean {
  const isFinished = status.phase === 'Committed' || status.phase === 'Failed';
  return isFinished && waitingSince(status) !== undefined;
}

// Changes that were left are reported one by one, the others together.
function changeEvents(move: Move, moved: readonly number[]): readonly EventRecord[] {
  const become = (...kinds: readonly string[]): readonly number[] =>
    moved.filter((index) => kinds.includes(move.after.items[index]?.progress.kind ?? ''));
  const undone = reportedWith(move, become('restored', 'notRestored'), 'first').filter((index) =>
    isRestored(move.after.items[index]),
  );
  return [
    ...become('notRestored').flatMap((index) => notRestoredEvents(move, index)),
    ...together('ChangeApplied', move, reportedWith(move, become('applied'), 'last'), ''),
    ...together('ChangeRestored', move, undone, 'undone: '),
  ];
}

function gateEvents(move: Move): readonly EventRecord[] {
  const { before, after } = move;
  const opened = openedGates(before, after);
  return [
    ...(opened.length === 0 ? [] : [gateWaiting(move, opened)]),
    ...together('GatePassed', move, passedGates(before, after), 'ready: '),
  ];
}

/** The status shows the findings meanwhile, and until when the engine waits. */
function gateWaiting({ after: { items }, transaction }: Move, opened: readonly number[]): EventRecord {
  const applied = items.filter(({ progress }) => progress.kind === 'applied').length;
  const awaited = `waiting for ${nameOfChanges(transaction, opened)} to be ready`;
  return normal('GateWaiting', `${applied} of ${count(items.length, 'change')} applied; ${awaited}`);
}

function isRestored(item: Item | undefined): boolean {
  return item !== undefined && wasRestored(item);
}

/** The indexes of the parts that these changes complete: forward with the last change of a part, backward with its first. */
function reportedWith({ after }: Move, moved: readonly number[], end: 'first' | 'last'): readonly number[] {
  const parts = moved
    .map((index) => ({ index, ...partOf(index, after.items.length) }))
    .filter((part) => part.index === part[end]);
  return parts.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, at) => first + at));
}

/** The indexes that are reported together with this one. */
function partOf(index: number, total: number): { readonly first: number; readonly last: number } {
  const size = Math.ceil(total / mostParts);
  const first = index - (index % size);
  return { first, last: Math.min(first + size, total) - 1 };
}

function together(reason: string, { transaction }: Move, indexes: readonly number[], what: string): readonly EventRecord[] {
  return indexes.length === 0 ? [] : [normal(reason, `${what}${nameOfChanges(transaction, indexes)}`)];
}

/** Up to that many are named one by one, more are counted. */
const mostNamed = 3;

function nameOfChanges(transaction: Transaction, indexes: readonly number[]): string {
  const [first = 0, last = 0] = [indexes[0], indexes.at(-1)];
  if (first === last) return nameOfChange(transaction, first);
  const gap = last - first + 1 - indexes.length;
  const numbers = `changes ${first + 1} to ${last + 1} of ${transaction.changes.length}${gap === 0 ? '' : ` (all but ${gap})`}`;
  const names = indexes.slice(0, mostNamed).map((index) => whatOf(transaction, index));
  const more = indexes.length - names.length;
  return `${numbers}: ${names.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}

function nameOfChange({ changes }: Pick<Transaction, 'changes'>, index: number): string {
  return `change ${index + 1} of ${changes.length} (${whatOf({ changes }, index)})`;
}

function whatOf({ changes }: Pick<Transaction, 'changes'>, index: number): string {
  const change = changes[index];
  return change === undefined ? 'unknown' : `${change.type} ${describe(change.target)}`;
}

function notRestoredEvents({ after, transaction }: Move, index: number): readonly EventRecord[] {
  const { error } = after.items[index] ?? {};
  const unrestored = after.items.filter(({ progress }) => progress.kind === 'notRestored').length;
  if (unrestored > mostParts) return [];
  const reason = error === undefined || conflictReasons.has(error.reason) ? 'RollbackConflict' : error.reason;
  return [warning(reason, `${nameOfChange(transaction, index)}: ${error?.message ?? 'it could not be undone'}`)];
}

function phaseEvents(move: Move): readonly EventRecord[] {
  const { before, after } = move;
  if (before.phase === after.phase) return [];
  switch (after.phase) {
    case 'Preparing':
      return [locksAcquired(move)];
    case 'Prepared':
      return [...(before.phase === 'Pending' ? [locksAcquired(move)] : []), normal('Prepared', after.message)];
    case 'RollingBack':
      return rollbackStarted(move);
    case 'Failed':
      return [warning('Failed', after.message)];
    case 'Committing':
      return [];
    default:
      return [normal(after.phase, after.message)];
  }
}

function locksAcquired({ after }: Move): EventRecord {
  return normal('LocksAcquired', `acquired ${count(after.items.length, 'lock')}`);
}

function rollbackStarted({ before, after, transaction }: Move): readonly EventRecord[] {
  const failed = newErrors(before, after).flatMap(({ index, error }) => [
    warning('ChangeFailed', `${nameOfChange(transaction, index)}: ${error.message}`),
    ...podEvents({ before, after, transaction }, index),
  ]);
  const applied = after.items.filter(({ progress }) => progress.kind === 'applied').length;
  const why = failed.length === 0 && after.cause !== undefined ? `: ${after.cause.message}` : '';
  const started = `rolling back ${count(applied, 'applied change')}${why}`;
  const isWanted = after.cause?.reason === 'RollbackRequested';
  return [...failed, (isWanted ? normal : warning)('RollbackStarted', started)];
}

/** The Pod of a gate that has ended badly: the rollback deletes it. */
function podEvents({ after, transaction }: Move, index: number): readonly EventRecord[] {
  const pod = after.items[index]?.gate?.pod;
  return pod?.uid === undefined ? [] : [warning('PodFailed', `${nameOfChange(transaction, index)}: ${pod.found}`)];
}

function normal(reason: string, message: string): EventRecord {
  return { type: 'Normal', reason, message: clean(message) };
}

function warning(reason: string, message: string): EventRecord {
  return { type: 'Warning', reason, message: clean(message) };
}
