// A thread that is started at its first task, and ended when there is none for a while. One task at a time, in turns: one that takes too
// long delays the others by its limit and the start of a thread at most.
import type { Asker } from '../../hooks/objects/cluster.ts';
import { startThread, type Thread, type ThreadOptions } from './thread.ts';
import { createTurns } from './turns.ts';

interface OnDemand<Task, Answer> {
  /** Undefined: the signal was aborted before the asker had its turn. */
  ask(task: Task, asker: Asker, signal?: AbortSignal): Promise<Answer | undefined>;
  /** Ms that the last task took; 0 for the first one of a thread, which takes the time of its start, too. */
  took(): number;
  /** Ends the thread. What waits, or is asked from then on, is rejected. */
  close(): Promise<void>;
}

/** `idle`: after so many ms without a task the thread ends. */
export function startOnDemand<Task, Answer>(options: ThreadOptions<Answer> & { readonly idle: number }): OnDemand<Task, Answer> {
  const turns = createTurns();
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
    async ask(task, asker, signal) {
      const giveBack = await turns.take(asker, signal);
      return giveBack === undefined ? undefined : serve(task).finally(giveBack);
    },
    took: () => took,
    close() {
      isClosed = true;
      return end();
    },
  };
}
