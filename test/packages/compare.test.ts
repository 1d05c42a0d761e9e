// What of a schema may change: one row for each rule, each both ways. Where a witness is given the API server judges too: it is valid
// under the old schema and not under the new one.
import t from 'tap';
import { compareDefinitions, describeBreaches } from '../../hooks/crossplane/compare/definition.ts';
import { nodeRules } from '../../hooks/crossplane/compare/rules.ts';
import { compareSchemas } from '../../hooks/crossplane/compare/walk.ts';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { parseJson } from '../../hooks/objects/json.ts';
import { type Schemas, serveSchemas } from './served-schemas.ts';

interface Row {
  readonly rule: string;
  /** Of one field `it`. */
  readonly old: JsonObject;
  readonly next: JsonObject;
  /** The way back breaks too. */
  readonly bothWays?: boolean;
  /** A value of the field: valid before, not after. Not where only the meaning changes. */
  readonly witness?: unknown;
  /** The field of the breach where it is not `it` itself. */
  readonly path?: string;
}

const text = { type: 'string' };
const list = { type: 'array', items: text };
const map = { type: 'object', additionalProperties: text };
const pair = (properties: JsonObject): JsonObject => ({ type: 'object', properties });
const ab = pair({ a: text, b: text });
const withDefault = (more: JsonObject): JsonObject => ({ ...pair({ a: text, b: { ...text, default: 'x' } }), ...more });
const byDefault = (value: string): JsonObject => ({
  type: 'array',
  items: { ...pair({ a: text, b: { ...text, default: value } }), required: ['a'] },
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['a', 'b'],
});
const keyed = { type: 'array', items: { ...ab, required: ['a'] } };
const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

