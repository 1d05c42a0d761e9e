// Values made from a schema: valid ones at random, and every way of breaking a valid one that the schema knows of.
import fc from 'fast-check';
import { isList, isObject, type Json, type JsonObject } from '../../hooks/objects/json.ts';
import type { Schema } from '../../schemas/schema.ts';

type Narrower = Readonly<Record<string, fc.Arbitrary<Json>>>;

/** Valid values. Where a rule in CEL narrows a text further, `narrower` gives the arbitrary for fields of that name. */
export function valid(schema: Schema, narrower: Narrower = {}): fc.Arbitrary<Json> {
  if (schema.type === 'string') return validText(schema);
  if (schema.type === 'integer') return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 2 ** 31 });
  if (schema.type === 'array')
    return fc.array(valid(schema.items ?? {}, narrower), { minLength: schema.minItems ?? 0, maxLength: 5 });
  if (schema.type === 'object') return validObject(schema, narrower);
  return fc.jsonValue({ maxDepth: 3 }).filter((value) => value !== null) as fc.Arbitrary<Json>;
}

function validText({ enum: values, pattern, minLength = 0, maxLength = 100 }: Schema): fc.Arbitrary<Json> {
  if (values) return fc.constantFrom(...values);
  if (pattern === undefined) return fc.string({ minLength, maxLength });
  return fc.stringMatching(new RegExp(pattern, 'u'), { maxLength });
}

function validObject({ properties = {}, required = [] }: Schema, narrower: Narrower) {
  const fields = Object.entries(properties).map(([name, field]) => [name, narrower[name] ?? valid(field, narrower)]);
  return fc.record(Object.fromEntries(fields), { requiredKeys: [...required] }) as fc.Arbitrary<JsonObject>;
}

interface Violation {
  readonly what: string;
  readonly value: Json | undefined;
}

/**
 * Each way of breaking a value, one at a time. The value must hold every field of the schema, so that none is left out; of fields that
 * exclude each other (oneOf) it holds one.
 */
export function violations(schema: Schema, value: Json, path = ''): readonly Violation[] {
  return [
    ...ownViolations(schema, value).map(({ what, value }) => ({ what: `${path}: ${what}`, value })),
    ...nested(schema, value, path),
  ];
}

function nested(schema: Schema, value: Json, path: string): readonly Violation[] {
  const { items, properties = {}, additionalProperties } = schema;
  if (items && isList(value))
    return violations(items, value[0] ?? null, `${path}[0]`).map(({ what, value: broken }) => ({
      what,
      value: [broken ?? null, ...value.slice(1)],
    }));
  if (!isObject(value)) return [];
  const ofKeys =
    typeof additionalProperties === 'object' ? Object.keys(value).map((key) => [key, additionalProperties] as const) : [];
  return [...Object.entries(properties), ...ofKeys].flatMap(([name, field]) => {
    const inner = value[name];
    if (inner === undefined && alternativesOf(schema).includes(name)) return [];
    if (inner === undefined) throw new Error(`the sample lacks ${path}.${name}: add it, so that it is tested`);
    return violations(field, inner, `${path}.${name}`).map(({ what, value: broken }) => ({
      what,
      value: { ...value, [name]: broken ?? null },
    }));
  });
}

function alternativesOf({ oneOf = [] }: Schema): readonly string[] {
  return oneOf.flatMap(({ required = [] }) => required);
}

function ownViolations(schema: Schema, value: Json): readonly Violation[] {
  return [
    ...wrongTypes(schema),
    ...wrongTexts(schema),
    ...wrongNumbers(schema),
    ...wrongLists(schema, value),
    ...wrongObjects(schema, value),
  ];
}

function wrongTypes({ type }: Schema): readonly Violation[] {
  const samples: readonly (readonly [string, Json])[] = [
    ['string', 'text'],
    ['integer', 7],
    ['boolean', true],
    ['array', []],
    ['object', {}],
  ];
  return samples
    .filter(([name]) => type !== undefined && name !== type)
    .map(([name, value]) => ({ what: `is of type ${name}`, value }));
}

function wrongTexts({ type, pattern, minLength, maxLength, enum: values }: Schema): readonly Violation[] {
  if (type !== 'string') return [];
  const texts: string[] = [];
  if (pattern)
    texts.push(
      ...['!', '-', '/', '..', ' ', 'a\u0000', '-a-', '2026-13-21T10:00'].filter((text) => !new RegExp(pattern, 'u').test(text)),
    );
  if (minLength) texts.push('');
  if (maxLength !== undefined) texts.push('a'.repeat(maxLength + 1));
  if (values) texts.push('NoSuchValue', '', values[0]?.toLowerCase() ?? '');
  return texts.map((value) => ({ what: `is ${JSON.stringify(value).slice(0, 30)}`, value }));
}

function wrongNumbers({ type, minimum, maximum }: Schema): readonly Violation[] {
  if (type !== 'integer') return [];
  const numbers = [1.5, ...(minimum === undefined ? [] : [minimum - 1]), ...(maximum === undefined ? [] : [maximum + 1])];
  return numbers.map((value) => ({ what: `is ${value}`, value }));
}

function wrongLists({ minItems, maxItems }: Schema, value: Json): readonly Violation[] {
  if (!isList(value)) return [];
  const tooFew = minItems ? [{ what: 'is empty', value: [] }] : [];
  const longer = Array.from({ length: (maxItems ?? 0) + 1 }, () => value[0] ?? null);
  return maxItems === undefined ? tooFew : [...tooFew, { what: `has ${longer.length} items`, value: longer }];
}

function wrongObjects(schema: Schema, value: Json): readonly Violation[] {
  if (!isObject(value)) return [];
  const { required = [], maxProperties } = schema;
  const alternatives = alternativesOf(schema).filter((name) => name in value);
  const lacking = [...required, ...alternatives].map((name) => ({
    what: `lacks ${name}`,
    value: Object.fromEntries(Object.entries(value).filter(([key]) => key !== name)),
  }));
  const keys = Array.from({ length: (maxProperties ?? 0) + 1 }, (_, index) => [`key-${index}`, Object.values(value)[0] ?? null]);
  return maxProperties === undefined
    ? lacking
    : [...lacking, { what: `has ${keys.length} keys`, value: Object.fromEntries(keys) }];
}
