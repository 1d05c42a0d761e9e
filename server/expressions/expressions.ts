// CEL of gates, in a thread beside the one that serves calls. Expressions take microseconds. Nothing of the library is loaded here.
import type { Expressions } from '../../hooks/cluster.ts';
import type { Evaluated } from '../../hooks/model/gate.ts';
import { startOnDemand } from '../threads/on-demand.ts';
import type { Task } from './task.ts';

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

export function createExpressions(limits: Limits = defaults): OpenExpressions {
  const program = new URL('./worker.ts', import.meta.url);
  const { ask, close } = startOnDemand<Task, Evaluated>({ program, name: 'expressions', ended, ...limits });
  return {
    async compile(text) {
      const answer = await ask({ text });
      return answer.kind === 'broken' ? answer.message : undefined;
    },
    evaluate: (text, object) => ask({ text, object: JSON.stringify(object) }),
    close,
  };
}

function ended(because: 'time' | 'memory', limit: number): Evaluated {
  const much = because === 'time' ? `longer than ${limit} ms` : 'too much memory';
  return { kind: 'broken', message: `the expression takes ${much}` };
}
