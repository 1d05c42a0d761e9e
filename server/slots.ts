// Limits how many run at a time; the others wait in order. The time that one waited is then known before anything is sent; waiting
// inside a connection pool would hide it.

interface Slots {
  /**
   * Resolves when it is the caller's turn. The caller must call the returned function once, when the turn is over. Who waits leaves, and is
   * rejected with its reason, once the signal is aborted.
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
