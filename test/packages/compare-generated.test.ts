// Generated pairs of schemas, and values: a compatible change never makes a valid value invalid. The API server
// judges.
//
// `JANUS_SCHEMAS=1000 npm test -- test/packages/compare-generated.test.ts` makes a thousand pairs, JANUS_TEST_SEED other ones.
import fc from 'fast-check';
import t from 'tap';
import { compareSchemas } from '../../hooks/crossplane/compare/walk.ts';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { type Schemas, serveSchemas } from './served-schemas.ts';

const wanted = Number(process.env.JANUS_SCHEMAS ?? 60);
const seed = Number(process.env.JANUS_TEST_SEED ?? 20_261_122);
const pairsInOne = 20;
const valuesOfOne = 6;

const optional = (entries: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<object> =>
  fc.record(entries, { requiredKeys: [] });

const ofText = optional({
  minLength: fc.nat(2),
  maxLength: fc.integer({ min: 2, max: 4 }),
  pattern: fc.constantFrom('^a', 'b$'),
  enum: fc.uniqueArray(fc.constantFrom('a', 'ab', 'b', 'abc'), { minLength: 1 }),
  nullable: fc.boolean(),
  anyOf: fc.array(fc.constantFrom({ minLength: 1 }, { minLength: 2 }, { enum: ['a'] }, { pattern: 'b' }), {
    minLength: 1,
    maxLength: 2,
  }),
  allOf: fc.array(fc.constantFrom({ maxLength: 3 }, { maxLength: 2 }, { minLength: 1 }), { minLength: 1, maxLength: 2 }),
}).map((more) => ({ type: 'string', ...more }));

const ofNumber = optional({
  minimum: fc.nat(2),
  maximum: fc.integer({ min: 2, max: 4 }),
  exclusiveMaximum: fc.boolean(),
  multipleOf: fc.constantFrom(1, 2),
  not: fc.constantFrom({ enum: [1] }, { minimum: 3 }),
  nullable: fc.boolean(),
}).map((more) => ('exclusiveMaximum' in more && !('maximum' in more) ? { type: 'integer' } : { type: 'integer', ...more }));

const leaf: fc.Arbitrary<object> = fc.oneof(ofText, ofNumber, fc.constant({ 'x-kubernetes-int-or-string': true }));

function nested(inner: fc.Arbitrary<object>): fc.Arbitrary<object> {
  const lists = optional({ minItems: fc.nat(1), maxItems: fc.integer({ min: 1, max: 3 }), nullable: fc.boolean() });
  const maps = optional({ minProperties: fc.nat(1), maxProperties: fc.integer({ min: 1, max: 2 }) });
  const objects = optional({
    required: fc.subarray(['a', 'b'], { minLength: 1 }),
    'x-kubernetes-preserve-unknown-fields': fc.constant(true),
    maxProperties: fc.integer({ min: 1, max: 3 }),
    oneOf: fc.constantFrom([{ required: ['a'] }, { required: ['b'] }]),
  });
  return fc.oneof(
    fc.tuple(lists, inner).map(([more, items]) => ({ type: 'array', items, ...more })),
    fc.tuple(maps, inner).map(([more, additionalProperties]) => ({ type: 'object', additionalProperties, ...more })),
    fc.tuple(objects, optional({ a: inner, b: inner })).map(([more, properties]) => ({ type: 'object', properties, ...more })),
  );
}

const schema = fc.oneof(leaf, nested(leaf), nested(fc.oneof(leaf, nested(leaf))));

/** The same with one thing changed somewhere: most pairs of any two have nothing in common. */
const changed = (node: object): fc.Arbitrary<object> => {
  const inner = innerOf(node);
  const keys = Object.keys(node).filter((key) => key !== 'type' && key !== 'x-kubernetes-int-or-string');
  const another = inner.length === 0 ? sameType(node).map((more) => ({ ...node, ...more })) : fc.constant(node);
  return fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...(keys.length > 0 ? keys : ['none'])).map((key) => without(node, key)) },
    { weight: 2, arbitrary: another },
    ...inner.map(({ within, put }) => ({ weight: 4, arbitrary: changed(within).map(put) })),
  );
};

function sameType(node: object): fc.Arbitrary<object> {
  if (!('type' in node)) return leaf;
  return { string: ofText, integer: ofNumber }[String(node.type)] ?? fc.constant(node);
}

interface Inner {
  readonly within: object;
  readonly put: (changed: object) => object;
}

