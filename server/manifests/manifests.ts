// Manifests as people store them. JSON is parsed here, which takes memory and time in proportion to the text; YAML in a thread of its
// own, since its parser takes a hundred bytes for each character of a hostile text, and seconds.

import type { Asker, Manifests } from '../../hooks/objects/cluster.ts';
import type { YamlAnswer } from '../yaml.ts';
import { startYaml } from '../yaml-thread.ts';
import { bounds } from './bounds.ts';
import { parsed, unpack } from './reading.ts';
import { rememberTexts } from './texts.ts';

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
  const texts = rememberTexts();
  const readYaml = async (text: string, asker: Asker, wait: number): Promise<YamlAnswer | undefined> => {
    const known = texts.find(asker, text);
    if (known !== undefined) return known;
    const answer = await ask({ texts: [text], bounds }, asker, AbortSignal.timeout(wait));
    if (answer !== undefined) texts.keep(asker, text, answer);
    return answer;
  };
  return { unpack, parse: (bytes, asker, wait) => parsed(bytes, (text) => readYaml(text, asker, wait)), close };
}
