// What a call waits for its turns in threads that all Transactions share. Its own tasks follow one another: so it waits for other
// Transactions only, and not for long. What a thread has done by then is remembered for the next call (server/manifests/texts.ts).

import type { Clock } from '../../objects/cluster.ts';
import { limits } from '../../objects/limits.ts';

/** Ms that one task waits for its turn. */
const longestTurn = limits.threadTurn.value;

/** Ms for all tasks of a call. After that, a task has a turn only if no other call wants the turn. */
const longest = limits.threadTurns.value;

/**
 * Runs one task after the other. Each task gets the ms for which it may wait for its turn. It is `late` if it had no turn by then.
 */
export type Patience = <Result>(task: (wait: number) => Promise<Result | 'late'>) => Promise<Result | 'late'>;

export function createPatience(clock: Pick<Clock, 'monotonic'>): Patience {
  let left = longest;
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const next = last.then(async () => {
      const began = clock.monotonic();
      const result = await task(Math.max(0, Math.min(longestTurn, Math.round(left))));
      left = result === 'late' ? 0 : left - (clock.monotonic() - began);
      return result;
    });
    last = next.catch(() => undefined);
    return next;
  };
}
