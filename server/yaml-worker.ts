// The thread that YAML is read in: one task at a time.
import { parentPort } from 'node:worker_threads';
import type { Told } from './threads/thread.ts';
import { answerTo, type YamlAnswer, type YamlTask } from './yaml.ts';

const tell = (told: Told<YamlAnswer>): void => parentPort?.postMessage(told);

parentPort?.on('message', (task: YamlTask) => {
  tell({ kind: 'begun' });
  tell({ kind: 'done', answer: answerTo(task) });
});
