// Looks that take longer than a call: their results so far are kept for the next call of the same Transaction.
import type { Clock } from '../../objects/cluster.ts';
import { createLruCache } from '../../objects/lru-cache.ts';
import type { Lists } from './looks.ts';

export interface UnfinishedLooks {
  /** Keeps the lists that a call had no time to complete; none if all are complete. */
  keep(uid: string, lists: Lists): void;
  /** The kept lists, if they are recent. */
  of(uid: string): Lists;
  delete(uid: string): void;
}

/** Items in all kept lists, of all Transactions. */
const mostFound = 200_000;

/** ms for which kept lists count: longer than any pause between calls. */
const longestPause = 60_000;

interface Kept {
  readonly lists: Lists;
  /** Monotonic ms. */
  readonly keptAt: number;
}

export function createUnfinished(clock: Pick<Clock, 'monotonic'>): UnfinishedLooks {
  const kept = createLruCache<Kept>({ most: mostFound, weigh: ({ lists }) => 1 + sizeOf(lists) });
  return {
    keep(uid, lists) {
      if (lists.size === 0) kept.delete(uid);
      else kept.set(uid, { lists, keptAt: clock.monotonic() });
    },
    of(uid) {
      const known = kept.get(uid);
      return known === undefined || clock.monotonic() > known.keptAt + longestPause ? new Map() : known.lists;
    },
    delete: kept.delete,
  };
}

function sizeOf(lists: Lists): number {
  return [...lists.values()].flatMap((look) => [...look.values()]).reduce((sum, { count }) => sum + count, 0);
}
