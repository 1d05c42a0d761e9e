// The thread that YAML is read in: one text at a time.
import { parentPort } from 'node:worker_threads';
import type { Told } from '../threads/thread.ts';
import { readYaml, Unfit } from '../yaml.ts';
import { bounds } from './bounds.ts';
import type { Read } from './manifests.ts';

const tell = (told: Told<Read>): void => parentPort?.postMessage(told);

parentPort?.on('message', (text: string) => {
  tell({ kind: 'begun' });
  tell({ kind: 'done', answer: read(text) });
});

function read(text: string): Read {
  try {
    // Generators separate documents before the first one and after the last.
    const [document, ...others] = readYaml(text, bounds).filter((one) => one !== null);
    if (others.length > 0) return { kind: 'unreadable', why: `holds ${others.length + 1} documents, expected one object` };
    return { kind: 'json', text: JSON.stringify(document ?? null) };
  } catch (error) {
    if (error instanceof Unfit) return { kind: 'unreadable', why: error.message };
    throw error;
  }
}
