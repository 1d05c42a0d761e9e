// The order of an undo beyond that of the spec. While the engine does not know whether an object stays, it does not take away or
// change the objects that this object needs. It undoes the object before the objects that it needs (needs.ts), whatever their order
// in the spec. It writes an object only while admission is as it was before the release, as far as that is possible (changed-writes.ts).
// It recreates an object only after the deletions that would delete it along.
import { isDeletedAlong } from '../hazards/dependents.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { type Item, type UndoOrder, wasApplied } from '../model/item.ts';
import { isChanger, mayChangeUndo } from './changed-writes.ts';
import { keptWith, type Needs, needsOf } from './needs.ts';

/**
 * The engine undoes changes that this result does not name in the order of the spec, the last change first. The engine undoes
 * objects that need each other in the order of the spec, too.
 */
export function undoOrder(entries: readonly SnapshotEntry[]): UndoOrder {
  const needs = needsOf(entries.map(({ index, target, expected }) => ({ index, target, object: expected })));
  const successors = successorsOf(entries);
  const before = merged(needs, successors);
  const inCircles = circlesIn(before);
  const predecessorsOf = (entry: SnapshotEntry): ReadonlySet<number> => {
    const isBefore = (other: number): boolean => !(inCircles.has(other) && inCircles.has(entry.index));
    // What was deleted is recreated in its turn, whatever needs it.
    const counting = entry.type === 'Delete' ? successors : before;
    return new Set([...counting].flatMap(([other, later]) => (later.has(entry.index) && isBefore(other) ? [other] : [])));
  };
  const taking = entries.filter(isTakenAway);
  const orders = entries.map((entry) => {
    const takers = taking.filter((first) => entry.type === 'Delete' && isDeletedAlong(first.target, entry.target));
    const indexes = new Set([...predecessorsOf(entry), ...takers.map(({ index }) => index)]);
    return [entry.index, { indexes, isAwaited: isTakenAway(entry) || takers.length > 0 }] as const;
  });
  return new Map(orders.filter(([, { indexes }]) => indexes.size > 0));
}

/** By the index of a change: the changes whose undo comes later, because one of the two may change the write of the other. */
function successorsOf(entries: readonly SnapshotEntry[]): Needs {
  const changers = entries.filter(isChanger);
  const isLast = ({ type }: SnapshotEntry): boolean => type === 'Delete';
  const after = (first: SnapshotEntry): readonly SnapshotEntry[] =>
    isChanger(first)
      ? entries.filter((undone) => !isLast(first) && mayChangeUndo(first, undone))
      : changers.filter((changer) => isLast(changer) && mayChangeUndo(changer, first));
  const successors = entries.map((first) => [first.index, new Set(after(first).map(({ index }) => index))] as const);
  return new Map(successors.filter(([, { size }]) => size > 0));
}

function merged(one: Needs, other: Needs): Needs {
  if (other.size === 0) return one;
  const all = new Set([...one.keys(), ...other.keys()]);
  return new Map([...all].map((index) => [index, new Set([...(one.get(index) ?? []), ...(other.get(index) ?? [])])]));
}

/** Whether the undo deletes the object that the change has made. */
function isTakenAway({ type, recreates }: SnapshotEntry): boolean {
  return type === 'Create' || recreates === true;
}

// Removes every index that needs no other index of the rest, or that no other index of the rest needs. The circles, and the indexes
// between circles, remain.
function circlesIn(needs: Needs): ReadonlySet<number> {
  const rest = new Set(needs.keys());
  for (let before = -1; before !== rest.size; ) {
    before = rest.size;
    const needed = new Set([...rest].flatMap((index) => [...(needs.get(index) ?? [])]));
    for (const index of rest)
      if (!needed.has(index) || ![...(needs.get(index) ?? [])].some((other) => rest.has(other))) rest.delete(index);
  }
  return rest;
}

/** The entry of an object that stays and needs that object; undefined if there is no such object. */
export function neededByKept(
  items: readonly Item[],
  entries: readonly SnapshotEntry[],
  needed: SnapshotEntry,
): SnapshotEntry | undefined {
  const left = items.flatMap(({ progress }, index) =>
    progress.kind === 'notRestored' || progress.kind === 'kept' ? [index] : [],
  );
  if (left.length === 0) return undefined;
  const staying = entries.map((entry) => ({
    index: entry.index,
    target: entry.target,
    object: stays(items[entry.index], entry),
  }));
  const by = keptWith(staying, new Set(left)).get(needed.index);
  return by === undefined ? undefined : entries.find(({ index }) => index === by);
}

/** Whether the undo left the object deleted that somebody had deleted: it needs nothing. */
function isGone({ progress, error }: Item): boolean {
  return progress.kind === 'notRestored' && error?.reason === 'Gone';
}

/** The object that the change has made, if the undo has not taken it back. */
function stays(item: Item | undefined, { expected }: SnapshotEntry): SnapshotEntry['expected'] {
  if (item === undefined || item.progress.kind === 'restored' || isGone(item)) return undefined;
  return item.deleted === true && !wasApplied(item) ? undefined : expected;
}
