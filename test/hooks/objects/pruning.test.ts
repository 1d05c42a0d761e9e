// Which values a schema of a CRD drops, as a table: whether its objects are listed, and whether one of them holds such a value.
import t from 'tap';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { isPruned, pruningVersions, readableVersion } from '../../../hooks/objects/pruning.ts';

const text = { type: 'string' };
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more });
const mapOf = (additionalProperties: JsonObject | boolean): JsonObject => ({ type: 'object', additionalProperties });
const listOf = (items: JsonObject): JsonObject => ({ type: 'array', items });

function crd(spec: JsonObject, more: JsonObject = {}): JsonObject {
  const schema = { openAPIV3Schema: object({ spec }) };
  return { spec: { versions: [{ name: 'v1', served: true, storage: true, schema }], ...more } };
}

const rows: readonly (readonly [name: string, before: JsonObject, after: JsonObject, spec: JsonObject, isLost: boolean])[] = [
  ['a field goes', object({ a: text, b: text }), object({ a: text }), { b: '1' }, true],
  ['nobody uses it', object({ a: text, b: text }), object({ a: text }), { a: '1' }, false],
  ['a map becomes an object', mapOf(text), object({ a: text }), { b: '1' }, true],
  ['a map becomes an object that has the name', mapOf(text), object({ a: text }), { a: '1' }, false],
  ['a map of objects loses a field', mapOf(object({ a: text, b: text })), mapOf(object({ a: text })), { x: { b: '1' } }, true],
  ['a name of a map of objects', mapOf(open), object({ a: object({}) }, { additionalProperties: open }), { a: { b: '1' } }, true],
  ['an open object becomes a map', open, mapOf(object({ a: text })), { x: { b: '1' } }, true],
  ['an open object closes', open, object({}), { b: '1' }, true],
  ['a name in an open object', open, { ...open, properties: { a: object({ b: text }) } }, { a: { c: '1' } }, true],
  ['a name in an open object, of a text', open, { ...open, properties: { a: text } }, { a: 'c' }, false],
  ['in a list', listOf(object({ a: text, b: text })), listOf(object({ a: text })), [{ b: '1' }] as unknown as JsonObject, true],
  [
    'an embedded object is none',
    object({ a: object({ x: text }, { 'x-kubernetes-embedded-resource': true }) }),
    object({ a: object({ x: text }) }),
    { a: { apiVersion: 'v1', x: '1' } },
    true,
  ],
];

for (const [name, before, after, spec, isLost] of rows)
  t.test(name, async (t) => {
    const [one, other] = [crd(before), crd(after)];
    t.equal(isPruned({ spec }, { before: one, after: other }, 'v1'), isLost);
    if (isLost) t.same(pruningVersions(one, other), ['v1'], 'its objects are listed');
    t.same(pruningVersions(one, one), []);
  });

t.test('a field comes', async (t) => t.same(pruningVersions(crd(object({ a: text })), crd(object({ a: text, b: text }))), []));

t.test('a version that is stored and not served is read in one that is', async (t) => {
  const version = (name: string, spec: JsonObject, served: boolean, storage: boolean): JsonObject => ({
    ...{ name, served, storage },
    schema: { openAPIV3Schema: object({ spec }) },
  });
  const with_ = (stored: JsonObject, storedVersions: readonly string[] = ['v2']): JsonObject => ({
    spec: { versions: [version('v1', object({ a: text }), false, false), version('v2', stored, true, true)] },
    status: { storedVersions },
  });
  const hidden = (spec: JsonObject, storedVersions: readonly string[]): JsonObject => ({
    spec: { versions: [version('v1', spec, false, false), version('v2', object({ a: text }), true, true)] },
    status: { storedVersions },
  });
  t.same(pruningVersions(with_(object({ a: text, b: text })), with_(object({ a: text }))), ['v2']);
  const [wide, narrow] = [object({ a: text, b: text }), object({ a: text })];
  t.same(pruningVersions(hidden(wide, ['v1', 'v2']), hidden(narrow, ['v1', 'v2'])), ['v1']);
  t.same(pruningVersions(hidden(wide, ['v2']), hidden(narrow, ['v2'])), [], 'nothing is stored in it');
  t.equal(readableVersion(hidden(wide, ['v1', 'v2']), 'v1'), 'v2');
  t.equal(readableVersion(hidden(wide, ['v1', 'v2']), 'v2'), 'v2');
});

t.test('unknown fields of all objects were kept, and are not any more', async (t) => {
  const kept = { preserveUnknownFields: true };
  t.same(pruningVersions(crd(object({}), kept), crd(object({}))), ['v1']);
  t.same(pruningVersions(crd(object({}), kept), crd(object({}), kept)), []);
});
