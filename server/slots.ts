// Limits how many callers run at a time; the others wait in order. So a caller knows how long it waited before it sends a request. A wait
// inside a connection pool would hide this time.

interface Slots {
  /**
   * Resolves at the caller's turn. The caller must call the returned function once, at the end of the turn. If the signal is aborted,
   * a waiting caller is rejected with the reason of the signal.
   */
  take(signal?: AbortSignal): Promise<() => void>;
}

export function createSlots(count: number): Slots {
  const waiting: (() => void)[] = [];
  let free = count;
  const giveBack = () => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  const turn = (signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const come = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        waiting.splice(waiting.indexOf(come), 1);
        reject(signal?.reason);
      };
      waiting.push(come);
      signal?.addEventListener('abort', leave, { once: true });
    });
  return {
    async take(signal) {
      signal?.throwIfAborted();
      if (free > 0) free -= 1;
      else await turn(signal);
      return giveBack;
    },
  };
}
