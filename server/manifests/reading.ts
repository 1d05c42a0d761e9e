// Unpacks stored manifests, and reads JSON.
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Manifest, Unpacked } from '../../hooks/objects/cluster.ts';
import { isDeeperThan, isList, isObject, type Json, listAt, parseJson } from '../../hooks/objects/json.ts';
import type { YamlAnswer } from '../yaml.ts';
import { bounds } from './bounds.ts';
import { looseness } from './strict-json.ts';

type Unreadable = Extract<Manifest, { kind: 'unreadable' }>;

/** The content of a text. `readYaml` reads a text that is not JSON. `late`: it gave no answer. */
export async function parsed(
  bytes: Uint8Array,
  readYaml: (text: string) => Promise<YamlAnswer | undefined>,
): Promise<Manifest | 'late'> {
  const text = decoded(bytes);
  if (text === undefined) return unreadable('is not UTF-8');
  const json = fromJson(text);
  if (json !== undefined) return json;
  const read = await readYaml(text);
  if (read === undefined) return 'late';
  return read.kind === 'json' ? onlyOf(parseJson(read.text)) : read;
}

// Generators separate documents before the first one and after the last.
function onlyOf(read: Json): Manifest {
  const [document = null, ...others] = listAt(listAt(read)[0]).filter((one) => one !== null);
  return others.length > 0 ? unreadable(`holds ${others.length + 1} documents, expected one object`) : objectIn(document);
}

function unreadable(why: string): Unreadable {
  return { kind: 'unreadable', why };
}

export async function unpack(bytes: Uint8Array, most: number): Promise<Unpacked> {
  const tooLong = (what: string) => unreadable(`${what} more than ${most} bytes, the maximum`);
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes.length > most ? tooLong('holds') : { kind: 'bytes', bytes };
  try {
    return { kind: 'bytes', bytes: await promisify(gunzip)(bytes, { maxOutputLength: most }) };
  } catch (error) {
    const isTooLong = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    return isTooLong ? tooLong('unpacks to') : unreadable('is not gzip, or is cut');
  }
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Undefined if the text is not a JSON object. YAML may begin with a brace, too. */
function fromJson(text: string): Manifest | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  let value: Json;
  try {
    value = parseJson(text);
  } catch {
    return undefined;
  }
  const read = objectIn(value);
  const fault = read.kind === 'object' ? looseness(text) : undefined;
  return fault === undefined ? read : unreadable(fault);
}

function objectIn(value: Json): Manifest {
  if (isDeeperThan(value, bounds.levels)) return unreadable(`holds a document of more than ${bounds.levels} levels`);
  if (!isObject(value)) return unreadable('holds no object');
  const values = countOf(value);
  return values > bounds.values
    ? unreadable(`holds a document of more than ${bounds.values} values`)
    : { kind: 'object', object: value, values };
}

function countOf(value: Json): number {
  const parts = isList(value) ? value : isObject(value) ? Object.values(value) : [];
  return parts.reduce<number>((sum, one) => sum + countOf(one), 1);
}
