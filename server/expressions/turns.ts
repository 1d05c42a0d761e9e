// Whose turn it is in the thread of expressions: one task at a time. The namespace that has waited longest since its last turn comes first,
// and in it the Transaction that has. So who has many expressions delays others by one of them, and who gave up waiting comes first later.
import type { ExpressionAsker } from '../../hooks/cluster.ts';

interface Turns {
  /**
   * Resolves when it is the caller's turn, with a function to call once when the turn is over; undefined if the turn has not come within so
   * many ms.
   */
  take(asker: ExpressionAsker, within?: number): Promise<(() => void) | undefined>;
}

interface Waiting {
  readonly asker: ExpressionAsker;
  readonly start: () => void;
}

/** The last turn of each asker is known for so many ms: nobody waits longer between two tries. */
const longestKnown = 120_000;
const mostKnown = 10_000;

export function createTurns(now: () => number = () => performance.now()): Turns {
  const waiting = new Set<Waiting>();
  const last = createLastTurns(now);
  let isTaken = false;
  const go = (): void => {
    const next = isTaken
      ? undefined
      : [...waiting].reduce<Waiting | undefined>((best, one) => last.earlier(best, one), undefined);
    if (next === undefined) return;
    isTaken = true;
    waiting.delete(next);
    last.note(next.asker);
    next.start();
  };
  const giveBack = (): void => {
    isTaken = false;
    go();
  };
  return {
    take(asker, within) {
      return new Promise((resolve) => {
        const leave = (): void => {
          waiting.delete(one);
          resolve(undefined);
        };
        const timer = within === undefined ? undefined : setTimeout(leave, within);
        const start = (): void => {
          clearTimeout(timer);
          resolve(giveBack);
        };
        const one = { asker, start };
        waiting.add(one);
        go();
      });
    },
  };
}

interface LastTurns {
  note(asker: ExpressionAsker): void;
  /** Which of the two has waited longer: the first one where both have. */
  earlier(one: Waiting | undefined, other: Waiting): Waiting;
}

function createLastTurns(now: () => number): LastTurns {
  const times = new Map<string, number>();
  const keysOf = ({ namespace, uid }: ExpressionAsker): readonly string[] => [namespace, `${namespace}/${uid}`];
  const isBefore = (one: ExpressionAsker, other: ExpressionAsker): boolean => {
    const [mine, theirs] = [one, other].map((asker) => keysOf(asker).map((key) => times.get(key) ?? -1));
    const [namespace = 0, own = 0] = mine ?? [];
    const [otherNamespace = 0, otherOwn = 0] = theirs ?? [];
    return namespace === otherNamespace ? own < otherOwn : namespace < otherNamespace;
  };
  return {
    note(asker) {
      const time = now();
      for (const key of keysOf(asker)) {
        times.delete(key);
        times.set(key, time);
      }
      for (const [key, at] of times) {
        if (at + longestKnown > time && times.size <= mostKnown) break;
        times.delete(key);
      }
    },
    earlier: (one, other) => (one === undefined || isBefore(other.asker, one.asker) ? other : one),
  };
}
