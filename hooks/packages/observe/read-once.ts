// A read whose result the calls of a process share for a moment: many package transactions are called about at once, each with the same
// question.
import type { Clock } from '../../objects/cluster.ts';

/** ms. */
const moment = 1_000;

export type ReadOnce<T> = (read: () => Promise<T>) => Promise<T>;

export function createReadOnce<T>({ monotonic }: Pick<Clock, 'monotonic'>): ReadOnce<T> {
  let last: { readonly at: number; readonly found: Promise<T> } | undefined;
  return (read) => {
    if (last !== undefined && monotonic() < last.at + moment) return last.found;
    const mine = { at: monotonic(), found: read() };
    last = mine;
    mine.found.catch(() => {
      if (last === mine) last = undefined;
    });
    return mine.found;
  };
}
