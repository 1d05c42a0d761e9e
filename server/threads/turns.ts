// Gives out turns for a shared resource, such as a thread. The namespace that has waited longest since its last turn comes first, and in
// it the Transaction that has waited longest. So a Transaction with many tasks delays others by only one of them. A Transaction that
// stopped waiting comes first later.
import type { Requester } from '../../hooks/objects/cluster.ts';

export interface Turns {
  /**
   * Resolves at the caller's turn with a function that ends the turn. Resolves with undefined if the signal is aborted before.
   */
  take(requester: Requester, signal?: AbortSignal): Promise<(() => void) | undefined>;
}

interface Waiting {
  readonly requester: Requester;
  readonly start: () => void;
}

/** The last turn of each caller is remembered for this time, in ms. No caller waits longer between two attempts. */
const longestKnown = 120_000;
const mostKnown = 10_000;

/** `count`: parallel turns. */
export function createTurns(count = 1, now: () => number = () => performance.now()): Turns {
  const waiting = new Set<Waiting>();
  const last = createLastTurns(now);
  let free = count;
  const go = (): void => {
    const next =
      free === 0 ? undefined : [...waiting].reduce<Waiting | undefined>((best, one) => last.earlier(best, one), undefined);
    if (next === undefined) return;
    free -= 1;
    waiting.delete(next);
    last.note(next.requester);
    next.start();
  };
  const giveBack = (): void => {
    free += 1;
    go();
  };
  return {
    take(requester, signal) {
      return new Promise((resolve) => {
        const leave = (): void => {
          waiting.delete(one);
          resolve(undefined);
        };
        const start = (): void => {
          signal?.removeEventListener('abort', leave);
          resolve(giveBack);
        };
        const one = { requester, start };
        if (signal?.aborted === true) return leave();
        signal?.addEventListener('abort', leave, { once: true });
        waiting.add(one);
        go();
      });
    },
  };
}

interface LastTurns {
  note(requester: Requester): void;
  /** The one that has waited longer; the first if both have waited equally long. */
  earlier(one: Waiting | undefined, other: Waiting): Waiting;
}

function createLastTurns(now: () => number): LastTurns {
  const times = new Map<string, number>();
  const keysOf = ({ namespace, uid }: Requester): readonly string[] => [namespace, `${namespace}/${uid}`];
  const isBefore = (one: Requester, other: Requester): boolean => {
    const [mine, theirs] = [one, other].map((requester) => keysOf(requester).map((key) => times.get(key) ?? -1));
    const [namespace = 0, own = 0] = mine ?? [];
    const [otherNamespace = 0, otherOwn = 0] = theirs ?? [];
    return namespace === otherNamespace ? own < otherOwn : namespace < otherNamespace;
  };
  return {
    note(requester) {
      const time = now();
      for (const key of keysOf(requester)) {
        times.delete(key);
        times.set(key, time);
      }
      for (const [key, at] of times) {
        if (at + longestKnown > time && times.size <= mostKnown) break;
        times.delete(key);
      }
    },
    earlier: (one, other) => (one === undefined || isBefore(other.requester, one.requester) ? other : one),
  };
}
