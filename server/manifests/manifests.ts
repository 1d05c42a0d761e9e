// Manifests as people store them. JSON is parsed here, which takes memory and time in proportion to the text; YAML in a thread of its
// own, since its parser takes a hundred bytes for each character of a hostile text, and seconds.
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Manifest, Manifests, Unpacked } from '../../hooks/cluster.ts';
import { isDeeperThan, isList, isObject, type Json, parseJson } from '../../hooks/model/json.ts';
import { startYaml } from '../yaml-thread.ts';
import { bounds } from './bounds.ts';

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
  return {
    unpack,
    async parse(bytes) {
      const text = decoded(bytes);
      if (text === undefined) return unreadable('is not UTF-8');
      const json = fromJson(text);
      if (json !== undefined) return json;
      const read = await ask({ texts: [text], bounds });
      return read.kind === 'json' ? onlyOf(parseJson(read.text)) : read;
    },
    close,
  };
}

function unreadable(why: string): Extract<Manifest, { kind: 'unreadable' }> {
  return { kind: 'unreadable', why };
}

// Generators separate documents before the first one and after the last.
function onlyOf(read: Json): Manifest {
  const [document = null, ...others] = listIn(listIn(read)[0]).filter((one) => one !== null);
  return others.length > 0 ? unreadable(`holds ${others.length + 1} documents, expected one object`) : objectIn(document);
}

async function unpack(bytes: Uint8Array, most: number): Promise<Unpacked> {
  const tooLong = (what: string) => unreadable(`${what} more than ${most} bytes, the maximum`);
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes.length > most ? tooLong('holds') : { kind: 'bytes', bytes };
  try {
    return { kind: 'bytes', bytes: await promisify(gunzip)(bytes, { maxOutputLength: most }) };
  } catch (error) {
    const isTooLong = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    return isTooLong ? tooLong('unpacks to') : unreadable('is no gzip, or is cut');
  }
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Undefined if the text is no JSON object: YAML may begin with a brace, too. */
function fromJson(text: string): Manifest | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    return objectIn(parseJson(text));
  } catch {
    return undefined;
  }
}

function listIn(value: Json | undefined): readonly Json[] {
  return isList(value) ? value : [];
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
