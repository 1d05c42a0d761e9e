// What a process remembers between calls. If it forgets everything, calls take longer; nothing goes wrong.

import type { Clock } from '../objects/cluster.ts';
import type { JsonObject } from '../objects/json.ts';
import { createLruCache } from '../objects/lru-cache.ts';
import { begunAt, noWrites, type OwnWrites, sentOf, signedAs } from './in-flight/in-flight.ts';
import { createPodTurns, type PodTurns } from './observe/new-pods.ts';
import { createPolled, type OpenGateCounts } from './observe/polled.ts';
import { type CachedSnapshot, mostCached, type SnapshotCache } from './observe/snapshot.ts';

/** What a process knows of its earlier calls for a Transaction. */
interface Recalled extends OwnWrites {
  /** Consecutive calls that only waited. */
  readonly waits: number;
}

interface Remembered extends Recalled {
  /** Monotonic ms of the first refusal in a row, of calls that a refusal held up. */
  readonly refusedAt?: number;
  /** Consecutive calls that met transient trouble. */
  readonly troubles: number;
  /** Monotonic ms before which the process requests nothing for the Transaction. */
  readonly notBefore?: number;
  readonly turn?: NextFence;
}

/** What a process knows of its next turn, so that it can sign the Lease before it reads. */
export interface NextFence {
  /** The Lease of the first change; absent to keep the known Lease. */
  readonly lease?: JsonObject;
  /** Whether a change is next, and the last answer changed the stored status. */
  readonly isNext: boolean;
}

const mostRemembered = 10_000;

/** How a call ended. */
export interface Ended {
  /** Whether the call met transient trouble. */
  readonly isTroubled: boolean;
  /** Whether a list continues in the next call: this counts as progress, however long it takes. */
  readonly isLooking?: boolean;
  /** Whether the step waits for others, and nothing has changed. */
  readonly isWaiting: boolean;
  /** Whether a refusal, which is not final yet, held it up. */
  readonly isRefused?: boolean;
  /** Retry-After of the API server, in ms. */
  readonly stayAway: number;
}

export interface Memory {
  readonly snapshots: SnapshotCache;
  readonly podTurns: PodTurns;
  readonly polled: OpenGateCounts;
  /** `refusedFor`: ms since the first refusal in a row, 0 without any. */
  recall(uid: string): Recalled & { readonly refusedFor: number };
  /** This process has signed the Lease. `unsettledAt`: when it replaced a writer that may have left a request unanswered. */
  signed(uid: string, writer: string, unsettledAt: number | undefined): void;
  /** This process has made a change. */
  sent(uid: string, index: number): void;
  /** This process has made the first half of a change. */
  begun(uid: string, index: number): void;
  /** A request of this process got no answer, at `time` in ms by the API server's clock. */
  unsettled(uid: string, time: number): void;
  /** An answer of this process has called its writer settled. */
  settled(uid: string): void;
  /** Returns the seconds to wait before the next try, for a call that met transient trouble. */
  remember(uid: string, ended: Ended): number;
  rememberFence(uid: string, turn: NextFence): void;
  /** The Lease to sign, if a change is next. */
  leaseToFence(uid: string): JsonObject | undefined;
  /** ms until the process may request something for the Transaction again; 0 if it may now. */
  pauseLeft(uid: string): number;
  forget(uid: string): void;
}

/** In seconds. */
const longestPauseSeconds = 30;
const firstPauseSeconds = 0.2;

const nothing: Remembered = { troubles: 0, waits: 0, ...noWrites };

export function createMemory(clock: Pick<Clock, 'monotonic'>, random: () => number): Memory {
  const calls = createLruCache<Remembered>({ most: mostRemembered });
  const snapshots = createLruCache<CachedSnapshot>({ most: mostCached, weigh: ({ memory }) => memory });
  const polled = createPolled(clock);
  const recalled = (uid: string): Remembered => calls.get(uid) ?? nothing;
  return {
    snapshots,
    podTurns: createPodTurns(),
    polled,
    recall: (uid) => {
      const { refusedAt = clock.monotonic(), ...known } = recalled(uid);
      return { ...known, refusedFor: clock.monotonic() - refusedAt };
    },
    signed: (uid, writer, unsettledAt) => {
      calls.set(uid, { ...recalled(uid), ...signedAs(writer, unsettledAt) });
    },
    sent: (uid, index) => calls.set(uid, { ...recalled(uid), ...sentOf(recalled(uid), index) }),
    begun: (uid, index) => calls.set(uid, { ...recalled(uid), ...begunAt(index) }),
    unsettled: (uid, unsettledAt) => calls.set(uid, { ...recalled(uid), unsettledAt }),
    settled: (uid) => calls.set(uid, { ...recalled(uid), isOpen: false }),
    remember: (uid, ended) => {
      const { isTroubled, isWaiting, stayAway } = ended;
      const { notBefore: _over, refusedAt, ...known } = recalled(uid);
      const troubles = troublesAfter(known, ended);
      const waits = isWaiting || isTroubled ? known.waits + 1 : 0;
      const away = stayAway > 0 ? { notBefore: clock.monotonic() + stayAway } : {};
      const refused = refusedSince(refusedAt, ended, clock.monotonic());
      calls.set(uid, { ...known, troubles, waits, ...away, ...refused });
      // The pause doubles, with jitter: many Transactions must not return at the same time to a server that is just recovering.
      const pause = Math.min(longestPauseSeconds, firstPauseSeconds * 2 ** Math.min(troubles - 1, 10)) * (0.75 + random() / 2);
      return Math.max(pause, stayAway / 1_000);
    },
    rememberFence: (uid, turn) => {
      const known = recalled(uid);
      calls.set(uid, { ...known, turn: { ...known.turn, ...turn } });
    },
    leaseToFence: (uid) => {
      const { isNext, lease } = recalled(uid).turn ?? {};
      return isNext === true ? lease : undefined;
    },
    pauseLeft: (uid) => Math.max(0, (recalled(uid).notBefore ?? 0) - clock.monotonic()),
    forget: (uid) => {
      polled.forget(uid);
      for (const known of [calls, snapshots]) known.delete(uid);
    },
  };
}

function troublesAfter({ troubles }: Remembered, { isTroubled, isLooking }: Ended): number {
  if (!isTroubled) return 0;
  return isLooking === true ? 1 : troubles + 1;
}

// Trouble between two refusals says nothing about them.
function refusedSince(since: number | undefined, { isRefused, isTroubled }: Ended, now: number): Pick<Remembered, 'refusedAt'> {
  if (isRefused === true) return { refusedAt: since ?? now };
  return isTroubled && since !== undefined ? { refusedAt: since } : {};
}

/** Runs calls with the same key one after the other, and calls with different keys in parallel. */
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
