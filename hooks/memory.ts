// What a process remembers between calls. Losing it costs time, never correctness.

import type { Clock } from './cluster.ts';
import type { Recollection } from './observe/observation.ts';
import type { Sightings } from './observe/sightings.ts';
import type { CachedSnapshot, SnapshotCache } from './observe/snapshot.ts';

interface Remembered {
  /** The stored version that the last call started from, and the one that it answered. */
  readonly versions: readonly number[];
  /** Monotonic ms of the last moment at which a write of an unknown fate may have been sent; undefined when there was none. */
  readonly uncertainAt: number | undefined;
  /** How many calls in a row met transient trouble. */
  readonly troubles: number;
}

const mostRemembered = 10_000;
/** Characters of all snapshots; as objects they take several times that in bytes. */
const mostSnapshots = 8_000_000;

interface Bounded<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
}

/** Forgets what was not used for the longest time once all weigh more than `most`; each weighs 1 unless `weigh` says otherwise. */
function bounded<Value>(most: number, weigh: (value: Value) => number = () => 1): Bounded<Value> {
  const entries = new Map<string, { readonly value: Value; readonly weight: number }>();
  let total = 0;
  const remove = (key: string): void => {
    total -= entries.get(key)?.weight ?? 0;
    entries.delete(key);
  };
  return {
    get: (key) => {
      const found = entries.get(key);
      if (found === undefined) return undefined;
      entries.delete(key);
      entries.set(key, found);
      return found.value;
    },
    set: (key, value) => {
      remove(key);
      const weight = weigh(value);
      if (weight > most) return;
      entries.set(key, { value, weight });
      total += weight;
      for (const oldest of entries.keys()) {
        if (total <= most) break;
        remove(oldest);
      }
    },
    delete: remove,
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
  readonly sightings: Sightings;
  /** Whether everything that was ever sent for this Transaction, stored at that version, is known to have ended. */
  recall(uid: string, version: number): Recollection;
  /** Returns the pause before the next try, in seconds, for a call that met transient trouble. */
  remember(uid: string, ended: Ended): number;
  forget(uid: string): void;
}

const longestPause = 30;

export interface Spans {
  /** ms after which a write that was sent cannot land any more. */
  readonly lateWindow: number;
  /** ms for which what was seen to be there counts as being there. */
  readonly sighting: number;
}

export function createMemory(clock: Clock, random: () => number, { lateWindow, sighting }: Spans): Memory {
  const calls = bounded<Remembered>(mostRemembered);
  const snapshots = bounded<CachedSnapshot>(mostSnapshots, ({ size }) => size);
  // A version that this process did not answer came about by another one, whose writes are not known here.
  const uncertainAt = (uid: string, version: number): number | undefined => {
    const last = calls.get(uid);
    return version === 0 || last?.versions.includes(version) === true ? last?.uncertainAt : clock.monotonic();
  };
  return {
    snapshots,
    sightings: createSightings(clock, sighting),
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

function createSightings(clock: Clock, span: number): Sightings {
  const seen = bounded<number>(mostRemembered);
  return {
    async look(key, ask) {
      const at = clock.monotonic();
      const last = seen.get(key);
      if (last !== undefined && at < last + span) return { kind: 'present', object: {} };
      const found = await ask();
      if (found.kind === 'present') seen.set(key, at);
      else seen.delete(key);
      return found;
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