function innerOf(node: object): readonly Inner[] {
  const parts = node as Record<string, object>;
  const members = ['items', 'additionalProperties'].flatMap((key): Inner[] => {
    const within = parts[key];
    return within === undefined ? [] : [{ within, put: (one) => ({ ...node, [key]: one }) }];
  });
  const properties = Object.entries(parts.properties ?? {}).map(
    ([name, within]): Inner => ({ within, put: (one) => ({ ...node, properties: { ...parts.properties, [name]: one } }) }),
  );
  return [...members, ...properties];
}

function without(node: object, key: string): object {
  // What must be there in a structural schema stays.
  if (['items', 'properties', 'additionalProperties'].includes(key)) return node;
  return Object.fromEntries(
    Object.entries(node).filter(([name]) => name !== key && !(key === 'maximum' && name.startsWith('exclusive'))),
  );
}

const pairs = schema.chain((old) => fc.oneof(changed(old), changed(old).chain(changed)).map((next) => [old, next] as const));

const values: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  leaf: fc.constantFrom<unknown>('', 'a', 'ab', 'b', 'abc', 0, 1, 2, 3, 4),
  any: fc.oneof(
    { weight: 5, arbitrary: tie('leaf') },
    fc.array(tie('leaf'), { maxLength: 3 }),
    fc.record({ a: tie('any'), b: tie('any'), c: tie('leaf') }, { requiredKeys: [] }),
  ),
})).any;

/** A value made after a schema, so that most are valid. */
function valueFor(node: Record<string, unknown>): fc.Arbitrary<unknown> {
  if (node.type === 'string') return fc.constantFrom('a', 'ab', 'b', 'abc', '', 'bb');
  if (node.type === 'integer') return fc.nat(5);
  if (node.type === 'array') return fc.array(valueFor(node.items as Record<string, unknown>), { maxLength: 3 });
  if (node.additionalProperties !== undefined)
    return fc.dictionary(fc.constantFrom('a', 'b', 'c'), valueFor(node.additionalProperties as Record<string, unknown>), {
      noNullPrototype: true,
    });
  if (node.type !== 'object') return fc.constantFrom('a', 1);
  const properties = Object.entries((node.properties ?? {}) as Record<string, Record<string, unknown>>);
  const known = Object.fromEntries(properties.map(([name, inner]) => [name, valueFor(inner)]));
  return fc.record({ ...known, c: values }, { requiredKeys: ((node.required ?? []) as 'c'[]).filter((name) => name in known) });
}

interface Case {
  readonly old: JsonObject;
  readonly next: JsonObject;
  readonly values: readonly unknown[];
  readonly isCompatible: boolean;
}

function casesOf(count: number): readonly Case[] {
  const drawn = fc.sample(
    pairs.chain(([old, next]) =>
      fc
        .array(fc.oneof({ weight: 5, arbitrary: valueFor(old as Record<string, unknown>) }, values), {
          minLength: valuesOfOne,
          maxLength: valuesOfOne,
        })
        .map((made) => ({ old, next, values: made })),
    ),
    { seed, numRuns: count },
  );
  const whole = (it: object): JsonObject => ({ type: 'object', properties: { it: it as JsonObject } });
  return drawn.map((one) => {
    const isCompatible = compareSchemas(whole(one.old), whole(one.next)).length === 0;
    return { old: one.old as JsonObject, next: one.next as JsonObject, values: one.values, isCompatible };
  });
}

const counts = { valid: 0, broken: 0, compatible: 0 };

async function judge(t: Tap, one: Case, schemas: Schemas, index: number): Promise<void> {
  if (one.isCompatible) counts.compatible += 1;
  for (const value of one.values) {
    if ((await schemas.refusal(2 * index, value)) !== undefined) continue;
    counts.valid += 1;
    const refusal = await schemas.refusal(2 * index + 1, value);
    if (refusal !== undefined) counts.broken += 1;
    if (one.isCompatible)
      t.equal(refusal, undefined, `${JSON.stringify(value)} of ${JSON.stringify(one.old)} -> ${JSON.stringify(one.next)}`);
  }
}

type Tap = typeof t;

t.test(`${wanted} pairs, JANUS_TEST_SEED=${seed}`, async (t) => {
  const cases = casesOf(wanted);
  for (let first = 0; first < cases.length; first += pairsInOne) {
    const some = cases.slice(first, first + pairsInOne);
    const schemas = await serveSchemas(
      t,
      some.flatMap(({ old, next }) => [old, next]),
    );
    for (const [index, one] of some.entries()) await judge(t as unknown as Tap, one, schemas, index);
  }
  t.comment(JSON.stringify(counts));
  t.ok(counts.compatible > wanted / 10, 'some are compatible');
  t.ok(counts.valid > wanted / 2, 'there are valid values');
  t.ok(counts.broken > 0, 'some of the incompatible pairs break values');
});
