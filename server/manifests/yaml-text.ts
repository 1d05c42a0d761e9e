// Reads the YAML of one manifest, in the thread that calls it.
import type { Manifests } from '../../hooks/cluster.ts';
import { parseJson } from '../../hooks/model/json.ts';
import { readYaml, Unfit } from '../yaml.ts';
import { bounds } from './bounds.ts';
import { decoded, fromJson, objectIn, type Read, unpack, unreadable } from './reading.ts';

/** For a process that reads only what its own user gives it: nothing limits its time. */
export const manifestsInProcess: Manifests = {
  unpack,
  async parse(bytes) {
    const text = decoded(bytes);
    if (text === undefined) return unreadable('is not UTF-8');
    const json = fromJson(text);
    if (json !== undefined) return json;
    const read = readYamlText(text);
    return read.kind === 'json' ? objectIn(parseJson(read.text)) : read;
  },
};

export function readYamlText(text: string): Read {
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