const rows: readonly Row[] = [
  { rule: 'type', old: text, next: { type: 'integer' }, bothWays: true, witness: 'one' },
  { rule: 'format', old: text, next: { type: 'string', format: 'date' }, bothWays: true, witness: 'one' },
  { rule: 'intOrString', old: { 'x-kubernetes-int-or-string': true }, next: text, bothWays: true, witness: 1 },
  { rule: 'enum', old: text, next: { ...text, enum: ['a'] }, witness: 'b' },
  { rule: 'enum', old: { ...text, enum: ['a', 'b'] }, next: { ...text, enum: ['a'] }, witness: 'b' },
  { rule: 'required', old: ab, next: { ...ab, required: ['a'] }, witness: { b: 'x' } },
  { rule: 'maximum', old: { type: 'integer' }, next: { type: 'integer', maximum: 5 }, witness: 6 },
  { rule: 'maximum', old: { type: 'integer', maximum: 7 }, next: { type: 'integer', maximum: 5 }, witness: 6 },
  {
    rule: 'exclusiveMaximum',
    old: { type: 'integer', maximum: 5 },
    next: { type: 'integer', maximum: 5, exclusiveMaximum: true },
    witness: 5,
  },
  { rule: 'minimum', old: { type: 'number', minimum: 1 }, next: { type: 'number', minimum: 1.5 }, witness: 1.2 },
  {
    rule: 'exclusiveMinimum',
    old: { type: 'integer', minimum: 5 },
    next: { type: 'integer', minimum: 5, exclusiveMinimum: true },
    witness: 5,
  },
  { rule: 'maxLength', old: { ...text, maxLength: 3 }, next: { ...text, maxLength: 2 }, witness: 'abc' },
  { rule: 'minLength', old: text, next: { ...text, minLength: 1 }, witness: '' },
  { rule: 'maxItems', old: list, next: { ...list, maxItems: 1 }, witness: ['a', 'b'] },
  { rule: 'minItems', old: { ...list, minItems: 1 }, next: { ...list, minItems: 2 }, witness: ['a'] },
  { rule: 'maxProperties', old: map, next: { ...map, maxProperties: 1 }, witness: { a: 'x', b: 'y' } },
  { rule: 'minProperties', old: map, next: { ...map, minProperties: 2 }, witness: { a: 'x' } },
  { rule: 'pattern', old: text, next: { ...text, pattern: '^a' }, witness: 'b' },
  { rule: 'multipleOf', old: { type: 'integer' }, next: { type: 'integer', multipleOf: 2 }, witness: 3 },
  { rule: 'not', old: text, next: { ...text, not: { enum: ['b'] } }, witness: 'b' },
  { rule: 'oneOf', old: text, next: { ...text, oneOf: [{ enum: ['a'] }, { minLength: 3 }] }, witness: 'b' },
  { rule: 'allOf', old: { ...text, allOf: [{ minLength: 1 }] }, next: { ...text, allOf: [{ minLength: 2 }] }, witness: 'a' },
  {
    rule: 'anyOf',
    old: { ...text, anyOf: [{ enum: ['a'] }, { enum: ['b'] }] },
    next: { ...text, anyOf: [{ enum: ['a'] }] },
    witness: 'b',
  },
  { rule: 'nullable', old: { ...text, nullable: true }, next: text },
  {
    rule: 'preserveUnknownFields',
    old: { ...ab, 'x-kubernetes-preserve-unknown-fields': true },
    next: ab,
  },
  {
    rule: 'embeddedResource',
    old: anything,
    next: { ...anything, 'x-kubernetes-embedded-resource': true },
    witness: { a: 1 },
  },
  { rule: 'listType', old: list, next: { ...list, 'x-kubernetes-list-type': 'set' }, bothWays: true, witness: ['a', 'a'] },
  {
    rule: 'listMapKeys',
    old: {
      ...keyed,
      items: { ...keyed.items, required: ['a', 'b'] },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a', 'b'],
    },
    next: {
      ...keyed,
      items: { ...keyed.items, required: ['a', 'b'] },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a'],
    },
    bothWays: true,
    witness: [
      { a: '1', b: '1' },
      { a: '1', b: '2' },
    ],
  },
  { rule: 'mapType', old: map, next: { ...map, 'x-kubernetes-map-type': 'atomic' }, bothWays: true },
  {
    rule: 'validations',
    old: text,
    next: { ...text, maxLength: 9, 'x-kubernetes-validations': [{ rule: "self == 'a'" }] },
    witness: 'b',
  },
  { rule: 'fieldRemoved', old: ab, next: pair({ a: text }), path: 'it.b' },
  { rule: 'fieldRemoved', old: map, next: { type: 'object' }, path: 'it{}' },
  {
    rule: 'fieldOverUnknown',
    old: anything,
    next: { ...anything, properties: { a: text } },
    bothWays: true,
    witness: { a: 1 },
    path: 'it.a',
  },
  {
    rule: 'default',
    old: { ...ab, maxProperties: 1 },
    next: { ...ab, maxProperties: 1, properties: { a: text, b: { ...text, default: 'x' } } },
    bothWays: true,
    witness: { a: 'x' },
    path: 'it.b',
  },
  { rule: 'required', old: withDefault({ required: ['b'] }), next: { ...ab, required: ['b'] }, witness: {} },
  { rule: 'keptDefaults', old: withDefault({ minProperties: 1 }), next: { ...ab, minProperties: 1 }, witness: {} },
  {
    rule: 'keptDefaults',
    old: { type: 'array', items: { ...text, default: 'x' } },
    next: list,
    witness: [null],
  },
  {
    rule: 'keptDefaults',
    old: { type: 'object', additionalProperties: { ...text, default: 'x' }, minProperties: 1 },
    next: { ...map, minProperties: 1 },
    witness: { a: null },
  },
  {
    rule: 'default',
    old: withDefault({ anyOf: [{ required: ['b'] }] }),
    next: { ...ab, anyOf: [{ required: ['b'] }] },
    bothWays: true,
    witness: {},
    path: 'it.b',
  },
  {
    rule: 'default',
    old: withDefault({ 'x-kubernetes-validations': [{ rule: 'has(self.b)' }] }),
    next: { ...ab, 'x-kubernetes-validations': [{ rule: 'has(self.b)' }] },
    bothWays: true,
    witness: {},
    path: 'it.b',
  },
  {
    rule: 'default',
    old: { type: 'array', 'x-kubernetes-list-type': 'set', items: { ...ab, 'x-kubernetes-map-type': 'atomic' } },
    next: { type: 'array', 'x-kubernetes-list-type': 'set', items: withDefault({ 'x-kubernetes-map-type': 'atomic' }) },
    bothWays: true,
    witness: [{ a: 'x' }, { a: 'x', b: 'x' }],
    path: 'it[].b',
  },
  {
    rule: 'keyDefaults',
    old: byDefault('x'),
    next: byDefault('y'),
    bothWays: true,
    witness: [{ a: '1' }, { a: '1', b: 'y' }],
  },
  {
    rule: 'nullable',
    old: { ...text, enum: ['a'] },
    next: { ...text, enum: ['a'], nullable: true },
    bothWays: true,
    witness: null,
  },
  {
    rule: 'nullable',
    old: { ...ab, maxProperties: 1 },
    next: { ...pair({ a: text, b: { ...text, nullable: true } }), maxProperties: 1 },
    bothWays: true,
    witness: { a: 'x', b: null },
    path: 'it.b',
  },
];

