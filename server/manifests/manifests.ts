// Reads stored manifests. This thread parses JSON, because its memory and time are proportional to the text. Another thread parses YAML,
// because its parser takes a hundred bytes for each character of a hostile text, and seconds.

import type { Manifests, Requester } from '../../hooks/objects/cluster.ts';
import type { YamlAnswer } from '../yaml.ts';
import { startYaml } from '../yaml-thread.ts';
import { bounds } from './bounds.ts';
import { parsed, unpack } from './reading.ts';
import { rememberTexts } from './texts.ts';

interface Limits {
  /** The limit of processor time for one YAML text, in ms. */
  readonly limit: number;
  /** The thread ends after this time without YAML, in ms. */
  readonly idle: number;
}

export interface OpenManifests extends Manifests {
  /** Ends the thread. Waiting and later calls are rejected. */
  close(): Promise<void>;
}

const defaults: Limits = { limit: 2_000, idle: 30_000 };

export function createManifests(limits: Limits = defaults): OpenManifests {
  const { ask, close } = startYaml({ name: 'manifests', ...limits });
  const texts = rememberTexts();
  const readYaml = async (text: string, requester: Requester, wait: number): Promise<YamlAnswer | undefined> => {
    const known = texts.find(requester, text);
    if (known !== undefined) return known;
    const answer = await ask({ texts: [text], bounds }, requester, AbortSignal.timeout(wait));
    if (answer !== undefined) texts.keep(requester, text, answer);
    return answer;
  };
  return { unpack, parse: (bytes, requester, wait) => parsed(bytes, (text) => readYaml(text, requester, wait)), close };
}
