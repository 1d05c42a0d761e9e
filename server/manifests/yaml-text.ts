// Reads manifests in the thread that calls it.
import type { Manifests } from '../../hooks/objects/cluster.ts';
import { answerTo } from '../yaml.ts';
import { bounds } from './bounds.ts';
import { parsed, unpack } from './reading.ts';

/** For a process that reads only what its own user gives it: nothing limits its time. */
export const manifestsInProcess: Manifests = {
  unpack,
  parse: (bytes) => parsed(bytes, async (text) => answerTo({ texts: [text], bounds })),
};
