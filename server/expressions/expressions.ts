// CEL of gates, in a thread beside the one that serves calls: started at the first expression, ended when there is none for a
// while. One expression at a time: they take microseconds, and one that does not delays the others by its limit and the start of
// a thread at most. Nothing of the library is loaded here.
import type { Expressions } from '../../hooks/cluster.ts';
import type { Evaluated } from '../../hooks/model/gate.ts';
import { createSlots } from '../slots.ts';
import type { Task } from './task.ts';
import { startThread, type Thread } from './thread.ts';

interface Limits {
  /** Ms that an expression may take once it has begun; what it waits before that does not count. */
  readonly limit: number;
  /** After so many ms without an expression the thread ends. */
  readonly idle: number;
}

export interface OpenExpressions extends Expressions {
  /** Ends the thread. What waits, or is asked from then on, is rejected. */
  close(): Promise<void>;
}

const defaults: Limits = { limit: 250, idle: 30_000 };

export function createExpressions({ limit, idle }: Limits = defaults): OpenExpressions {
  const turns = createSlots(1);
  let thread: Thread | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const end = async (): Promise<void> => {
    clearTimeout(timer);
    const last = thread;
    thread = undefined;
    await last?.end();
  };
  const serve = async (task: Task): Promise<Evaluated> => {
    if (isClosed) throw new Error('expressions are closed');
    clearTimeout(timer);
    if (thread === undefined || thread.isOver) thread = startThread(limit);
    const answer = await thread.ask(task);
    timer = setTimeout(() => void end(), idle).unref();
    return answer;
  };
  const ask = async (task: Task): Promise<Evaluated> => {
    const giveBack = await turns.take();
    return serve(task).finally(giveBack);
  };
  return {
    async compile(text) {
      const answer = await ask({ text });
      return answer.kind === 'broken' ? answer.message : undefined;
    },
    evaluate: (text, object) => ask({ text, object: JSON.stringify(object) }),
    close() {
      isClosed = true;
      return end();
    },
  };
}
