// Limits how many callers run at a time; the others wait in order. So a caller knows how long it waited before it sends a request. A wait
// inside a connection pool would hide this time.
//
// A tenant runs only as many at a time as are left free for others: the first tenant half, the next one half of the rest, and so on. So a
// tenant whose requests hang never takes all, however many it has.

interface Caller {
  /** Callers without a tenant have no limit of their own. */
  readonly tenant?: string | undefined;
  /** If it is aborted, a waiting caller is rejected with its reason. */
  readonly signal?: AbortSignal;
}

interface Slots {
  /** Resolves at the caller's turn. The caller must call the returned function once, at the end of the turn. */
  take(caller?: Caller): Promise<() => void>;
  /** How many callers of the tenant wait. */
  waiting(tenant: string): number;
}

interface Waiting {
  readonly tenant: string | undefined;
  readonly start: () => void;
}

/** `reserve`: what no tenant takes. */
export function createSlots(count: number, reserve = 0): Slots {
  const waiting = new Set<Waiting>();
  const running = new Map<string, number>();
  let free = count;
  const mayRun = (tenant: string | undefined): boolean =>
    tenant === undefined ? free > 0 : (running.get(tenant) ?? 0) < free - reserve;
  const note = (tenant: string | undefined, more: 1 | -1): void => {
    free -= more;
    if (tenant === undefined) return;
    const now = (running.get(tenant) ?? 0) + more;
    if (now === 0) running.delete(tenant);
    else running.set(tenant, now);
  };
  const go = (): void => {
    for (const one of waiting) {
      if (free === 0) return;
      if (!mayRun(one.tenant)) continue;
      waiting.delete(one);
      note(one.tenant, 1);
      one.start();
    }
  };
  const turn = (tenant: string | undefined, signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const start = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const one = { tenant, start };
      const leave = (): void => {
        waiting.delete(one);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      waiting.add(one);
      go();
    });
  return {
    async take({ tenant, signal } = {}) {
      signal?.throwIfAborted();
      await turn(tenant, signal);
      return () => {
        note(tenant, -1);
        go();
      };
    },
    waiting: (tenant) => [...waiting].filter((one) => one.tenant === tenant).length,
  };
}
