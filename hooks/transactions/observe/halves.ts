// A change that recreates its object (model/halves.ts) has one half that is due. After the reads, the stages see only that half, as
// a Delete or a Create.
import type { SnapshotEntry } from '../model/entry.ts';
import { creatingHalf, isDeletingHalf } from '../model/halves.ts';
import type { Transaction } from '../model/transaction.ts';
import { halfToUndo, nextHalf } from '../writes/halves.ts';
import type { ItemView } from './observation.ts';

interface HalfContext {
  readonly transaction: Transaction;
  readonly direction: 'forward' | 'backward';
}

/** What differs in the view of an item, given its entry and its live object. */
export function dueHalf(
  { transaction, direction }: HalfContext,
  { item, change, live, snapshot }: Pick<ItemView, 'item' | 'change' | 'live' | 'snapshot'>,
  entry: SnapshotEntry,
): Partial<Pick<ItemView, 'change' | 'snapshot'>> {
  if (entry.recreates !== true || snapshot.kind !== 'stored') return {};
  const seen = { item, live: live.kind === 'present' ? live.object : undefined };
  const half = direction === 'forward' ? nextHalf(entry, seen) : halfToUndo(entry, seen, transaction);
  const entries = snapshot.entries.map((one) => (one === entry ? half : one));
  return { snapshot: { ...snapshot, entries }, ...(isDeletingHalf(half) ? { change: { ...change, type: 'Delete' } } : {}) };
}

/** The object of a gate: the object that was created. Nothing in it is from before. */
export function gatedHalf(entry: SnapshotEntry): SnapshotEntry {
  if (entry.recreates !== true) return entry;
  const { prior: _former, ...made } = creatingHalf(entry);
  return made;
}
