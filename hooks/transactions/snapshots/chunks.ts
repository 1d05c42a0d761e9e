// Splits large texts over the data of several ConfigMaps, and joins them again.
import { createHash } from 'node:crypto';
import { isObject, type Json } from '../../objects/json.ts';

/** Bytes of data in one ConfigMap; the API server allows 1 MiB for all values. */
export const largestObject = 900_000;

export interface EncodedEntry {
  readonly index: number;
  readonly key: string;
  readonly text: string;
}

export type DataEntry = readonly [key: string, value: string];

const longestKey = 253;

/** Distributes entries over the data of ConfigMaps; an entry that does not fit into one continues in the next. */
export function distribute(entries: readonly EncodedEntry[]): readonly (readonly DataEntry[])[] {
  const parts: DataEntry[][] = [[]];
  let size = 0;
  for (const datum of entries.flatMap(chunksOf)) {
    const length = longestKey + Buffer.byteLength(datum[1]);
    if (size > 0 && size + length > largestObject) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)?.push(datum);
    size += length;
  }
  return parts;
}

// The limit counts bytes, a chunk counts characters, and a character has at most three bytes: a third of the limit always fits.
const longestChunk = Math.floor(largestObject / 3) - longestKey;

function chunksOf({ index, key, text }: EncodedEntry): readonly DataEntry[] {
  const chunks = Math.max(1, Math.ceil(text.length / longestChunk));
  return Array.from({ length: chunks }, (_, chunk): DataEntry => {
    const name = `${index}-${chunk}.${key}`.slice(0, longestKey);
    return [name, text.slice(chunk * longestChunk, (chunk + 1) * longestChunk)];
  });
}

/** The joined texts of the entries, by index. */
export function textsOf(data: readonly Json[]): ReadonlyMap<number, string> {
  const texts = new Map<number, string>();
  for (const [key, value] of inOrder(data)) {
    const index = Number.parseInt(key, 10);
    texts.set(index, (texts.get(index) ?? '') + (typeof value === 'string' ? value : ''));
  }
  return texts;
}

function inOrder(data: readonly Json[]): readonly (readonly [string, Json])[] {
  const entries = data.flatMap((part) => (isObject(part) ? Object.entries(part) : []));
  return entries.sort(([left], [right]) => placeOf(left) - placeOf(right));
}

/** No entry has more chunks than this: an object is smaller than 2 MB. */
const mostChunks = 1_000;

function placeOf(key: string): number {
  const [, index = '', chunk = ''] = /^(\d+)-(\d+)\./.exec(key) ?? [];
  return Number(index) * mostChunks + Number(chunk);
}

/** The digest over the data of all ConfigMaps of a snapshot. */
export function digestOf(data: readonly Json[]): string {
  const hash = createHash('sha256');
  for (const entry of inOrder(data)) hash.update(JSON.stringify(entry));
  return hash.digest('hex');
}
