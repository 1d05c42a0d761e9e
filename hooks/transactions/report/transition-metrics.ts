// Metrics of a change of status. It counts once the status is stored, and follows from the two statuses alone.
import type { ItemOperation, Stored } from '../call.ts';
import { waitingSince } from '../decide/transitions.ts';
import type { Gating } from '../model/gated.ts';
import { type Item, type ItemError, wasRestored } from '../model/item.ts';
import { isTerminal, type Phase } from '../model/phase.ts';
import type { Reason } from '../model/reason.ts';
import type { Status } from '../model/status.ts';
import type { UndoAnswer } from '../model/undo.ts';
import { endedGates } from './gates.ts';

/** Reasons that mean a conflict with others' work. */
export const conflictReasons: ReadonlySet<string> = new Set<Reason>([
  'Conflict',
  'Gone',
  'Replaced',
  'RollbackConflict',
  'ForeignContent',
  'NotEmpty',
  'StoredVersions',
  'Recreated',
  'LaterTransaction',
]);

interface NewError {
  readonly index: number;
  readonly error: ItemError;
}

/** The errors of changes that the earlier status does not have. */
export function newErrors(before: Status, after: Status): readonly NewError[] {
  return after.items.flatMap(({ error }, index) =>
    error === undefined || before.items[index]?.error !== undefined ? [] : [{ index, error }],
  );
}

export function storedOf(before: Status, after: Status, now: number, gated: Gating): Stored {
  return {
    fromPhase: before.phase,
    toPhase: after.phase,
    ...durationOf(before, after),
    ...lockWaitOf(before, after, now),
    ...(before.version === 0 ? { itemCount: after.items.length } : {}),
    gates: endedGates(before, after, gated, now),
    items: [...doneOperations(before, after), ...failedOperations(before, after)],
    ...refusedUndo(before, after),
    conflicts: newErrors(before, after).flatMap(({ error }) => (conflictReasons.has(error.reason) ? [error.reason] : [])),
  };
}

/** An undo that was requested and refused since the earlier status. */
function refusedUndo(before: Status, { undo }: Status): Pick<Stored, 'refusedUndo'> {
  return undo === undefined || !isNewRefusal(before, undo) ? {} : { refusedUndo: undo.reason };
}

/** Whether the answer is a refusal that the earlier status does not have. */
export function isNewRefusal(before: Status, { request, reason }: UndoAnswer): boolean {
  return reason !== 'Planned' && (before.undo?.reason === 'Planned' || before.undo?.request.value !== request.value);
}

function durationOf(before: Status, after: Status): Pick<Stored, 'durationSeconds'> {
  if (!hasEnded(before, after) || after.completionTime === undefined) return {};
  const began = before.phase === 'RollingBack' ? after.rollbackStartedAt : after.startTime;
  return { durationSeconds: (after.completionTime - (began ?? after.completionTime)) / 1000 };
}

/** Whether a terminal phase is reached. */
export function hasEnded(before: Status, after: Status): boolean {
  return before.phase !== after.phase && isTerminal(after.phase);
}

const begins: ReadonlySet<string> = new Set<Phase>(['Pending', 'Committed', 'Failed']);

// Locks are acquired from Pending to Preparing, and from a terminal phase into an undo.
function lockWaitOf(before: Status, after: Status, now: number): Pick<Stored, 'lockWaitSeconds'> {
  const isTaken = begins.has(before.phase) && (hasLocked(after.phase) || after.phase === 'RollingBack');
  const isGivenUp = before.phase === 'Pending' && after.cause?.reason === 'LockHeld';
  if (!isTaken && !isGivenUp) return {};
  const since = (before.phase === 'Pending' ? before.startTime : waitingSince(before)) ?? now;
  return { lockWaitSeconds: Math.max(0, now - since) / 1000 };
}

function hasLocked(phase: Phase): boolean {
  return phase === 'Preparing' || phase === 'Prepared';
}

function doneOperations(before: Status, after: Status): readonly ItemOperation[] {
  return after.items.flatMap((item, index) => {
    const earlier = before.items[index]?.progress.kind;
    const operation = earlier === item.progress.kind ? undefined : doneOperation(earlier, item);
    return operation === undefined ? [] : [{ operation, result: 'success' }];
  });
}

// A retry starts with the changes that were left: nothing has happened to them yet.
function doneOperation(earlier: Item['progress']['kind'] | undefined, item: Item): ItemOperation['operation'] | undefined {
  const { progress } = item;
  if (earlier === 'waiting') return 'prepare';
  if (progress.kind === 'restored') return wasRestored(item) ? 'rollback' : undefined;
  return progress.kind === 'applied' && earlier !== 'notRestored' ? 'commit' : undefined;
}

function failedOperations(before: Status, after: Status): readonly ItemOperation[] {
  return newErrors(before, after).map(({ index, error }) => ({
    operation: failedOperation(before, after.items[index]),
    result: conflictReasons.has(error.reason) ? 'conflict' : 'error',
  }));
}

function failedOperation(before: Status, item: Item | undefined): ItemOperation['operation'] {
  if (before.phase === 'Pending' || before.phase === 'Preparing') return 'prepare';
  return item?.progress.kind === 'notRestored' ? 'rollback' : 'commit';
}
