// A worker thread for what somebody else's text may make long or large, and its end where one task takes too long or too much.
import { Worker } from 'node:worker_threads';
import { createStopwatch } from './stopwatch.ts';

/** What a thread says: `begun` once for each task, when its time begins; then its answer. */
export type Told<Answer> = { readonly kind: 'begun' } | { readonly kind: 'done'; readonly answer: Answer };

export interface ThreadOptions<Answer> {
  /** The program of the thread: it answers each message with what it tells. */
  readonly program: URL;
  readonly name: string;
  /** In ms of processor time, from when a task has begun. */
  readonly limit: number;
  /** The answer to a task that was ended. */
  readonly ended: (because: 'time' | 'memory', limit: number) => Answer;
}

export interface Thread<Task, Answer> {
  /** One at a time. Rejects where the thread fails by itself: a fault of ours. */
  ask(task: Task): Promise<Answer>;
  /** It answers nothing any more. */
  isOver(): boolean;
  end(): Promise<void>;
}

interface Pending<Answer> {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** In MiB. */
const resourceLimits = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 4 };

/** Where it was this thread that was late, the answer has come before an immediate runs. */
export function startThread<Task, Answer>({ program, name, limit, ended }: ThreadOptions<Answer>): Thread<Task, Answer> {
  const worker = new Worker(program, { resourceLimits, execArgv: [], name });
  let pending: Pending<Answer> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const stopwatch = createStopwatch(worker, limit);
  let isOver = false;
  const watch = (task: Pending<Answer> | undefined, time: number): void => {
    timer = setTimeout(() => setImmediate(endLate, task), time);
  };
  const settle = (): Pending<Answer> | undefined => {
    clearTimeout(timer);
    const task = pending;
    pending = undefined;
    if (task !== undefined) worker.unref();
    return task;
  };
  const endLate = async (task: Pending<Answer> | undefined): Promise<void> => {
    if (task === undefined || task !== pending) return;
    const left = await stopwatch.left();
    if (task !== pending) return;
    if (left > 0) return watch(task, left);
    pending = undefined;
    isOver = true;
    await worker.terminate();
    task.resolve(ended('time', limit));
  };
  worker.on('message', (told: Told<Answer>) => {
    if (told.kind === 'begun') {
      stopwatch.begin();
      watch(pending, limit);
    } else settle()?.resolve(told.answer);
  });
  worker.on('error', (error: NodeJS.ErrnoException) => {
    isOver = true;
    const task = settle();
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') task?.resolve(ended('memory', limit));
    else task?.reject(error);
  });
  worker.on('exit', () => {
    isOver = true;
    settle()?.reject(new Error(`the thread of ${name} has ended`));
  });
  const ask = (task: Task): Promise<Answer> => {
    worker.ref();
    worker.postMessage(task);
    return new Promise((resolve, reject) => (pending = { resolve, reject }));
  };
  return { ask, isOver: () => isOver, end: async () => void (await worker.terminate()) };
}
