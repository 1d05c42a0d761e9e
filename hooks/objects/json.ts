// Objects as they are: raw JSON from the wire to the wire. The parser keeps integers above 2^53 as raw JSON (`JSON.rawJSON`). Keys
// such as `__proto__` are ordinary keys; absent and empty are different.

import { markLongIntegers, replaceMarked } from './long-integers.ts';

/** An integer that a double cannot hold, kept as its original text. (The API server keeps decimals as doubles itself.) */
interface RawNumber {
  readonly rawJSON: string;
}

export type Json = null | boolean | number | string | RawNumber | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

declare global {
  interface JSON {
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
  }
}

/** Parses JSON text without losing a digit. Throws SyntaxError as JSON.parse does. */
export function parseJson(text: string): Json {
  const marked = markLongIntegers(text);
  return (marked === undefined ? JSON.parse(text) : replaceMarked(JSON.parse(marked))) as Json;
}

export function isRawNumber(value: Json | undefined): value is RawNumber {
  return JSON.isRawJSON(value);
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

/** The most maps and lists inside one another that the engine works with. It works by recursion, so there must be a limit. */
export const mostLevels = 500;

/** Whether a value has more levels. The function goes no deeper than that: the value may be meant to exhaust the stack. */
export function isDeeperThan(value: Json | undefined, levels: number): boolean {
  if (value === undefined) return false;
  if (levels < 0) return true;
  if (isList(value)) return value.some((one) => isDeeperThan(one, levels - 1));
  return isObject(value) && Object.keys(value).some((key) => isDeeperThan(value[key], levels - 1));
}

/** The value of an own key; never something inherited, so that `constructor` and `__proto__` are data. */
export function at(value: Json | undefined, ...keys: readonly string[]): Json | undefined {
  let current = value;
  for (const key of keys) {
    if (!isObject(current) || !Object.hasOwn(current, key)) return undefined;
    current = current[key];
  }
  return current;
}

export function textAt(value: Json | undefined, ...keys: readonly string[]): string | undefined {
  const found = at(value, ...keys);
  return typeof found === 'string' ? found : undefined;
}

/** Empty if there is no list. */
export function listAt(value: Json | undefined, ...keys: readonly string[]): readonly Json[] {
  const found = at(value, ...keys);
  return isList(found) ? found : [];
}

/** Empty if there is no object. */
export function objectAt(value: Json | undefined, ...keys: readonly string[]): JsonObject {
  const found = at(value, ...keys);
  return isObject(found) ? found : {};
}

/** The members of `listAt` that are objects. */
export function objectsAt(value: Json | undefined, ...keys: readonly string[]): readonly JsonObject[] {
  return listAt(value, ...keys).filter(isObject);
}

/** A copy with one key set; `undefined` removes it. Safe for every key, `__proto__` included. */
export function withKey(object: JsonObject, key: string, value: Json | undefined): JsonObject {
  return withKeys(object, new Map([[key, value]]));
}

/** A copy with these keys set; `undefined` removes a key. Safe for every key, `__proto__` included. */
export function withKeys(object: JsonObject, values: ReadonlyMap<string, Json | undefined>): JsonObject {
  const copy = { ...object };
  for (const [key, value] of values)
    if (value === undefined) Reflect.deleteProperty(copy, key);
    else Object.defineProperty(copy, key, { value, configurable: true, enumerable: true, writable: true });
  return copy;
}

/** A copy with the value at a path set. The function makes missing objects on the way; `undefined` removes the last key. */
export function withPath(object: JsonObject, path: readonly string[], value: Json | undefined): JsonObject {
  const [key, ...rest] = path;
  if (key === undefined) return object;
  if (rest.length === 0) return withKey(object, key, value);
  const child = at(object, key);
  if (value === undefined && !isObject(child)) return object;
  return withKey(object, key, withPath(isObject(child) ? child : {}, rest, value));
}

/** Deep equality of values. Key order does not count, list order does. */
export function equalJson(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (isList(left) && isList(right))
    return left.length === right.length && left.every((item, index) => equalJson(item, right[index]));
  if (isObject(left) && isObject(right)) return equalObjects(left, right);
  return isRawNumber(left) && isRawNumber(right) && left.rawJSON === right.rawJSON;
}

function equalObjects(left: JsonObject, right: JsonObject): boolean {
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => left[key] === right[key] || (Object.hasOwn(right, key) && equalJson(left[key], right[key])))
  );
}

/** One text for equal values, with sorted keys. For digests and for keys of maps. */
export function canonicalJson(value: Json): string {
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`).join(',')}}`;
}

/**
 * This JSON, escaped so that a YAML parser reads an equal value. For a YAML 1.1 parser, the replaced characters break a line, or a
 * text may not contain them.
 */
export function asYaml(json: string): string {
  return json.replaceAll(unlikeJson, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const unlikeJson = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;
