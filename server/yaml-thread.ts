// YAML is read in a thread of its own: its parser takes a hundred bytes for each character of a hostile text, and seconds, and a package
// has millions of characters. The heap of the thread is bounded.
import type { Asker } from '../hooks/objects/cluster.ts';
import { startOnDemand } from './threads/on-demand.ts';
import type { YamlAnswer, YamlTask } from './yaml.ts';

interface YamlOptions {
  /** For messages of ours. */
  readonly name: string;
  /** Ms of processor time that a task may take. */
  readonly limit: number;
  /** After so many ms without YAML the thread ends. */
  readonly idle: number;
}

interface OpenYaml {
  /** Undefined: the signal was aborted before the asker had its turn. */
  ask(task: YamlTask, asker: Asker, signal?: AbortSignal): Promise<YamlAnswer | undefined>;
  /** Ends the thread. What waits, or is asked from then on, is rejected. */
  close(): Promise<void>;
}

export function startYaml(options: YamlOptions): OpenYaml {
  const ended = (because: 'time' | 'memory', limit: number): YamlAnswer => ({
    kind: 'unreadable',
    why: because === 'time' ? `takes longer than ${limit} ms to read` : 'takes too much memory to read',
  });
  return startOnDemand({ ...options, program: new URL('./yaml-worker.ts', import.meta.url), ended });
}
