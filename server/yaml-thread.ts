// Reads YAML in a thread of its own. The parser takes a hundred bytes for each character of a hostile text, and seconds; a package has
// millions of characters. The heap of the thread has a limit.
import type { Requester } from '../hooks/objects/cluster.ts';
import { startOnDemand } from './threads/on-demand.ts';
import type { YamlAnswer, YamlTask } from './yaml.ts';

interface YamlOptions {
  /** The name of the thread in messages. */
  readonly name: string;
  /** The limit of processor time for a task, in ms. */
  readonly limit: number;
  /** The thread ends after this time without YAML, in ms. */
  readonly idle: number;
}

interface OpenYaml {
  /** Undefined if the signal was aborted before the turn of the task. */
  ask(task: YamlTask, requester: Requester, signal?: AbortSignal): Promise<YamlAnswer | undefined>;
  /** Ends the thread. Waiting and later tasks are rejected. */
  close(): Promise<void>;
}

export function startYaml(options: YamlOptions): OpenYaml {
  const ended = (because: 'time' | 'memory', limit: number): YamlAnswer => ({
    kind: 'unreadable',
    why: because === 'time' ? `takes longer than ${limit} ms to read` : 'takes too much memory to read',
  });
  return startOnDemand({ ...options, program: new URL('./yaml-worker.ts', import.meta.url), ended });
}
