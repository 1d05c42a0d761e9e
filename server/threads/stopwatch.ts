// The processor time of a thread: on a busy machine a good expression is not refused for the time that others take.
import type { Worker } from 'node:worker_threads';

interface Stopwatch {
  /** A task begins. */
  begin(): void;
  /** Ms until the task may have used up its time; 0 or less when it has. */
  left(): Promise<number>;
}

/** Times the limit: a thread that gets less of a processor than this part of it is ended all the same. */
const mostWall = 8;

/** `limit` is in ms of processor time; of time, where Node does not know that (before 24.6). */
export function createStopwatch(worker: Worker, limit: number): Stopwatch {
  let [begun, before]: [number, Promise<number | undefined>] = [0, Promise.resolve(undefined)];
  return {
    begin() {
      [begun, before] = [performance.now(), usedBy(worker, limit)];
    },
    async left() {
      if (performance.now() >= begun + limit * mostWall) return 0;
      const [first, last] = await Promise.all([before, usedBy(worker, limit)]);
      return first === undefined || last === undefined ? 0 : limit - (last - first);
    },
  };
}

/** Ms of processor time; undefined where there is no answer within so many ms. */
async function usedBy(worker: Worker, patience: number): Promise<number | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, patience, undefined).unref();
  const usage = await Promise.race([worker.cpuUsage?.().catch(() => undefined), late]);
  clearTimeout(timer);
  return usage && (usage.user + usage.system) / 1000;
}
