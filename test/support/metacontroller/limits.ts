// Token buckets like client-go's: for the requests of a client, the retries of a work queue, and Events.

export interface Bucket {
  /** Takes a token, possibly a future one, and returns the ms to wait until it may be used. */
  reserve(): number;
  /** Takes a token if there is one now. */
  tryTake(): boolean;
}

interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export function tokenBucket({ perSecond, burst }: Rate, now: () => number = () => performance.now()): Bucket {
  let tokens = burst;
  let last = now();
  const refill = (): void => {
    const at = now();
    tokens = Math.min(burst, tokens + ((at - last) * perSecond) / 1000);
    last = at;
  };
  return {
    reserve() {
      refill();
      tokens -= 1;
      return tokens >= 0 ? 0 : (-tokens * 1000) / perSecond;
    },
    tryTake() {
      refill();
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}
