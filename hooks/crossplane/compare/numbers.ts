// Numbers in schemas, exactly as the API server stores them: integers above 2^53 too.
import { isList, isObject, isRawNumber, type Json, type JsonObject } from '../../objects/json.ts';

/** Undefined if the value is no number. An integer that a double cannot hold becomes a bigint; `<` compares both exactly. */
export function numberOf(value: Json | undefined): number | bigint | undefined {
  if (typeof value === 'number') return value;
  return isRawNumber(value) ? BigInt(value.rawJSON) : undefined;
}

const ofDouble = (value: Json): Json => (isRawNumber(value) ? Number(value.rawJSON) : value);
const ofList = (value: Json): Json => (isList(value) ? value.map(ofNode) : value);

const byKey = new Map<string, (value: Json) => Json>([
  ...['maximum', 'minimum', 'multipleOf'].map((key) => [key, ofDouble] as const),
  ...['items', 'additionalProperties', 'not'].map((key) => [key, ofNode] as const),
  ...['allOf', 'anyOf', 'oneOf'].map((key) => [key, ofList] as const),
  ['properties', (value) => (isObject(value) ? mapped(value, ofNode) : value)],
]);

/** The API server stores these bounds as doubles, so the live schema lacks digits that the schema of the package has. */
export function withDoubles(schema: JsonObject): JsonObject {
  return mapped(schema, (value, key) => byKey.get(key)?.(value) ?? value);
}

function ofNode(value: Json): Json {
  return isObject(value) ? withDoubles(value) : value;
}

function mapped(object: JsonObject, of: (value: Json, key: string) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, of(value, key)]));
}
