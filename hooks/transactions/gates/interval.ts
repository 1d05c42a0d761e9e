// How long to wait until the next read of open gates. This follows from stored times and the API server's clock alone.

import { storedResolution } from '../../objects/time.ts';

/** In ms. */
const [least, most, each] = [200, 10_000, 50] as const;
/** Of the time that was waited so far. */
const part = 1 / 10;

interface Waiting {
  /** Ms since the gates are open. */
  readonly waited: number;
  /** The number of open gates: each attempt reads each open gate. */
  readonly open: number;
  /** How many Transactions of the namespace poll, if the process knows. */
  readonly polled?: number | undefined;
  /** Ms until the next timeout, end of `stableFor` or list of Pods. */
  readonly left: number;
  /** Ms: spec.lockTimeout, because an attempt also renews the locks. */
  readonly lockTimeout: number;
}

export function intervalOf({ waited, open, polled = 0, left, lockTimeout }: Waiting): number {
  const own = Math.min(most, Math.max(waited * part, open * each));
  return Math.max(least, Math.min(Math.max(own, polled * each), lockTimeout / 4, left));
}

/** Ms for which the call that made a change polls its gate: waits must not hold the workers of Metacontroller for longer. */
export const patienceInCall = 500;
/** Ms before the second read of such a call: the API server mostly serves a CRD by then. */
export const firstPause = 50;

// The times at which the engine lists the Pods of an open gate: they follow from stored times, so that processes that answer calls in
// turn mostly share one list. If no call makes a list in time, the engine skips it: the next list follows soon.

/** In ms: until the first list, between two, and for how long a list is due. */
const [firstList, betweenLists, leastTurn] = [5_000, 10_000, 2_000] as const;

interface Listing {
  /** Since when the gate is open. */
  readonly since: number;
  /** Since when a Pod is known to fail. */
  readonly failingSince: number | undefined;
  readonly now: number;
}

/** `due`: the time of the list that is due now. `left`: ms until the next one. */
export function podListing({ since, failingSince, now }: Listing): { readonly due?: number; readonly left: number } {
  const first = failingSince === undefined ? since + firstList : failingSince + betweenLists;
  if (now < first) return { left: first - now };
  const last = first + Math.floor((now - first) / betweenLists) * betweenLists;
  // The next poll must not be in the same turn. The API server's clock has whole seconds.
  const usual = Math.floor(((last - since) * part) / storedResolution) * storedResolution;
  const turn = Math.min(Math.max(leastTurn, usual), betweenLists / 2);
  return { ...(now - last < turn ? { due: last } : {}), left: last + betweenLists - now };
}
