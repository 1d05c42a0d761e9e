// Expressions with their thread, for tests, and the threads that were started meanwhile.
import type { Worker } from 'node:worker_threads';
import type { Test } from 'tap';
import type { ExpressionResult } from '../../../hooks/objects/cluster.ts';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { createExpressions } from '../../../server/expressions/expressions.ts';

type Limits = Parameters<typeof createExpressions>[0];

const requester = { namespace: 'shop', uid: 'one' };

interface Opened {
  /** As of one Transaction. */
  readonly expressions: {
    compile(text: string): Promise<string | undefined>;
    evaluate(text: string, object: JsonObject): Promise<ExpressionResult | 'late'>;
    close(): Promise<void>;
  };
  readonly threads: readonly Worker[];
}

/** Without limits those of the server. Closed when the test is over. */
export function open(t: Test, limits?: Limits): Opened {
  const threads: Worker[] = [];
  const note = (worker: Worker): void => void threads.push(worker);
  process.on('worker', note);
  const opened = limits === undefined ? createExpressions() : createExpressions(limits);
  t.teardown(async () => {
    process.off('worker', note);
    await opened.close();
  });
  const expressions = {
    compile: async (text: string) => {
      const compiled = await opened.compile(text, requester, 60_000);
      return compiled === 'late' ? compiled : compiled.why;
    },
    evaluate: (text: string, object: JsonObject) => opened.evaluate(text, object, requester),
    close: () => opened.close(),
  };
  return { expressions, threads };
}

/** Long enough for any machine: for tests of the result of an expression, not of its duration. */
export const patient: Limits = { limit: 60_000, idle: 60_000, wait: 60_000 };

export const yes: ExpressionResult = { kind: 'value', value: true };

/** Takes minutes on any machine, over an object of 1 MB. */
export const loops =
  'object.items.all(a, object.items.all(b, object.items.all(c, object.items.all(d, a.number + b.number + c.number + d.number >= 0))))';
export const megabyte: JsonObject = { items: Array.from({ length: 150 }, (_, number) => ({ number, text: 'x'.repeat(7_000) })) };
