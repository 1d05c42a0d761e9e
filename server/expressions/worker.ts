// The thread that evaluates expressions: one task at a time, in their order.
import { parentPort } from 'node:worker_threads';
import type { CelInput } from '@bufbuild/cel';
import type { ExpressionResult } from '../../hooks/objects/cluster.ts';
import { parseJson } from '../../hooks/objects/json.ts';
import type { ThreadMessage } from '../threads/thread.ts';
import { compile } from './program.ts';
import { keepPrograms } from './programs.ts';
import type { Task } from './task.ts';
import { inputOf } from './values.ts';

const programOf = keepPrograms(compile);

const send = (message: ThreadMessage<ExpressionResult>): void => parentPort?.postMessage(message);

// The first evaluation compiles the code of the library, and takes many times as long. This time must not count for an expression.
answerTo('object.status.ready == true', new Map());

parentPort?.on('message', ({ text, object }: Task) => {
  const input = object === undefined ? undefined : inputOf(parseJson(object));
  send({ kind: 'begun' });
  send({ kind: 'done', answer: answerTo(text, input) });
});

function answerTo(text: string, input: CelInput | undefined): ExpressionResult {
  const program = programOf(text);
  if (program.kind === 'fault') return { kind: 'broken', message: program.message };
  return input === undefined ? { kind: 'unset' } : program.run(input);
}
