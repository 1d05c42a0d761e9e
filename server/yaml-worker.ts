// The thread that reads YAML: one task at a time.
import { parentPort } from 'node:worker_threads';
import type { ThreadMessage } from './threads/thread.ts';
import { answerTo, type YamlAnswer, type YamlTask } from './yaml.ts';

const send = (message: ThreadMessage<YamlAnswer>): void => parentPort?.postMessage(message);

parentPort?.on('message', (task: YamlTask) => {
  send({ kind: 'begun' });
  send({ kind: 'done', answer: answerTo(task) });
});
