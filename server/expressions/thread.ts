// A worker thread that expressions run in, and its end where one takes too long or too much.
import { Worker } from 'node:worker_threads';
import type { Evaluated } from '../../hooks/model/gate.ts';
import { createStopwatch } from './stopwatch.ts';
import type { Task, Told } from './task.ts';

export interface Thread {
  /** One at a time. Rejects where the thread fails by itself: a fault of ours. */
  ask(task: Task): Promise<Evaluated>;
  /** It answers nothing any more. */
  readonly isOver: boolean;
  end(): Promise<void>;
}

interface Pending {
  readonly resolve: (answer: Evaluated) => void;
  readonly reject: (error: unknown) => void;
}

/** In MiB. */
const resourceLimits = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16 };

/**
 * `limit` is in ms of processor time, from when a task has begun. Where it was this thread that was late, the answer has come before
 * an immediate runs.
 */
export function startThread(limit: number): Thread {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { resourceLimits, execArgv: [], name: 'expressions' });
  let pending: Pending | undefined;
  let timer: NodeJS.Timeout | undefined;
  const stopwatch = createStopwatch(worker, limit);
  let isOver = false;
  const watch = (task: Pending | undefined, time: number): void => {
    timer = setTimeout(() => setImmediate(endLate, task), time);
  };
  const settle = (): Pending | undefined => {
    clearTimeout(timer);
    const task = pending;
    pending = undefined;
    if (task !== undefined) worker.unref();
    return task;
  };
  const endLate = async (task: Pending | undefined): Promise<void> => {
    if (task === undefined || task !== pending) return;
    const left = await stopwatch.left();
    if (task !== pending) return;
    if (left > 0) return watch(task, left);
    pending = undefined;
    isOver = true;
    await worker.terminate();
    task.resolve({ kind: 'broken', message: `the expression takes longer than ${limit} ms` });
  };
  worker.on('message', (told: Told) => {
    if (told.kind === 'begun') {
      stopwatch.begin();
      watch(pending, limit);
    } else settle()?.resolve(told.answer);
  });
  worker.on('error', (error) => {
    isOver = true;
    endBroken(settle(), error);
  });
  worker.on('exit', () => {
    isOver = true;
    settle()?.reject(new Error('the thread of expressions has ended'));
  });
  return {
    ask(task) {
      worker.ref();
      worker.postMessage(task);
      return new Promise((resolve, reject) => (pending = { resolve, reject }));
    },
    get isOver() {
      return isOver;
    },
    end: async () => void (await worker.terminate()),
  };
}

function endBroken(task: Pending | undefined, error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') task?.reject(error);
  else task?.resolve({ kind: 'broken', message: 'the expression takes too much memory' });
}
