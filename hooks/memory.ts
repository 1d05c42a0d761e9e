// What a process remembers between calls. Losing it costs time, never correctness.

import type { Clock } from './cluster.ts';
import type { JsonObject } from './model/json.ts';
import type { Recollection } from './observe/observation.ts';
import type { Sightings } from './observe/sightings.ts';
import type { CachedSnapshot, SnapshotCache } from './observe/snapshot.ts';

interface Remembered extends Recollection {
  /** How many calls in a row met transient trouble. */
  readonly troubles: number;
  /** Monotonic ms before which nothing is to be requested for it. */
  readonly notBefore?: number;
  readonly turn?: Turn;
}

/** What a process knows of the turn that it takes next, so that it can take it before it looks. */
export interface Turn {
  /** The Lease of the first change; absent where it is the one that was known before. */
  readonly lease?: JsonObject;
  /** Whether a change is next, and the last answer has moved what is stored. */
  readonly isNext: boolean;
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
  /** Whether the call met transient trouble. */
  readonly isTroubled: boolean;
  /** Whether what is due waits for others, and nothing has changed. */
  readonly isWaiting: boolean;
  /** Ms for which the API server has said to stay away. */
  readonly stayAway: number;
}

export interface Memory {
  readonly snapshots: SnapshotCache;
  readonly sightings: Sightings;
  recall(uid: string): Recollection;
  /** This process has put its name into the Lease; `unsettledAt`: in place of one that may have left a request unanswered. */
  signed(uid: string, writer: string, unsettledAt: number | undefined): void;
  /** This process has made a change. */
  sent(uid: string, index: number): void;
  /** A request of this process stayed unanswered; when, in ms by the API server's clock. */
  unsettled(uid: string, time: number): void;
  /** An answer has called its writer settled. */
  settled(uid: string): void;
  /** Returns the pause before the next try, in seconds, for a call that met transient trouble. */
  remember(uid: string, ended: Ended): number;
  keepTurn(uid: string, turn: Turn): void;
  /** The Lease to put its name into, if a change is next. */
  nextTurn(uid: string): JsonObject | undefined;
  /** Ms until something may be requested for it again; 0 when at once. */
  pauseLeft(uid: string): number;
  forget(uid: string): void;
}

/** Seconds. */
const longestPause = 30;
const firstPause = 0.2;

const nothing: Remembered = { troubles: 0, waits: 0, isOpen: false };

/** `sighting`: ms for which what was seen to be there counts as being there. */
export function createMemory(clock: Pick<Clock, 'monotonic'>, random: () => number, sighting: number): Memory {
  const calls = bounded<Remembered>(mostRemembered);
  const snapshots = bounded<CachedSnapshot>(mostSnapshots, ({ size }) => size);
  const recalled = (uid: string): Remembered => calls.get(uid) ?? nothing;
  return {
    snapshots,
    sightings: createSightings(clock, sighting),
    recall: (uid) => recalled(uid),
    signed: (uid, writer, unsettledAt) => {
      calls.set(uid, { ...recalled(uid), writer, isOpen: true, ...(unsettledAt === undefined ? {} : { unsettledAt }) });
    },
    sent: (uid, index) => calls.set(uid, { ...recalled(uid), sentUpTo: Math.max(index, recalled(uid).sentUpTo ?? -1) }),
    unsettled: (uid, unsettledAt) => calls.set(uid, { ...recalled(uid), unsettledAt }),
    settled: (uid) => calls.set(uid, { ...recalled(uid), isOpen: false }),
    remember: (uid, { isTroubled, isWaiting, stayAway }) => {
      const { notBefore: _over, ...known } = recalled(uid);
      const troubles = isTroubled ? known.troubles + 1 : 0;
      const waits = isWaiting || isTroubled ? known.waits + 1 : 0;
      const away = stayAway > 0 ? { notBefore: clock.monotonic() + stayAway } : {};
      calls.set(uid, { ...known, troubles, waits, ...away });
      // Doubling, with jitter: many Transactions must not come back at once to a server that is just recovering.
      const pause = Math.min(longestPause, firstPause * 2 ** Math.min(troubles - 1, 10)) * (0.75 + random() / 2);
      return Math.max(pause, stayAway / 1_000);
    },
    keepTurn: (uid, turn) => {
      const known = recalled(uid);
      calls.set(uid, { ...known, turn: { ...known.turn, ...turn } });
    },
    nextTurn: (uid) => {
      const { isNext, lease } = recalled(uid).turn ?? {};
      return isNext === true ? lease : undefined;
    },
    pauseLeft: (uid) => Math.max(0, (recalled(uid).notBefore ?? 0) - clock.monotonic()),
    forget: (uid) => {
      calls.delete(uid);
      snapshots.delete(uid);
    },
  };
}

function createSightings(clock: Pick<Clock, 'monotonic'>, span: number): Sightings {
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
