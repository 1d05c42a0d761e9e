// A read whose result the calls of a process share: many package transactions are called about at once, each with the same question.
//
// 1. A call gets the result of a read that began less than `maxAgeMs` before the call. With 0 the read begins after the call, so the
//    result shows every change from before the call.
// 2. At most one read runs at a time. The calls that come meanwhile share the next one.
// 3. Calls share the failure of a read only if they waited for that read.
import type { Clock } from '../../objects/cluster.ts';

export type ReadOnce<T> = (read: () => Promise<T>) => Promise<T>;

interface Begun<T> {
  readonly at: number;
  readonly found: Promise<T>;
}

export function createReadOnce<T>({ monotonic }: Pick<Clock, 'monotonic'>, maxAgeMs: number): ReadOnce<T> {
  let last: Begun<T> | undefined;
  let next: Promise<T> | undefined;
  const begin = (read: () => Promise<T>): Promise<T> => {
    const begun = { at: monotonic(), found: read() };
    [last, next] = [begun, undefined];
    begun.found.catch(() => {
      if (last === begun) last = undefined; // 3
    });
    return begun.found;
  };
  return (read) => {
    if (last !== undefined && monotonic() < last.at + maxAgeMs) return last.found; // 1
    next ??= Promise.allSettled([last?.found]).then(() => begin(read)); // 2
    return next;
  };
}
