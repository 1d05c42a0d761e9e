// The results of a call's lists that the next call of this Transaction needs. If a call was too short, these are the objects found
// so far. They also include the kinds to list once more before a Delete.
import type { Clock } from '../../objects/cluster.ts';
import { createLruCache } from '../../objects/lru-cache.ts';
import type { KnownKinds, Lists } from '../reading/call-reads.ts';

interface UnfinishedLists {
  /** Keeps the lists that a call had no time to complete; none if all are complete. */
  keep(uid: string, lists: Lists): void;
  /** The kept lists, if they are recent. */
  of(uid: string): Lists;
  kindsOf(uid: string): KnownKinds;
  delete(uid: string): void;
}

/** The most items in all kept lists of all Transactions, and the most kinds. */
const mostFound = 200_000;

/** ms for which kept lists count: longer than any pause between calls. */
const longestPauseMs = 60_000;

interface Kept {
  readonly lists: Lists;
  /** Monotonic ms. */
  readonly keptAt: number;
}

export function createUnfinished(clock: Pick<Clock, 'monotonic'>): UnfinishedLists {
  const kept = createLruCache<Kept>({ most: mostFound, weigh: ({ lists }) => 1 + sizeOf(lists) });
  const kinds = createLruCache<ReadonlyMap<string, ReadonlySet<string>>>({
    most: mostFound,
    weigh: (places) => [...places.values()].reduce((sum, { size }) => sum + size, 1),
  });
  return {
    keep(uid, lists) {
      if (lists.size === 0) kept.delete(uid);
      else kept.set(uid, { lists, keptAt: clock.monotonic() });
    },
    of(uid) {
      const known = kept.get(uid);
      return known === undefined || clock.monotonic() > known.keptAt + longestPauseMs ? new Map() : known.lists;
    },
    kindsOf: (uid) => ({
      get: (place) => kinds.get(uid)?.get(place),
      set: (place, found) => kinds.set(uid, new Map([...(kinds.get(uid) ?? []), [place, found]])),
    }),
    delete(uid) {
      kept.delete(uid);
      kinds.delete(uid);
    },
  };
}

function sizeOf(lists: Lists): number {
  return [...lists.values()].flatMap((one) => [...one.values()]).reduce((sum, { count }) => sum + count, 0);
}
