// The story of a Transaction as Events: what `kubectl describe` tells. What has happened, never what may.
//
// 1. Few: beyond ten changes one Event tells of a tenth of them, and of the objects that an undo leaves the first ten are told.
// 2. They follow from the two statuses alone, so that a call that comes again tells the same.
import type { EventRecord } from '../call.ts';
import { waitingSince } from '../decide/transitions.ts';
import { count } from '../decide/wording.ts';
import type { Item } from '../model/item.ts';
import { describe } from '../model/reference.ts';
import type { Status } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import { clean } from '../model/words.ts';
import { conflictReasons, newErrors } from './counts.ts';

/** Told one by one up to so many, in so many parts beyond. */
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
  return [...lockWaiting(move), ...moved.flatMap((index) => changeEvents(move, index)), ...phaseEvents(move)];
}

// A retry takes up again what was left: nothing has happened to it yet.
function isMoved(before: Item | undefined, after: Item): boolean {
  return before?.progress.kind !== after.progress.kind && before?.progress.kind !== 'left';
}

/** Told once, as it begins: the status names whom it waits for now. */
function lockWaiting({ before, after }: Move): readonly EventRecord[] {
  const wantsLocks = ({ items }: Status): boolean => items.some(({ lockLease }) => lockLease !== undefined);
  const begins =
    before.phase === 'Pending'
      ? !wantsLocks(before) && wantsLocks(after)
      : waitingSince(before) === undefined && isAwaited(after);
  return begins && before.phase === after.phase ? [normal('LockWaiting', after.message)] : [];
}

function isAwaited(status: Status): boolean {
  const isAtRest = status.phase === 'Committed' || status.phase === 'Failed';
  return isAtRest && waitingSince(status) !== undefined;
}

function changeEvents(move: Move, index: number): readonly EventRecord[] {
  switch (move.after.items[index]?.progress.kind) {
    case 'applied':
      return appliedEvents(move, index);
    case 'restored':
      return restoredEvents(move, index);
    case 'left':
      return [...leftEvents(move, index), ...restoredEvents(move, index)];
    default:
      return [];
  }
}

/** The indexes that are told of together with this one. */
function partOf(index: number, total: number): { readonly first: number; readonly last: number } {
  const size = Math.ceil(total / mostParts);
  const first = index - (index % size);
  return { first, last: Math.min(first + size, total) - 1 };
}

function appliedEvents({ after, transaction }: Move, index: number): readonly EventRecord[] {
  const total = after.items.length;
  const { first, last } = partOf(index, total);
  if (index !== last) return [];
  const indexes = Array.from({ length: last - first + 1 }, (_, at) => first + at);
  return [normal('ChangeApplied', nameOfChanges(transaction, indexes, index))];
}

// An undo walks backwards: a part is told of at its first change.
function restoredEvents({ after, transaction }: Move, index: number): readonly EventRecord[] {
  const { first, last } = partOf(index, after.items.length);
  if (index !== first) return [];
  const indexes = after.items.flatMap(({ progress }, at) =>
    at >= first && at <= last && progress.kind === 'restored' && progress.applied ? [at] : [],
  );
  return indexes.length === 0
    ? []
    : [normal('ChangeRestored', `undone: ${nameOfChanges(transaction, indexes, indexes[0] ?? 0)}`)];
}

function nameOfChanges(transaction: Transaction, indexes: readonly number[], latest: number): string {
  const [first = 0, last = 0] = [indexes[0], indexes.at(-1)];
  if (first === last) return nameOfChange(transaction, latest);
  const gap = last - first + 1 - indexes.length;
  const numbers = `changes ${first + 1} to ${last + 1}${gap === 0 ? '' : ` (all but ${gap})`}`;
  return `${numbers}, the last of them ${nameOfChange(transaction, latest)}`;
}

function nameOfChange({ changes }: Transaction, index: number): string {
  const change = changes[index];
  const what = change === undefined ? '' : ` (${change.type} ${describe(change.target)})`;
  return `change ${index + 1} of ${changes.length}${what}`;
}

function leftEvents({ after, transaction }: Move, index: number): readonly EventRecord[] {
  const { error } = after.items[index] ?? {};
  const told = after.items.filter(({ progress }) => progress.kind === 'left').length;
  if (told > mostParts) return [];
  const reason = error === undefined || conflictReasons.has(error.reason) ? 'RollbackConflict' : error.reason;
  return [warning(reason, `${nameOfChange(transaction, index)}: ${error?.message ?? 'it could not be undone'}`)];
}

function phaseEvents(move: Move): readonly EventRecord[] {
  const { before, after } = move;
  if (before.phase === after.phase) return [];
  switch (after.phase) {
    case 'Preparing':
      return [normal('LocksAcquired', `${count(after.items.length, 'lock')} held`)];
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

function rollbackStarted({ before, after, transaction }: Move): readonly EventRecord[] {
  const failed = newErrors(before, after).map(({ index, error }) =>
    warning('ChangeFailed', `${nameOfChange(transaction, index)}: ${error.message}`),
  );
  const applied = after.items.filter(({ progress }) => progress.kind === 'applied').length;
  const why = failed.length === 0 && after.cause !== undefined ? `: ${after.cause.message}` : '';
  const started = `${count(applied, 'applied change')} to undo${why}`;
  const isWanted = after.cause?.reason === 'RollbackRequested';
  return [...failed, (isWanted ? normal : warning)('RollbackStarted', started)];
}

function normal(reason: string, message: string): EventRecord {
  return { type: 'Normal', reason, message: clean(message) };
}

function warning(reason: string, message: string): EventRecord {
  return { type: 'Warning', reason, message: clean(message) };
}
