import t from 'tap';
import { whyIncomparable } from '../../../../hooks/objects/content/too-large.ts';
import type { JsonObject } from '../../../../hooks/objects/json.ts';

const many = (count: number, prefix = ''): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}k${index}`, {}]));
const owned = (fieldsV1: JsonObject): JsonObject => ({ metadata: { managedFields: [{ manager: 'm', fieldsV1 }] } });
const long = 'x'.repeat(20_000);

t.test('objects as the API server stores them can be compared', async (t) => {
  t.equal(whyIncomparable(undefined), undefined);
  t.equal(whyIncomparable({ data: { key: 'x'.repeat(1_500_000) } }), undefined, 'a long value');
  t.equal(whyIncomparable({ data: { [long]: 'a', ...many(20_000) } }), undefined, 'a long key, with many beside it');
  t.equal(whyIncomparable(owned({ 'f:spec': many(20_000, 'f:') })), undefined, 'many fields');
  t.equal(
    whyIncomparable({ list: Array.from({ length: 1_000 }, () => ({ text: long, ...many(20) })) }),
    undefined,
    'a plain list',
  );
});

t.test('paths that are more text than memory holds', async (t) => {
  t.match(whyIncomparable({ spec: { [long]: many(5_000) } }), /keys/, 'one long key');
  t.match(whyIncomparable(owned({ 'f:spec': { [`f:${long}`]: many(5_000, 'f:') } })), /keys/, 'in managedFields alone');
  const keyed = owned({ 'f:list': { 'k:{"name":"a"}': {} } });
  t.match(whyIncomparable({ ...keyed, list: [{ name: long, map: many(5_000) }] }), /keys/, 'a long key of a list item');
  const levels = Array.from({ length: 400 }).reduce<JsonObject>((inner) => ({ longer: inner }), many(5_000));
  t.match(whyIncomparable({ spec: levels }), /keys/, 'many levels');
  t.match(whyIncomparable({ spec: Array.from({ length: 600 }).reduce<JsonObject>((a) => ({ a }), {}) }), /500 levels/);
});
