// Targets of an undo that are read before their turn. What was read counts for one look at the Transaction; the write that follows
// names its version.

import type { SnapshotEntry } from '../model/entry.ts';
import { isToUndo } from '../model/item.ts';
import type { Status } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import type { Presence } from './observation.ts';
import { readLive } from './read.ts';
import type { SnapshotSource } from './snapshot.ts';

/** Reads ahead of their turn, at most. */
const mostAhead = 8;

/** For one look. */
export interface Ahead {
  /** What was read for the change `index`, once; else it is read now. The reads of `later` are begun. */
  take(index: number, later: readonly number[], read: (index: number) => Promise<Presence>): Promise<Presence>;
}

export function createAhead(): Ahead {
  const begun = new Map<number, Promise<Presence>>();
  return {
    take: (index, later, read) => {
      const wanted = begun.get(index) ?? read(index);
      begun.delete(index);
      for (const next of later.slice(0, mostAhead)) {
        if (begun.has(next)) continue;
        const reading = read(next);
        // It is met at its turn.
        reading.catch(() => undefined);
        begun.set(next, reading);
      }
      return wanted;
    },
  };
}

interface Due {
  readonly source: SnapshotSource;
  readonly transaction: Transaction;
  readonly status: Status;
  readonly index: number;
  readonly direction: 'forward' | 'backward';
  readonly ahead: Ahead | undefined;
}

/** The target of what is due; in an undo those whose turn is next are read beside it. */
export function readInTurn(due: Due, known: SnapshotEntry): Promise<Presence> {
  const { source, transaction, status, index, ahead, direction } = due;
  const entries = source.cache.get(transaction.uid)?.entries ?? [];
  const readAt = (at: number): Promise<Presence> => readLive(source.reader, transaction, entries[at] ?? known);
  if (ahead === undefined || direction === 'forward') return readAt(index);
  const earlier = status.items.flatMap((item, at) => (at < index && isToUndo(item) ? [at] : []));
  return ahead.take(index, earlier.toReversed(), readAt);
}
