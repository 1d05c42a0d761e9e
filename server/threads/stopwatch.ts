// Measures the processor time of a thread, so that a busy machine does not make a good expression fail.
import type { Worker } from 'node:worker_threads';

interface Stopwatch {
  /** Call it when a task begins. */
  begin(): void;
  /** Ms until the task may have used up its time; 0 or less when it has. */
  left(): Promise<number>;
}

/** The thread is ended after this multiple of the limit, even if it got less processor time. */
const mostWall = 8;

/** `limit` is in ms of processor time. If Node does not measure it (before 24.6), elapsed time counts. */
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

/** Ms of processor time; undefined if there is no answer within the time limit. */
async function usedBy(worker: Worker, patience: number): Promise<number | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, patience, undefined).unref();
  const usage = await Promise.race([worker.cpuUsage?.().catch(() => undefined), late]);
  clearTimeout(timer);
  return usage && (usage.user + usage.system) / 1000;
}
