// Manifests as people store them. JSON is parsed here, which takes memory and time in proportion to the text; YAML in a thread of its
// own, since its parser takes a hundred bytes for each character of a hostile text, and seconds.
import type { Manifests } from '../../hooks/cluster.ts';
import { startYaml } from '../yaml-thread.ts';
import { bounds } from './bounds.ts';
import { parsed, unpack } from './reading.ts';

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
  const { ask, close } = startYaml({ name: 'manifests', ...limits });
  return { unpack, parse: (bytes) => parsed(bytes, (text) => ask({ texts: [text], bounds })), close };
}
