// The thread that YAML is read in: one text at a time.
import { parentPort } from 'node:worker_threads';
import type { Told } from '../threads/thread.ts';
import type { Read } from './reading.ts';
import { readYamlText } from './yaml-text.ts';

const tell = (told: Told<Read>): void => parentPort?.postMessage(told);

parentPort?.on('message', (text: string) => {
  tell({ kind: 'begun' });
  tell({ kind: 'done', answer: readYamlText(text) });
});