const whole = (it: JsonObject): JsonObject => ({ type: 'object', properties: { it } });

for (const row of rows)
  t.test(`${row.rule}: ${JSON.stringify(row.next).slice(0, 80)}`, async (t) => {
    const found = compareSchemas(whole(row.old), whole(row.next));
    t.match(
      found.filter(({ rule }) => rule === row.rule),
      [{ path: `.${row.path ?? 'it'}` }],
    );
    t.same(compareSchemas(whole(row.old), whole(row.old)), [], 'a schema is compatible with itself');
    const back = compareSchemas(whole(row.next), whole(row.old));
    t.equal(back.length > 0, row.bothWays ?? false, `and back: ${JSON.stringify(back)}`);
  });

t.test('each rule has its row', async (t) => {
  const missing = Object.keys(nodeRules).filter((rule) => !rows.some((row) => row.rule === rule));
  // The API server accepts no uniqueItems: there is no such schema.
  t.same(missing, ['uniqueItems']);
});

t.test('the rows cover each place of a schema', async (t) => {
  const change = (wrap: (node: JsonObject) => JsonObject) =>
    compareSchemas(wrap(text), wrap({ type: 'integer' })).map(({ path }) => path);
  t.same(
    change((node) => whole({ type: 'array', items: node })),
    ['.it[]'],
  );
  t.same(
    change((node) => whole({ type: 'object', additionalProperties: node })),
    ['.it{}'],
  );
  t.same(
    change((node) => whole(pair({ deep: node }))),
    ['.it.deep'],
  );
  const required = { ...ab, required: ['a'], properties: { a: { ...text, default: 'x' }, b: text } };
  t.same(compareSchemas(ab, required), [], 'required with a default');
  t.same(compareSchemas(withDefault({}), ab), [], 'a default may go where no rule counts on it');
  t.same(compareSchemas(withDefault({ required: ['b'] }), ab), [], 'with the rule');
  t.match(compareSchemas(required, { ...ab, required: ['a'] }), [{ rule: 'required' }], 'and not in a later version alone');
  t.same(compareSchemas(text, { ...text, nullable: true }), [], 'a null may stay where no rule judges it');
  const judged = { ...text, 'x-kubernetes-validations': [{ rule: "self == 'a'" }] };
  t.same(compareSchemas(judged, { ...judged, nullable: true }), [], 'a rule of the node itself is not asked about a null');
  const large = (key: string, value: string): JsonObject => parseJson(`{"type":"integer","${key}":${value}}`) as JsonObject;
  const [written, less, stored] = ['9223372036854775807', '9223372036854775806', '9223372036854776000'];
  for (const key of ['maxLength', 'maxItems'])
    t.match(compareSchemas(large(key, written), large(key, less)), [{ rule: key }], `no digit of ${key} is lost`);
  for (const key of ['maximum', 'minimum', 'multipleOf']) {
    const nested = (value: string): JsonObject => ({
      ...whole({ type: 'array', items: large(key, value) }),
      not: { properties: { a: large(key, value) } },
      oneOf: [large(key, value)],
    });
    t.same(compareSchemas(nested(stored), nested(written)), [], `${key} is stored as a double`);
    t.same(compareSchemas(nested(written), nested(stored)), [], `${key} of a file`);
  }
  const exact = (value: string): JsonObject => ({ ...large('example', '1'), enum: [parseJson(`{"maximum":${value}}`)] });
  t.match(compareSchemas(exact(written), exact(less)), [{ rule: 'enum' }], 'no digit of a value is lost');
  t.match(
    compareSchemas(large('maximum', written), large('maximum', '9223372036854770000')),
    [{ rule: 'maximum', message: 'maximum was 9223372036854776000, is 9223372036854770000' }],
    'values that a double can distinguish',
  );
  const inBranch = (properties: JsonObject): JsonObject => ({ ...ab, allOf: [{ properties }] });
  t.match(compareSchemas(inBranch({}), inBranch({ a: { minLength: 2 } })), [{ rule: 'allOf' }], 'a branch may not name more');
  t.same(compareSchemas(inBranch({ a: { minLength: 2 } }), inBranch({})), [], 'it may name less');
});

