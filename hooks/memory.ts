// What a process remembers between calls. Losing it costs time, never correctness.

import type { Recollection } from './observe/observation.ts';
import type { CachedSnapshot, SnapshotCache } from './observe/snapshot.ts';

interface Remembered extends Recollection {
  /** How many calls in a row met transient trouble. */
  readonly troubles: number;
}

/** Entries beyond this are forgotten, the oldest first. */
const mostRemembered = 10_000;
const mostSnapshots = 64;

function bounded<Value>(most: number): {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
} {
  const entries = new Map<string, Value>();
  return {
    get: (key) => entries.get(key),
    set: (key, value) => {
      entries.delete(key);
      entries.set(key, value);
      const oldest = entries.size > most ? entries.keys().next() : undefined;
      if (oldest?.done === false) entries.delete(oldest.value);
    },
    delete: (key) => void entries.delete(key),
  };
}

export interface Memory {
  readonly snapshots: SnapshotCache;
  recall(uid: string): Recollection | undefined;
  /** Returns the pause before the next try, in seconds, when the call met transient trouble. */
  remember(uid: string, recollection: Recollection, isTroubled: boolean): number;
  forget(uid: string): void;
}

const longestPause = 30;

export function createMemory(random: () => number): Memory {
  const calls = bounded<Remembered>(mostRemembered);
  const snapshots = bounded<CachedSnapshot>(mostSnapshots);
  return {
    snapshots,
    recall: (uid) => calls.get(uid),
    remember: (uid, recollection, isTroubled) => {
      const troubles = isTroubled ? (calls.get(uid)?.troubles ?? 0) + 1 : 0;
      calls.set(uid, { ...recollection, troubles });
      // Doubling, with jitter: many Transactions must not come back at once to a server that is just recovering.
      return Math.min(longestPause, 2 ** Math.min(troubles - 1, 10)) * (0.75 + random() / 2);
    },
    forget: (uid) => {
      calls.delete(uid);
      snapshots.delete(uid);
    },
  };
}

/** Runs calls for one key one after the other, calls for different keys at once. */
export function createTurns(): <Result>(key: string, work: () => Promise<Result>) => Promise<Result> {
  const tails = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const previous = tails.get(key) ?? Promise.resolve();
    const turn = previous.then(work, work);
    const tail = turn.catch(() => undefined);
    tails.set(key, tail);
    try {
      return await turn;
    } finally {
      if (tails.get(key) === tail) tails.delete(key);
    }
  };
}
