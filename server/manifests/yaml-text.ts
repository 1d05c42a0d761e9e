// Reads manifests in the thread of the caller.
import type { Manifests } from '../../hooks/objects/cluster.ts';
import { answerTo } from '../yaml.ts';
import { bounds } from './bounds.ts';
import { parsed, unpack } from './reading.ts';

/** For a process that reads only texts of its own user. It has no time limit. */
export const manifestsInProcess: Manifests = {
  unpack,
  parse: (bytes) => parsed(bytes, async (text) => answerTo({ texts: [text], bounds })),
};
