// What a process remembers between calls. Losing it costs time, never correctness.

import type { Clock } from './cluster.ts';
import type { Recollection } from './observe/observation.ts';
import type { CachedSnapshot, SnapshotCache } from './observe/snapshot.ts';

interface Remembered {
  /** The stored version that the last call started from, and the one that it answered. */
  readonly versions: readonly number[];
  /** Monotonic ms of the last moment at which a write of an unknown fate may have been sent; undefined when there was none. */
  readonly uncertainAt: number | undefined;
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

/** How a call ended. */
export interface Ended {
  readonly versions: readonly number[];
  /** Whether a write was sent to which no definitive answer came. */
  readonly isUncertain: boolean;
  /** Whether the call met transient trouble. */
  readonly isTroubled: boolean;
}

export interface Memory {
  readonly snapshots: SnapshotCache;
  /** Whether everything that was ever sent for this Transaction, stored at that version, is known to have ended. */
  recall(uid: string, version: number): Recollection;
  /** Returns the pause before the next try, in seconds, for a call that met transient trouble. */
  remember(uid: string, ended: Ended): number;
  forget(uid: string): void;
}

const longestPause = 30;

/** `lateWindow`: ms after which a write that was sent cannot land any more. */
export function createMemory(clock: Clock, random: () => number, lateWindow: number): Memory {
  const calls = bounded<Remembered>(mostRemembered);
  const snapshots = bounded<CachedSnapshot>(mostSnapshots);
  // A version that this process did not answer came about by another one, whose writes are not known here.
  const uncertainAt = (uid: string, version: number): number | undefined => {
    const last = calls.get(uid);
    return version === 0 || last?.versions.includes(version) === true ? last?.uncertainAt : clock.monotonic();
  };
  return {
    snapshots,
    recall: (uid, version) => {
      const since = uncertainAt(uid, version);
      return { isSettled: since === undefined || clock.monotonic() > since + lateWindow };
    },
    remember: (uid, { versions, isUncertain, isTroubled }) => {
      const troubles = isTroubled ? (calls.get(uid)?.troubles ?? 0) + 1 : 0;
      const since = isUncertain ? clock.monotonic() : uncertainAt(uid, versions[0] ?? 0);
      calls.set(uid, { versions, uncertainAt: since, troubles });
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
