// Contents in a ConfigMap: one gzip for each object, under its position. This form serves two readers. The hook alone reads the
// contents that a try is prepared from. The engine reads the contents that a stage names by `contentFrom`. So a stage holds digests
// in place of objects. A CRD of 60 kB takes a tenth, and the status of the stage is stored without it.
import { at, isList, isObject, type Json, type JsonObject, parseJson, textAt } from '../../objects/json.ts';
import { digestOfText, hashedName } from '../model/digest.ts';
import type { Gzip } from '../model/gzip.ts';

/** An object with its gzip. */
interface Packed {
  readonly text: string;
  readonly packed: string;
  readonly values: number;
}

/** The contents of a ConfigMap. */
export interface Contents {
  /** SHA-256 of all its objects, unpacked. */
  readonly digest: string;
  readonly binaryData: Readonly<Record<string, string>>;
}

/**
 * The limit of one ConfigMap, which may hold 1 MiB. The engine reads at most 10 MiB and 500 000 values for a Transaction. Labels,
 * annotations and owners of the live object are added to an object before the engine reads it.
 */
const most = { packedBytes: 500_000, bytes: 4_000_000, values: 400_000 } as const;

/** The most bytes that `most.bytes` characters can take in UTF-8. */
const mostUnpacked = 3 * most.bytes;

/** The largest object that can be packed. The engine reads 2 MiB, and the API server stores 1.5 MiB. */
export const mostObjectBytes = 1_000_000;

/** The objects in order, with a limited number in each ConfigMap. */
export function packedContents(items: readonly JsonObject[], mostItems: number, gzip: Gzip): readonly Contents[] {
  const chunks: Packed[][] = [];
  for (const item of items.map((one) => packedOf(one, gzip))) {
    const last = chunks.at(-1);
    if (last === undefined || last.length >= mostItems || isFull([...last, item])) chunks.push([item]);
    else last.push(item);
  }
  return chunks.map(contentsOf);
}

function packedOf(item: JsonObject, gzip: Gzip): Packed {
  const text = JSON.stringify(item);
  return { text, packed: gzip.pack(text), values: valuesIn(item) };
}

/** The number of values: the value itself, and all values inside it. */
export function valuesIn(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, one) => sum + valuesIn(one as Json), 1);
}

function isFull(items: readonly Packed[]): boolean {
  const sum = (of: (item: Packed) => number): number => items.reduce((total, item) => total + of(item), 0);
  const packedBytes = sum(({ packed }) => (packed.length * 3) / 4);
  return (
    packedBytes > most.packedBytes || sum(({ text }) => text.length) > most.bytes || sum(({ values }) => values) > most.values
  );
}

function contentsOf(items: readonly Packed[]): Contents {
  const binaryData = Object.fromEntries(items.map(({ packed }, index) => [String(index), packed]));
  return { digest: digestOfText(listOf(items.map(({ text }) => text))), binaryData };
}

function listOf(texts: readonly string[]): string {
  return `[${texts.join(',')}]`;
}

/** The objects; undefined if the digest does not match them. */
export function readContents(configMap: JsonObject, digest: string | undefined, gzip: Gzip): readonly JsonObject[] | undefined {
  const binaryData = at(configMap, 'binaryData');
  const texts: string[] = [];
  // Somebody may have exchanged the ConfigMap. So its total size is bounded before the hook knows its digest.
  let rest = mostUnpacked;
  for (let index = 0; isObject(binaryData) && textAt(binaryData, String(index)) !== undefined; index += 1) {
    const text = gzip.unpack(textAt(binaryData, String(index)) ?? '', Math.max(0, rest));
    if (text === undefined) return undefined;
    rest -= text.length;
    texts.push(text);
  }
  const list = listOf(texts);
  if (digestOfText(list) !== digest) return undefined;
  const items = parseJson(list);
  return isList(items) ? items.filter(isObject) : undefined;
}

/** The changes that name their contents, and the ConfigMap that holds these contents. */
export interface Sourced {
  readonly changes: readonly JsonObject[];
  readonly source: Contents & { readonly name: string };
}

/** The name depends on the contents. If a process finds other live objects than the process before it, it uses another name. */
export function sourced(stage: string, changes: readonly JsonObject[], gzip: Gzip): Sourced {
  const items = changes.map(({ content }) => packedOf(isObject(content) ? content : {}, gzip));
  const contents = contentsOf(items);
  const name = hashedName('ptx', stage, contents.digest);
  const named = changes.map(({ content: _, ...change }, index) => ({
    ...change,
    contentFrom: { configMapKeyRef: { name, key: String(index) }, digest: digestOfText(items[index]?.text ?? '') },
  }));
  return { changes: named, source: { ...contents, name } };
}
