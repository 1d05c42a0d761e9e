// The window: the changes that a stored status announces, and that a call may make one after the other.
//
// I8. A status that was stored before announces each change. V1 to V4 say how.
//
// V1. A call writes only to targets that a stored status announces, and to each target at most once. It follows the order of the
//     changes, or the order of the undo. It sends neighbours of one kind in a wave side by side (side-by-side.ts).
// V2. A call continues with another target only after a target that ended well, or all targets that were sent side by side. The engine first stores each target that is left,
//     waits or fails, and what it must know before a Delete. An object that the undo has deleted has ended well, even if its deletion
//     takes a while: the next read shows that the object is being deleted.
// V3. A call continues only with the same kind of step. The engine stores the beginning of an undo, and its end,
//     before anything follows.
// V4. The status that begins an undo withdraws no announcement. Until that status is stored, another process may still read the
//     announcement, and send the change.
import type { Due } from '../due.ts';
import { isDeletion } from '../model/change.ts';
import { firstBarred, type Gating } from '../model/gated.ts';
import type { Item } from '../model/item.ts';
import type { Pace, Status } from '../model/status.ts';
import type { Observation } from '../observe/observation.ts';
import type { Step } from './step.ts';
import { setStatus } from './waiting.ts';

/**
 * Deletes announced at once: nothing distinguishes a Delete that is only announced from another writer's Delete. A change that may
 * recreate its object may begin with a Delete.
 */
const mostDeletes = 8;

/**
 * The index after the last announced change, once the first `applied` changes are applied. If a gate is in the way of a change, the
 * engine does not announce that change before the gate has passed. `items`: the items at that time.
 */
export function windowEnd(gating: Gating, applied: number, pace: Pace, items: readonly Item[] = []): number {
  const { changes } = gating;
  const end = pace === 'one' ? Math.min(applied + 1, changes.length) : endByDeletes(changes, applied);
  return Math.min(end, firstBarred(gating, items));
}

function endByDeletes(changes: Gating['changes'], applied: number): number {
  const deletes = changes.flatMap((change, index) => (mayDelete(change) && index >= applied ? [index] : []));
  return deletes[mostDeletes] ?? changes.length;
}

function mayDelete(change: Gating['changes'][number]): boolean {
  return isDeletion(change) || change.whenImmutable === 'Recreate';
}

/** What a call has done last, and what came of it. */
interface Gone {
  readonly due: Due;
  /** Not stored yet. */
  readonly running: Status;
  /** As it was stored before the call. */
  readonly stored: Status;
  /** Whether the target was deleted, and is still there. */
  readonly isTerminating?: boolean;
}

/** Whether the call may go on with the step that is due `next`, as far as the statuses show. */
export function mayGoOn({ due, running, stored, isTerminating }: Gone, next: Due): boolean {
  switch (next.kind) {
    case 'prepare':
      return due.kind === 'begin';
    case 'apply':
      // A change that is not announced is not applied (I8).
      return (isApplied(due, running) || due.kind === 'await') && isAnnounced(stored, next.index);
    case 'await':
      return isApplied(due, running);
    case 'restore':
      return (
        due.kind === 'restore' &&
        mayUndoNext(running, due.index, { next: next.index, isTerminating }) &&
        stored.phase === 'RollingBack'
      );
    case 'releaseFields':
      return due.kind === 'releaseFields' && running.items[due.index]?.disowned === true;
    default:
      return false;
  }
}

function mayUndoNext(
  { items }: Status,
  index: number,
  { next, isTerminating }: { readonly next: number; readonly isTerminating: boolean | undefined },
): boolean {
  return hasBecome(items[index], 'restored') || (isTerminating === true && items[next]?.waiting === undefined);
}

function isApplied(due: Due, running: Status): boolean {
  return due.kind === 'apply' && hasBecome(running.items[due.index], 'applied');
}

function hasBecome(item: Item | undefined, kind: Item['progress']['kind']): boolean {
  return item?.progress.kind === kind;
}

function isAnnounced({ items }: Status, index: number): boolean {
  return hasBecome(items[index], 'announced');
}

/**
 * V1: if another engine has stored a status meanwhile, or if this call has written to another target than the due one, another call
 * goes on.
 * V3: this also holds if the Transaction was deleted in the middle of a window.
 */
export function elsewhere({ due, status, touched, isOvertaken, after }: Observation): Step | undefined {
  const isOther = touched !== undefined && 'index' in due && due.index !== touched;
  const isLettingGo = due.kind === 'releaseFields' || due.kind === 'cleanUp';
  const isDeleted = isLettingGo && (after === 'apply' || after === 'await');
  return isOther || isOvertaken || isDeleted
    ? setStatus(status, 'this call has already written to other objects', 'now')
    : undefined;
}
