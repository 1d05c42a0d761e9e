// How long to wait until the next read of open gates. This follows from stored times and the API server's clock alone.

/** In ms. */
const [least, most, each] = [200, 10_000, 50] as const;
/** Of the time that was waited so far. */
const part = 1 / 10;

interface Waiting {
  /** Ms since the gates are open. */
  readonly waited: number;
  /** The number of open gates: each attempt reads each open gate. */
  readonly open: number;
  /** Ms until the next timeout or end of `stableFor`. */
  readonly left: number;
  /** Ms: spec.lockTimeout, because an attempt also renews the locks. */
  readonly lockTimeout: number;
}

export function intervalOf({ waited, open, left, lockTimeout }: Waiting): number {
  const usual = Math.max(least, waited * part, open * each);
  return Math.max(least, Math.min(usual, most, lockTimeout / 4, left));
}

/** Ms for which the call that made a change polls its gate: waits must not hold the workers of Metacontroller for longer. */
export const patienceInCall = 500;
/** Ms before the second read of such a call: the API server mostly serves a CRD by then. */
export const firstPause = 50;
