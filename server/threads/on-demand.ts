// Starts a thread at its first task, and ends it after a time without tasks. The thread runs one task at a time, in turns. A task that
// takes too long delays the others at most by its limit and the start of a thread.
import type { Requester } from '../../hooks/objects/cluster.ts';
import { createAdmission } from '../tenants/admission.ts';
import { startThread, type Thread, type ThreadOptions } from './thread.ts';

interface OnDemand<Task, Answer> {
  /** Undefined if the signal was aborted before the turn of the task. */
  ask(task: Task, requester: Requester, signal?: AbortSignal): Promise<Answer | undefined>;
  /** Ms that the last task took; 0 for the first task of a thread, because it includes the start of the thread. */
  took(): number;
  /** Ends the thread. Waiting and later tasks are rejected. */
  close(): Promise<void>;
}

/** `idle`: the thread ends after this time without a task, in ms. */
export function startOnDemand<Task, Answer>(options: ThreadOptions<Answer> & { readonly idle: number }): OnDemand<Task, Answer> {
  const admission = createAdmission({ count: 1 });
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
    async ask(task, requester, signal) {
      const giveBack = await admission.take(requester, signal);
      return giveBack === undefined ? undefined : serve(task).finally(giveBack);
    },
    took: () => took,
    close() {
      isClosed = true;
      return end();
    },
  };
}
