// The thread that YAML is read in: one task at a time.
import { parentPort } from 'node:worker_threads';
import type { Told } from './threads/thread.ts';
import { readYaml, Unfit } from './yaml.ts';
import type { YamlAnswer, YamlTask } from './yaml-thread.ts';

const tell = (told: Told<YamlAnswer>): void => parentPort?.postMessage(told);

parentPort?.on('message', (task: YamlTask) => {
  tell({ kind: 'begun' });
  tell({ kind: 'done', answer: read(task) });
});

function read({ texts, bounds }: YamlTask): YamlAnswer {
  try {
    return { kind: 'json', text: JSON.stringify(texts.map((text) => readYaml(text, bounds))) };
  } catch (error) {
    if (error instanceof Unfit) return { kind: 'unreadable', why: error.message };
    throw error;
  }
}