t.test('apiVersion, kind and metadata are there without a schema', async (t) => {
  const found = (old: JsonObject, next: JsonObject): readonly string[] =>
    compareSchemas(old, next).map(({ rule, path }) => `${rule} ${path}`);
  const metadata = (properties?: JsonObject): JsonObject =>
    pair({ metadata: { type: 'object', ...(properties === undefined ? {} : { properties }) } });
  const short = metadata({ name: { ...text, maxLength: 8 } });
  t.same(found(metadata(), short), ['maxLength .metadata.name']);
  t.same(found(pair({}), short), ['maxLength .metadata.name'], 'metadata was not named either');
  t.same(found(metadata(), metadata({ generateName: { ...text, pattern: '^a' } })), ['pattern .metadata.generateName']);
  t.same(found(short, metadata()), [], 'a restriction may go');
  t.same(found(short, pair({})), [], 'and metadata with it');
  t.same(found(short, metadata({ name: { ...text, maxLength: 9 } })), []);
  const resource = (properties: JsonObject, more: JsonObject = {}): JsonObject =>
    whole({ type: 'object', 'x-kubernetes-embedded-resource': true, properties, ...more });
  const kept = { 'x-kubernetes-preserve-unknown-fields': true };
  const pod = { kind: { ...text, enum: ['Pod'] } };
  t.same(found(resource({}), resource(pod)), ['enum .it.kind']);
  t.same(found(resource({}, kept), resource(pod, kept)), ['enum .it.kind']);
  t.same(found(resource({}), resource({ apiVersion: { ...text, pattern: '^v1$' } })), ['pattern .it.apiVersion']);
  t.same(found(resource({}), resource(short.properties as JsonObject)), ['maxLength .it.metadata.name']);
  t.same(found(resource(pod), resource({})), [], 'a restriction may go');
  t.same(
    found(resource({}), whole({ type: 'object' })),
    ['fieldRemoved .it.apiVersion', 'fieldRemoved .it.kind', 'fieldRemoved .it.metadata'],
    'and is dropped where it is no resource any more',
  );
});

function definition(spec: JsonObject, stored: readonly string[] = ['v1']): JsonObject {
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: whole(text) } };
  const names = { kind: 'Bucket', plural: 'buckets' };
  return {
    spec: { group: 'a.example.org', scope: 'Cluster', names, versions: [version], ...spec },
    status: { storedVersions: stored },
  };
}

