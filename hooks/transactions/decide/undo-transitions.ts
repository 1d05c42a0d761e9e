// The ways in which the status of an undo changes, as functions from status to status.
import type { Warnings } from '../../objects/cluster.ts';
import type { Ending, Request } from '../due.ts';
import { joined } from '../hazards/messages.ts';
import { isBetweenHalves } from '../model/halves.ts';
import { type Item, type ItemError, isNotRestored, isToUndo } from '../model/item.ts';
import type { Cause, Status } from '../model/status.ts';
import { annotations } from '../model/transaction.ts';
import { handled, type Locks, settledBy, to, withItem, withLeases } from './transitions.ts';
import { plain, shortened, undoneMessage } from './wording.ts';

/** `failed`: the change whose failure is the cause. Whether it has had an effect is for the undo to find out. */
export function undoing(status: Status, cause: Ending, now: number, failed?: number): Status {
  const marked = failed === undefined ? status : withItem(status, failed, (item) => ({ ...item, error: plain(cause) }));
  const started = handled({ ...to(marked, 'RollingBack'), rollbackStartedAt: now }, cause.request);
  const { completionTime: _ended, undo: _answered, locksReturnedAt: _over, ...running } = started;
  return { ...running, cause: plain(cause), message: `rolling back: ${cause.message}` };
}

interface Begun extends Locks {
  /** Indexes of changes that the undo leaves, each with the reason in words. */
  readonly kept?: ReadonlyMap<number, string>;
  /** Indexes of changes whose undo overwrites what others wrote. */
  readonly overwritten?: ReadonlySet<number>;
}

/** The items as an undo begins with them: what an earlier one has left is to be undone. */
export function toUndoAgain({ items }: Status): readonly Item[] {
  return items.map((item): Item => {
    const { overwrite: _earlier, ...rest } = item;
    if (rest.progress.kind !== 'notRestored') return rest;
    const { error: _gone, ...bare } = rest;
    return { ...bare, progress: { kind: rest.progress.applied ? 'applied' : 'announced' } };
  });
}

function keptItem(item: Item, why: string): Item {
  const isApplied = item.progress.kind === 'applied' || ('applied' in item.progress && item.progress.applied);
  return { ...item, note: shortened(why), progress: { kind: 'kept', applied: isApplied } };
}

/** An undo that a user requested begins, its locks held again: of a Committed Transaction, or once more of a Failed Transaction. */
export function undoingAgain(
  status: Status,
  request: Request,
  now: number,
  { leases, writer, kept, overwritten }: Begun,
): Status {
  const items = toUndoAgain(status).map((item, index): Item => {
    const why = kept?.get(index);
    if (why !== undefined) return keptItem(item, why);
    return overwritten?.has(index) === true ? { ...item, overwrite: true } : item;
  });
  const taken = withLeases({ ...status, items, ...settledBy(status.settledWriter ?? writer), ...earlierUndo(status) }, leases);
  return undoing(taken, { ...causeAgain(status), request }, now);
}

// The condition of a requested undo that failed shows the changes that it left. These are no cause of the next undo.
function causeAgain({ phase, cause, handledAnnotations }: Status): Cause {
  const isRequested = phase !== 'Failed' || handledAnnotations[annotations.requestRollback] !== undefined;
  if (cause !== undefined && !isRequested) return cause;
  return { reason: 'RollbackRequested', message: 'a rollback was requested' };
}

// What an earlier undo has left may have been applied, whatever is recorded: it is not taken for never sent.
function earlierUndo({ phase, unsettledAt, rollbackStartedAt }: Status): Pick<Status, 'unsettledAt'> {
  const time = unsettledAt ?? (phase === 'Failed' ? rollbackStartedAt : undefined);
  return time === undefined ? {} : { unsettledAt: time };
}

/** For announced changes that were never sent, or that the API server refused. The engine undoes a first half that was made. */
export function withdrawn(status: Status): Status {
  const items = status.items.map((item): Item => {
    const isUnsent = item.progress.kind === 'announced' && !isBetweenHalves(item);
    return isUnsent ? { ...item, progress: { kind: 'restored', applied: false } } : item;
  });
  return { ...status, items };
}

/** The undo of one change waits; that of earlier ones goes on. */
export function passedOver(status: Status, index: number, message: string): Status {
  return withItem(status, index, (item) => ({ ...item, waiting: shortened(message) }));
}

/** The API server has begun to delete the object of one change. */
export function leaving(status: Status, index: number): Status {
  return withItem(status, index, (item) => ({ ...item, undone: true }));
}

/**
 * The undo of one change has made its first write, and another is missing. `note`: what that write did beside restoring. The next
 * evaluation cannot see it in the object.
 */
export function withFirstWrite(status: Status, index: number, note: string): Status {
  return withItem(status, index, (item) => ({ ...withNote(item, note), undone: true }));
}

// What the undo has noted stays beside what it notes next. What the change itself has noted is over.
function withNote(item: Item, note: string | undefined): Item {
  const former = item.undone === true ? item.note : undefined;
  if (note === undefined || former?.includes(note) === true) return item;
  return { ...item, note: shortened(joined(former, note) ?? note) };
}

/** RollingBack was found stored, while a write may have been under way. */
export function observed(status: Status, now: number): Status {
  return { ...status, rollbackObservedAt: now };
}

/**
 * Of a change that was taken back. `uid`: of the object that the undo of a Delete has created again. `undone`: the undo has made a
 * write for it.
 */
export interface Restored {
  readonly note?: string | undefined;
  readonly uid?: string | undefined;
  /** Whether the undo has made a write; the item then has the warnings about that write only. */
  readonly undone?: boolean;
  readonly warnings?: Warnings | undefined;
}

/** No part of one change is left in its object. */
export function restored(status: Status, index: number, now: number, { note, uid, undone, warnings }: Restored = {}): Status {
  const next = withItem(status, index, ({ waiting: _over, ...item }) => ({
    ...withNote(undone === true ? withWarnings(item, warnings) : item, note),
    progress: { kind: 'restored', applied: item.progress.kind === 'applied' },
    ...(uid === undefined ? {} : { uid }),
    ...(undone === true ? { undone: true as const } : {}),
  }));
  return concludedIfComplete(next, now);
}

function withWarnings({ warnings: _ofTheChange, ...item }: Item, warnings: Warnings | undefined): Item {
  return warnings === undefined ? item : { ...item, warnings };
}

/** One change could not be taken back; the undo of the others goes on. */
export function notRestored(status: Status, index: number, now: number, error: ItemError): Status {
  return concludedIfComplete(
    withItem(status, index, (item) => notRestoredItem(item, error)),
    now,
  );
}

function notRestoredItem({ waiting: _over, ...item }: Item, error: ItemError): Item {
  return { ...item, error: plain(error), progress: { kind: 'notRestored', applied: item.progress.kind === 'applied' } };
}

function concludedIfComplete(status: Status, now: number): Status {
  return status.items.some(isToUndo) ? status : concluded(status, now);
}

/** The undo ends. The changes that were not evaluated yet are left, for that reason. */
export function concluded(status: Status, now: number, remaining?: ItemError): Status {
  const items = status.items.map((item) =>
    remaining !== undefined && isToUndo(item) ? notRestoredItem(item, lastWords(item, remaining)) : item,
  );
  const ended = { ...status, items, completionTime: now };
  return { ...to(ended, items.some(isNotRestored) ? 'Failed' : 'RolledBack'), message: undoneMessage(ended) };
}

function lastWords({ waiting }: Item, { reason, message }: ItemError): ItemError {
  return { reason, message: waiting === undefined ? message : `${message}; ${waiting}` };
}
