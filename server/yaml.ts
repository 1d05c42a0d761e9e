// Reads YAML as Kubernetes does (YAML 1.1, by sigs.k8s.io/yaml), without losing digits. Values that JSON does not have (times, sets,
// merges) become text or are refused. No message quotes the text.
import {
  boolYaml11Tag,
  defineScalarTag,
  FAILSAFE_SCHEMA,
  floatYaml11Tag,
  intYaml11Tag,
  loadAll,
  NOT_RESOLVED,
  nullYaml11Tag,
  realMapTag,
} from 'js-yaml';
import type { Json, JsonObject } from '../hooks/objects/json.ts';

// Source of the rules for numbers: sigs.k8s.io/yaml goyaml.v2/resolve.go. `1:30` is text, `08` is 8, `1e3` is 1000.
const integer = /^[-+]?(?:0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)$/;
const decimal = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const longest = { from: -(2n ** 63n), to: 2n ** 64n - 1n };

const exactInteger = defineScalarTag('tag:yaml.org,2002:int', {
  ...intYaml11Tag,
  resolve: (source) => {
    const plain = source.replaceAll('_', '');
    if (!integer.test(plain)) return NOT_RESOLVED;
    const value = integerOf(plain);
    if (value < longest.from || value > longest.to) return NOT_RESOLVED;
    return Number.isSafeInteger(Number(value)) ? Number(value) : JSON.rawJSON(String(value));
  },
});
const number = defineScalarTag('tag:yaml.org,2002:float', {
  ...floatYaml11Tag,
  resolve: (source, isExplicit, tagName) => {
    const plain = source.replaceAll('_', '');
    if (decimal.test(plain)) return Number(plain);
    return /^[-+]?\.[a-z]/i.test(source) ? floatYaml11Tag.resolve(source, isExplicit, tagName) : NOT_RESOLVED;
  },
});
const schema = FAILSAFE_SCHEMA.withTags(nullYaml11Tag, boolYaml11Tag, exactInteger, number, realMapTag);

function integerOf(plain: string): bigint {
  const digits = plain.replace(/^[-+]/, '').toLowerCase();
  const value = BigInt(/^0[0-7]/.test(digits) ? `0o${digits.slice(1)}` : digits);
  return plain.startsWith('-') ? -value : value;
}

/** The limits of a document. */
export interface Bounds {
  /** Nested maps and lists. */
  readonly levels: number;
  /** The number of values. Each use of an alias counts, here and for the characters. */
  readonly values: number;
  readonly characters: number;
}

/** Why a text cannot be read: a predicate without a subject, such as `holds more than 3 values`. */
export class Unfit extends Error {}

export interface YamlTask {
  readonly texts: readonly string[];
  /** One list for each text. */
  readonly bounds: Bounds;
}

/**
 * The documents of each text, as the text of a JSON list of lists: a copy of the values would lose long integers. If a text cannot be
 * read, the result is a predicate without a subject for the first such text, such as `holds more than 3 values`.
 */
export type YamlAnswer = { readonly kind: 'json'; readonly text: string } | { readonly kind: 'unreadable'; readonly why: string };

export function answerTo({ texts, bounds }: YamlTask): YamlAnswer {
  try {
    return { kind: 'json', text: JSON.stringify(readAll(texts, bounds)) };
  } catch (error) {
    if (error instanceof Unfit) return { kind: 'unreadable', why: error.message };
    throw error;
  }
}

// Aliases can make each small text as large as its bounds allow, and a task may have hundreds of texts.
function readAll(texts: readonly string[], bounds: Bounds): readonly (readonly Json[])[] {
  const together = { values: 2 * bounds.values, characters: 2 * bounds.characters };
  return texts.map((text) => readYaml(text, bounds, together));
}

type Left = Record<'values' | 'characters', number>;

/** The documents in a text, in order. Throws Unfit. `together`: what this text and later ones may have. */
export function readYaml(text: string, bounds: Bounds, together: Left = { ...bounds }): readonly Json[] {
  const left = { ...bounds };
  return loaded(text, bounds).map((document) => toJson(document, 0, { bounds, left, together }));
}

function loaded(text: string, { levels }: Bounds): readonly unknown[] {
  try {
    return loadAll(text, { schema, maxDepth: levels });
  } catch (error) {
    // The parser's own message would quote the text.
    const place = placeOf(error);
    throw new Unfit(`is not the YAML of objects${place === '' ? '' : `: line ${place}`}`);
  }
}

function placeOf(error: unknown): string {
  const mark = typeof error === 'object' && error !== null && 'mark' in error ? error.mark : undefined;
  return typeof mark === 'object' && mark !== null && 'line' in mark ? String(Number(mark.line) + 1) : '';
}

interface MemoryBudget {
  readonly bounds: Bounds;
  readonly left: Left;
  readonly together: Left;
}

// An aliased value counts each time it is used: a walk through the object visits it each time.
function toJson(value: unknown, level: number, room: MemoryBudget): Json {
  take(room, 'values', 1);
  if (level > room.bounds.levels) throw new Unfit(`holds a document of more than ${room.bounds.levels} levels`);
  if (value instanceof Map) return mapToJson(value, level, room);
  if (Array.isArray(value)) return value.map((one) => toJson(one, level + 1, room));
  if (typeof value === 'string') take(room, 'characters', value.length);
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Unfit('holds a number that JSON has not');
  return (value ?? null) as Json;
}

function take({ bounds, left, together }: MemoryBudget, what: keyof Left, count: number): void {
  left[what] -= count;
  together[what] -= count;
  if (left[what] < 0) throw new Unfit(`holds a document of more than ${bounds[what]} ${what}`);
  if (together[what] < 0) throw new Unfit(`holds small documents that aliases make larger than ${2 * bounds[what]} ${what}`);
}

function mapToJson(map: ReadonlyMap<unknown, unknown>, level: number, room: MemoryBudget): JsonObject {
  const entries = [...map].map(([key, one]): [string, Json] => [keyOf(key, room), toJson(one, level + 1, room)]);
  const object = Object.fromEntries(entries);
  if (Object.keys(object).length < entries.length) throw new Unfit('holds a map with a key twice');
  return object;
}

function keyOf(key: unknown, room: MemoryBudget): string {
  if (key === '<<') throw new Unfit('merges maps by <<: write them out');
  if (typeof key === 'object' && key !== null && !JSON.isRawJSON(key)) throw new Unfit('holds a key that is no text');
  const text = JSON.isRawJSON(key) ? key.rawJSON : String(key);
  take(room, 'characters', text.length);
  return text;
}
