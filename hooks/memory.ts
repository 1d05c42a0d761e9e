// What a process remembers between calls. Losing it costs time, never correctness.

import type { Clock } from './cluster.ts';
import type { Recollection } from './observe/observation.ts';
import type { Sightings } from './observe/sightings.ts';
import type { CachedSnapshot, SnapshotCache } from './observe/snapshot.ts';

interface Remembered {
  /** Monotonic ms of the last moment at which a write of an unknown fate may have been sent; undefined when there was none. */
  readonly uncertainAt?: number | undefined;
  /** Monotonic ms of the first sight of its undo: whoever began a change had not seen it then. */
  readonly undoSeenAt?: number | undefined;
  /** It was changed from beginning to end by this process alone. */
  readonly isAlone?: boolean;
  readonly nextLock?: string | undefined;
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

/** What a Transaction was found to be at. */
export interface Found {
  /** Nothing was ever sent to its targets. */
  readonly isNew: boolean;
  readonly isBeingUndone: boolean;
}

/** How a call ended. */
export interface Ended {
  /** Whether a write was sent to which no definitive answer came. */
  readonly isUncertain: boolean;
  /** Whether the call met transient trouble. */
  readonly isTroubled: boolean;
  /** The Lease that the next call will need, as far as can be told. */
  readonly nextLock: string | undefined;
}

export interface Memory {
  readonly snapshots: SnapshotCache;
  readonly sightings: Sightings;
  /** To be called before anything is looked at: what lands after the look is under way until then. */
  recall(uid: string, found: Found): Recollection;
  /** Others may have sent writes until now. */
  doubt(uid: string): void;
  /** All was sent by this process, and none of it is of unknown fate any longer than it knows. */
  trust(uid: string): void;
  /** Returns the pause before the next try, in seconds, for a call that met transient trouble. */
  remember(uid: string, ended: Ended): number;
  /** The Lease that the last call told of. */
  nextLock(uid: string): string | undefined;
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
  const isPast = (moment: number): boolean => clock.monotonic() > moment + lateWindow;
  // What this process does not remember, another one may have served.
  const recalled = (uid: string): Remembered => calls.get(uid) ?? { troubles: 0, uncertainAt: clock.monotonic() };
  return {
    snapshots,
    sightings: createSightings(clock, sighting),
    recall: (uid, { isNew, isBeingUndone }) => {
      const known = calls.get(uid) ?? (isNew ? { troubles: 0 } : recalled(uid));
      const undoSeenAt = known.undoSeenAt ?? (isBeingUndone ? clock.monotonic() : undefined);
      calls.set(uid, { ...known, undoSeenAt });
      return {
        isSettled: known.uncertainAt === undefined || isPast(known.uncertainAt),
        isUndoOld: undoSeenAt !== undefined && isPast(undoSeenAt),
      };
    },
    doubt: (uid) => {
      const known = recalled(uid);
      if (known.isAlone !== true) calls.set(uid, { ...known, uncertainAt: clock.monotonic() });
    },
    trust: (uid) => calls.set(uid, { ...recalled(uid), isAlone: true }),
    remember: (uid, { isUncertain, isTroubled, nextLock }) => {
      const known = recalled(uid);
      const troubles = isTroubled ? known.troubles + 1 : 0;
      calls.set(uid, { ...known, troubles, nextLock, ...(isUncertain && { uncertainAt: clock.monotonic() }) });
      // Doubling, with jitter: many Transactions must not come back at once to a server that is just recovering.
      return Math.min(longestPause, 2 ** Math.min(troubles - 1, 10)) * (0.75 + random() / 2);
    },
    nextLock: (uid) => calls.get(uid)?.nextLock,
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
