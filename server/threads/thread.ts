// A worker thread for texts of other clients. It is ended if a task takes too much time or memory.
import { Worker } from 'node:worker_threads';
import { createStopwatch } from './stopwatch.ts';

/** The messages of a thread: `begun` once for each task, when its time begins; then its answer. */
export type ThreadMessage<Answer> = { readonly kind: 'begun' } | { readonly kind: 'done'; readonly answer: Answer };

export interface ThreadOptions<Answer> {
  /** The program of the thread. It answers each task with a ThreadMessage. */
  readonly program: URL;
  readonly name: string;
  /** The limit of processor time, from the start of a task, in ms. */
  readonly limit: number;
  /** The answer to a task that exceeded its limit. */
  readonly ended: (because: 'time' | 'memory', limit: number) => Answer;
}

export interface Thread<Task, Answer> {
  /** One task at a time. Rejects if the thread fails because of a bug. */
  ask(task: Task): Promise<Answer>;
  /** Whether the thread has ended and answers no task. */
  isOver(): boolean;
  end(): Promise<void>;
}

interface Pending<Answer> {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** In MiB. */
const resourceLimits = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 4 };

/** If the main thread was late, and not the worker, the answer arrives before the immediate runs. */
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
  worker.on('message', (message: ThreadMessage<Answer>) => {
    if (message.kind === 'begun') {
      stopwatch.begin();
      watch(pending, limit);
    } else settle()?.resolve(message.answer);
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
