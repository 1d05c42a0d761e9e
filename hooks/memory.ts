// What a process remembers between calls. Losing it costs time, never correctness.

import type { Clock } from './cluster.ts';
import { noWrites, type OwnWrites, sentUpTo, signedAs } from './in-flight/own-writes.ts';
import type { JsonObject } from './model/json.ts';
import { bounded } from './observe/bounded.ts';
import { createSightings, type Sightings } from './observe/sightings.ts';
import type { CachedSnapshot, SnapshotCache } from './observe/snapshot.ts';
import { createUnfinished, type UnfinishedLooks } from './observe/unfinished.ts';

/** What a process knows of its own earlier calls for the same Transaction. */
interface Recalled extends OwnWrites {
  /** How many calls in a row have only waited. */
  readonly waits: number;
}

interface Remembered extends Recalled {
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

/** How a call ended. */
export interface Ended {
  /** Whether the call met transient trouble. */
  readonly isTroubled: boolean;
  /** Whether a look goes on in the next call: that is progress, however long it takes. */
  readonly isLooking?: boolean;
  /** Whether what is due waits for others, and nothing has changed. */
  readonly isWaiting: boolean;
  /** Ms for which the API server sent Retry-After. */
  readonly stayAway: number;
}

export interface Memory {
  readonly snapshots: SnapshotCache;
  readonly sightings: Sightings;
  readonly unfinished: UnfinishedLooks;
  recall(uid: string): Recalled;
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

const nothing: Remembered = { troubles: 0, waits: 0, ...noWrites };

/** `sighting`: ms for which what was seen to be there counts as being there. */
export function createMemory(clock: Pick<Clock, 'monotonic'>, random: () => number, sighting: number): Memory {
  const calls = bounded<Remembered>(mostRemembered);
  const snapshots = bounded<CachedSnapshot>(mostSnapshots, ({ size }) => size);
  const unfinished = createUnfinished(clock);
  const recalled = (uid: string): Remembered => calls.get(uid) ?? nothing;
  return {
    snapshots,
    unfinished,
    sightings: createSightings(clock, sighting, mostRemembered),
    recall: (uid) => recalled(uid),
    signed: (uid, writer, unsettledAt) => {
      calls.set(uid, { ...recalled(uid), ...signedAs(writer, unsettledAt) });
    },
    sent: (uid, index) => calls.set(uid, { ...recalled(uid), ...sentUpTo(recalled(uid), index) }),
    unsettled: (uid, unsettledAt) => calls.set(uid, { ...recalled(uid), unsettledAt }),
    settled: (uid) => calls.set(uid, { ...recalled(uid), isOpen: false }),
    remember: (uid, ended) => {
      const { isTroubled, isWaiting, stayAway } = ended;
      const { notBefore: _over, ...known } = recalled(uid);
      const troubles = troublesAfter(known, ended);
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
      unfinished.delete(uid);
      snapshots.delete(uid);
    },
  };
}

function troublesAfter({ troubles }: Remembered, { isTroubled, isLooking }: Ended): number {
  if (!isTroubled) return 0;
  return isLooking === true ? 1 : troubles + 1;
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
