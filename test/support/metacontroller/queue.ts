// A work queue with the rules of client-go's:
// 1. A key waits at most once, however often it is added.
// 2. One worker at a time processes a key; if the key is added meanwhile, it is processed once more afterwards.
// 3. If several delays are set for one key, the earliest replaces the others. (So a backoff replaces a longer resync.)
// 4. A failing key waits 5 ms, doubled with each failure in a row up to 1000 s; retries of all keys together come at most 10 per
//    second after the first 100.
import { tokenBucket } from './limits.ts';

/** What happens with a key after it was processed. */
export type Verdict =
  | { readonly kind: 'forget' }
  | { readonly kind: 'backOff' }
  | { readonly kind: 'after'; readonly seconds: number };

interface WorkQueue {
  add(key: string): void;
  addAfter(key: string, seconds: number): void;
  /** Drops waiting keys, and resolves once no key is being processed. */
  close(): Promise<void>;
}

interface QueueOptions {
  readonly workers: number;
  /** Must not reject. */
  readonly process: (key: string) => Promise<Verdict>;
}

// setTimeout fires at once for longer times.
const longestTimer = 2 ** 31 - 1;

export function createQueue({ workers, process }: QueueOptions): WorkQueue {
  const waiting: string[] = [];
  const dirty = new Set<string>();
  const processing = new Map<string, Promise<void>>();
  const delays = createDelays(add);
  const backoff = createBackoff();
  let closed = false;

  function add(key: string): void {
    if (closed || dirty.has(key)) return;
    dirty.add(key);
    if (!processing.has(key)) waiting.push(key);
    pump();
  }

  function addAfter(key: string, seconds: number): void {
    if (closed) return;
    if (seconds > 0) delays.set(key, seconds * 1000);
    else add(key);
  }

  function pump(): void {
    while (!closed && processing.size < workers) {
      const key = waiting.shift();
      if (key === undefined) return;
      dirty.delete(key);
      // Set before the work begins, since the work may add its own key at once.
      processing.set(key, Promise.resolve());
      processing.set(key, run(key));
    }
  }

  async function run(key: string): Promise<void> {
    const verdict = await process(key);
    if (verdict.kind === 'after') addAfter(key, verdict.seconds);
    else if (verdict.kind === 'backOff') addAfter(key, backoff.next(key) / 1000);
    else backoff.forget(key);
    processing.delete(key);
    if (dirty.has(key)) waiting.push(key);
    pump();
  }

  return {
    add,
    addAfter,
    async close() {
      closed = true;
      delays.clear();
      await Promise.all(processing.values());
    },
  };
}

interface Delays {
  set(key: string, milliseconds: number): void;
  clear(): void;
}

function createDelays(ready: (key: string) => void): Delays {
  const entries = new Map<string, { readonly at: number; readonly timer: NodeJS.Timeout }>();
  return {
    set(key, milliseconds) {
      const at = performance.now() + milliseconds;
      const entry = entries.get(key);
      if (entry !== undefined && entry.at <= at) return;
      clearTimeout(entry?.timer);
      const fire = (): void => {
        entries.delete(key);
        ready(key);
      };
      entries.set(key, { at, timer: setTimeout(fire, Math.min(milliseconds, longestTimer)) });
    },
    clear() {
      for (const entry of entries.values()) clearTimeout(entry.timer);
      entries.clear();
    },
  };
}

interface Backoff {
  /** Counts a failure and returns the ms to wait. */
  next(key: string): number;
  forget(key: string): void;
}

export function createBackoff(): Backoff {
  const failures = new Map<string, number>();
  const together = tokenBucket({ perSecond: 10, burst: 100 });
  return {
    next(key) {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      return Math.max(Math.min(5 * 2 ** count, 1_000_000), together.reserve());
    },
    forget(key) {
      failures.delete(key);
    },
  };
}
