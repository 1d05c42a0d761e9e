// An undo reads the next targets in parallel, before their turn. Such a read counts only for one read of the Transaction. The write
// after it names the version that was read.

import { weightOf } from '../../objects/measure.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { type Item, isToUndo } from '../model/item.ts';
import type { Status } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import { dropping } from '../reading/memory-budget.ts';
import type { Presence } from './observation.ts';
import { readLive } from './read.ts';
import type { SnapshotSource } from './snapshot.ts';

/** Targets read ahead of their turn, at most. */
const mostAhead = 8;

interface Reads {
  now(index: number): Promise<Presence>;
  /** Undefined if the object is too large to be kept. */
  ahead(index: number): Promise<Presence | undefined>;
}

/** Bytes in memory of an object that is kept until its turn. */
const mostKept = 1024 * 1024;

function unlessLarge(found: Presence): Presence | undefined {
  return found.kind === 'present' && weightOf(found.object).memory > mostKept ? undefined : found;
}

/** Lives as long as one attempt. */
export interface Prefetch {
  /**
   * The target of the change `index`: from a read made ahead, at most once, otherwise read now. Also begins the reads of `later`.
   */
  take(index: number, later: readonly number[], read: Reads): Promise<Presence>;
}

export function createPrefetch(): Prefetch {
  const begun = new Map<number, Promise<Presence | undefined>>();
  return {
    take: async (index, later, read) => {
      const wanted = begun.get(index) ?? read.now(index);
      begun.delete(index);
      for (const next of later.slice(0, mostAhead)) {
        if (begun.has(next)) continue;
        const reading = read.ahead(next);
        // Whoever takes this read handles its failure.
        reading.catch(() => undefined);
        begun.set(next, reading);
      }
      return (await wanted) ?? read.now(index);
    },
  };
}

interface Due {
  readonly source: SnapshotSource;
  readonly transaction: Transaction;
  readonly status: Status;
  readonly index: number;
  readonly direction: 'forward' | 'backward';
  readonly ahead: Prefetch | undefined;
}

/** Reads the target of the change that is due. In an undo it also begins to read the targets that follow. */
export function readInTurn(due: Due, known: SnapshotEntry): Promise<Presence> {
  const { source, transaction, status, index, ahead, direction } = due;
  const entries = source.cache.get(transaction.uid)?.entries ?? [];
  const readAt = (at: number): Promise<Presence> => readLive(source.reader, transaction, entries[at] ?? known);
  const readAheadAt = (at: number): Promise<Presence | undefined> =>
    dropping(source.reader, async (reader) => unlessLarge(await readLive(reader, transaction, entries[at] ?? known)));
  if (ahead === undefined || direction === 'forward') return readAt(index);
  const isLater = (item: Item, at: number): boolean => at !== index && isToUndo(item) && item.waiting === undefined;
  const later = status.items.flatMap((item, at) => (isLater(item, at) ? [at] : []));
  return ahead.take(index, later.toReversed(), { now: readAt, ahead: readAheadAt });
}
