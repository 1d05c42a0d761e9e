// Evaluates the CEL of gates in a thread of its own, not in the thread that serves calls. Expressions take microseconds. This file does
// not load the library.
import type { ExpressionResult, Expressions } from '../../hooks/objects/cluster.ts';
import { startOnDemand } from '../threads/on-demand.ts';
import { rememberAnswers } from './answers.ts';
import { rememberCompiled } from './compiled.ts';
import type { Task } from './task.ts';

interface Limits {
  /** The time limit of an expression in ms. The wait before its start does not count. */
  readonly limit: number;
  /** The thread ends after this time without an expression, in ms. */
  readonly idle: number;
  /** Ms that a call waits for its turn. No Transaction waits longer for the expressions of other Transactions. */
  readonly wait: number;
}

interface OpenExpressions extends Expressions {
  /** Ends the thread. Waiting and later calls are rejected. */
  close(): Promise<void>;
}

const defaults: Limits = { limit: 250, idle: 30_000, wait: 500 };

export function createExpressions(own: Partial<Limits> = {}): OpenExpressions {
  const limits = { ...defaults, ...own };
  const program = new URL('./worker.ts', import.meta.url);
  const { ask, took, close } = startOnDemand<Task, ExpressionResult>({ program, name: 'expressions', ended, ...limits });
  const [answers, compiled] = [rememberAnswers(), rememberCompiled()];
  return {
    async compile(text, requester, wait) {
      if (compiled.has(text)) return {};
      const answer = await ask({ text }, requester, AbortSignal.timeout(wait));
      if (answer === undefined) return 'late';
      if (answer.kind === 'broken') return { why: answer.message };
      compiled.keep(text);
      return {};
    },
    async evaluate(text, object, requester) {
      const question = { requester, text, object };
      const known = answers.find(question);
      if (known !== undefined) return known;
      const answer = await ask({ text, object: JSON.stringify(object) }, requester, AbortSignal.timeout(limits.wait));
      if (answer === undefined) return 'late';
      answers.keep(question, answer, took());
      return answer;
    },
    close,
  };
}

function ended(because: 'time' | 'memory', limit: number): ExpressionResult {
  const much = because === 'time' ? `longer than ${limit} ms` : 'too much memory';
  return { kind: 'broken', message: `the expression takes ${much}` };
}