t.test('15: members that a definition may not lose', async (t) => {
  const version = (name: string, schema: JsonObject, served = true): JsonObject => ({
    name,
    served,
    schema: { openAPIV3Schema: schema },
  });
  const old = definition({});
  const rules = (next: JsonObject, from: JsonObject = old) =>
    compareDefinitions(from, next).map(({ rule, path }) => `${rule} ${path}`);
  t.same(rules(old), []);
  t.same(rules(definition({ group: 'b.example.org' })), ['identity group']);
  t.same(rules(definition({ scope: 'Namespaced' })), ['identity scope']);
  t.same(rules(definition({ names: { kind: 'Other', plural: 'buckets' } })), ['identity names.kind']);
  t.same(rules(definition({ names: { kind: 'Bucket', plural: 'others' } })), ['identity names.plural']);
  t.same(rules(definition({ versions: [version('v2', {})] })), ['storedVersion ', 'servedVersion ']);
  t.same(rules(definition({ versions: [version('v1', whole(text), false)] })), ['servedVersion ']);
  t.same(rules(definition({ versions: [version('v1', whole({ type: 'integer' }))] })), ['type .it']);
  const alpha = definition({ versions: [version('v1alpha1', whole(text))] }, ['v1alpha1']);
  t.same(rules(definition({ versions: [version('v1alpha1', whole({ type: 'integer' }))] }), alpha), [], 'alpha may change');
  t.same(rules(definition({}), alpha), ['storedVersion '], 'but not go while it is stored');
  const beta = definition({ versions: [version('v1beta1', ab)] }, []);
  const breaches = compareDefinitions(beta, definition({ versions: [version('v1beta1', pair({ a: text }))] }));
  t.equal(describeBreaches(breaches), 'v1beta1 .b the field is gone');
});

t.test('a missing scope means the default of its kind and version', async (t) => {
  const kinds = [
    ['v1', 'CompositeResourceDefinition', 'LegacyCluster'],
    ['v2', 'CompositeResourceDefinition', 'Namespaced'],
    ['v1alpha1', 'ManagedResourceDefinition', 'Namespaced'],
  ] as const;
  for (const [version, kind, scope] of kinds) {
    const head = { apiVersion: `apiextensions.crossplane.io/${version}`, kind };
    const { scope: _, ...spec } = definition({}).spec as JsonObject;
    const paths = (live: JsonObject, next: JsonObject): readonly string[] =>
      compareDefinitions({ ...head, spec: { ...spec, ...live } }, { ...head, spec: { ...spec, ...next } }).map(
        ({ path }) => path,
      );
    t.same(paths({ scope }, {}), [], `${kind} ${version}: the API server has added it`);
    t.same(paths({}, { scope }), [], `${kind} ${version}: a file without it`);
    t.same(paths({ scope: 'Cluster' }, {}), ['scope'], `${kind} ${version}: another one would change`);
    t.same(paths({ scope }, { scope: 'Cluster' }), ['scope'], `${kind} ${version}: it changes`);
  }
  const xrd = (version: string, scope: JsonObject): JsonObject => ({
    apiVersion: `apiextensions.crossplane.io/${version}`,
    kind: 'CompositeResourceDefinition',
    spec: { group: 'a.example.org', ...scope },
  });
  t.same(compareDefinitions(xrd('v1', { scope: 'Namespaced' }), xrd('v2', {})), [], 'a live one of v2, read as v1');
  t.match(
    compareDefinitions(xrd('v1', { scope: 'LegacyCluster' }), xrd('v2', {})),
    [{ path: 'scope' }],
    'v2 has another default',
  );
});

t.test('the API server judges the witnesses', async (t) => {
  const judged = rows.filter(({ witness }) => witness !== undefined);
  const schemas: Schemas = await serveSchemas(
    t,
    judged.flatMap((row) => [row.old, row.next]),
  );
  for (const [index, row] of judged.entries()) {
    t.equal(await schemas.refusal(2 * index, row.witness), undefined, `${row.rule}: valid before`);
    t.type(await schemas.refusal(2 * index + 1, row.witness), 'string', `${row.rule}: invalid after`);
  }
});
