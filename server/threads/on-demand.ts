// A thread that is started at its first task, and ended when there is none for a while. One task at a time: one that takes too long
// delays the others by its limit and the start of a thread at most.
import { createSlots } from '../slots.ts';
import { startThread, type Thread, type ThreadOptions } from './thread.ts';

interface OnDemand<Task, Answer> {
  ask(task: Task): Promise<Answer>;
  /** Ms that the last task took; 0 for the first one of a thread, which takes the time of its start, too. */
  took(): number;
  /** Ends the thread. What waits, or is asked from then on, is rejected. */
  close(): Promise<void>;
}

/** `idle`: after so many ms without a task the thread ends. */
export function startOnDemand<Task, Answer>(options: ThreadOptions<Answer> & { readonly idle: number }): OnDemand<Task, Answer> {
  const turns = createSlots(1);
  let thread: Thread<Task, Answer> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let took = 0;
  const end = async (): Promise<void> => {
    clearTimeout(timer);
    const last = thread;
    thread = undefined;
    await last?.end();
  };
  const serve = async (task: Task): Promise<Answer> => {
    if (isClosed) throw new Error(`${options.name} are closed`);
    clearTimeout(timer);
    const isNew = thread === undefined || thread.isOver();
    if (thread === undefined || isNew) thread = startThread(options);
    const begun = performance.now();
    const answer = await thread.ask(task);
    took = isNew ? 0 : performance.now() - begun;
    timer = setTimeout(() => void end(), options.idle).unref();
    return answer;
  };
  return {
    async ask(task) {
      const giveBack = await turns.take();
      return serve(task).finally(giveBack);
    },
    took: () => took,
    close() {
      isClosed = true;
      return end();
    },
  };
}
