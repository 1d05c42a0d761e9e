// Converts objects for CEL. Integers become bigint, because CEL reads a JavaScript number as a double. Maps become Maps, so that a key
// such as `constructor` is data. Values are converted when they are read: an object may have 1.5 MB.
import type { CelInput } from '@bufbuild/cel';
import { at, isList, isObject, isRawNumber, type Json, type JsonObject } from '../../hooks/objects/json.ts';

export function inputOf(json: Json): CelInput {
  if (isObject(json)) return new ObjectMap(json);
  if (isRawNumber(json)) return integerOf(json.rawJSON);
  if (typeof json === 'number') return Number.isInteger(json) ? integerOf(json) : json;
  return isList(json) ? json.map(inputOf) : json;
}

/** An int of CEL has 64 bits. A larger number is a double. */
function integerOf(number: string | number): bigint | number {
  const integer = BigInt(number);
  return BigInt.asIntN(64, integer) === integer ? integer : Number(number);
}

class ObjectMap extends Map<string, CelInput> {
  readonly #json: JsonObject;

  constructor(json: JsonObject) {
    super();
    this.#json = json;
  }

  override get size(): number {
    return Object.keys(this.#json).length;
  }

  override get(key: string): CelInput | undefined {
    // An expression may use any key, but keys in JSON are texts.
    const json = typeof key === 'string' ? at(this.#json, key) : undefined;
    const value = super.get(key) ?? (json === undefined ? undefined : inputOf(json));
    if (value !== undefined) super.set(key, value);
    return value;
  }

  override has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  override keys(): MapIterator<string> {
    return Object.keys(this.#json).values();
  }

  override *entries(): MapIterator<[string, CelInput]> {
    for (const key of Object.keys(this.#json)) yield [key, this.get(key) ?? null];
  }

  override *values(): MapIterator<CelInput> {
    for (const [, value] of this.entries()) yield value;
  }

  override forEach(act: (value: CelInput, key: string, map: Map<string, CelInput>) => void): void {
    for (const [key, value] of this.entries()) act(value, key, this);
  }

  override [Symbol.iterator](): MapIterator<[string, CelInput]> {
    return this.entries();
  }
}
