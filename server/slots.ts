// Limits how many run at a time; the others wait in order. The time that one waited is then known before anything is sent; waiting
// inside a connection pool would hide it.

export interface Slots {
  /** Resolves when it is the caller's turn. The caller must call the returned function once, when the turn is over. */
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
