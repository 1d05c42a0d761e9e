// Manifests as people store them. JSON is parsed here, which takes memory and time in proportion to the text; YAML in a thread of its
// own, since its parser takes a hundred bytes for each character of a hostile text, and seconds.
import type { Manifests } from '../../hooks/cluster.ts';
import { parseJson } from '../../hooks/model/json.ts';
import { startOnDemand } from '../threads/on-demand.ts';
import { decoded, fromJson, objectIn, type Read, unpack, unreadable } from './reading.ts';

interface Limits {
  /** Ms of processor time that reading one YAML text may take. */
  readonly limit: number;
  /** After so many ms without YAML the thread ends. */
  readonly idle: number;
}

export interface OpenManifests extends Manifests {
  /** Ends the thread. What waits, or is asked from then on, is rejected. */
  close(): Promise<void>;
}

const defaults: Limits = { limit: 2_000, idle: 30_000 };

export function createManifests(limits: Limits = defaults): OpenManifests {
  const program = new URL('./worker.ts', import.meta.url);
  const { ask, close } = startOnDemand<string, Read>({ program, name: 'manifests', ended, ...limits });
  return {
    unpack,
    async parse(bytes) {
      const text = decoded(bytes);
      if (text === undefined) return unreadable('is not UTF-8');
      const json = fromJson(text);
      if (json !== undefined) return json;
      const read = await ask(text);
      return read.kind === 'json' ? objectIn(parseJson(read.text)) : read;
    },
    close,
  };
}

function ended(because: 'time' | 'memory', limit: number): Read {
  return unreadable(because === 'time' ? `takes longer than ${limit} ms to read` : 'takes too much memory to read');
}
