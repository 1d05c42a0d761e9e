// So many at a time, the others in the order they came. How long one waited is then known before anything is sent, which
// waiting inside a connection pool would hide.

export interface Slots {
  /** Resolves when it is the caller's turn; the function that it gives must be called once, when the turn is over. */
  take(): Promise<() => void>;
}

export function createSlots(count: number): Slots {
  const waiting: (() => void)[] = [];
  let free = count;
  const giveBack = () => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return {
    async take() {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      return giveBack;
    },
  };
}
