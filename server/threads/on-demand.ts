// A thread that is started at its first task, and ended when there is none for a while. One task at a time: one that takes too long
// delays the others by its limit and the start of a thread at most.
import { createSlots } from '../slots.ts';
import { startThread, type Thread, type ThreadOptions } from './thread.ts';

interface OnDemand<Task, Answer> {
  ask(task: Task): Promise<Answer>;
  /** Ends the thread. What waits, or is asked from then on, is rejected. */
  close(): Promise<void>;
}

/** `idle`: after so many ms without a task the thread ends. */
export function startOnDemand<Task, Answer>(options: ThreadOptions<Answer> & { readonly idle: number }): OnDemand<Task, Answer> {
  const turns = createSlots(1);
  let thread: Thread<Task, Answer> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const end = async (): Promise<void> => {
    clearTimeout(timer);
    const last = thread;
    thread = undefined;
    await last?.end();
  };
  const serve = async (task: Task): Promise<Answer> => {
    if (isClosed) throw new Error(`${options.name} are closed`);
    clearTimeout(timer);
    if (thread === undefined || thread.isOver()) thread = startThread(options);
    const answer = await thread.ask(task);
    timer = setTimeout(() => void end(), options.idle).unref();
    return answer;
  };
  return {
    async ask(task) {
      const giveBack = await turns.take();
      return serve(task).finally(giveBack);
    },
    close() {
      isClosed = true;
      return end();
    },
  };
}
