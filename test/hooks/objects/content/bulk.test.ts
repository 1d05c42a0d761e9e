import t from 'tap';
import { whyIncomparable } from '../../../../hooks/objects/content/too-large.ts';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import { measureOfText, remember } from '../../../../hooks/objects/measure.ts';

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

t.test('the measure of the text decides as the walk does', async (t) => {
  const read = (object: JsonObject): JsonObject => {
    const text = JSON.stringify(object);
    const parsed = JSON.parse(text) as JsonObject;
    remember(parsed, measureOfText(text));
    return parsed;
  };
  const keyed = owned({ 'f:list': { 'k:{"name":"a"}': {} } });
  const levels = Array.from({ length: 400 }).reduce<JsonObject>((inner) => ({ longer: inner }), many(5_000));
  const objects: readonly JsonObject[] = [
    { data: many(20_000) },
    owned({ 'f:spec': many(20_000, 'f:') }),
    { spec: { [long]: many(5_000) } },
    { spec: { ['\u0001'.repeat(4_000)]: many(5_000) } },
    { ...keyed, list: [{ name: long, map: many(5_000) }] },
    { spec: levels },
    { spec: Array.from({ length: 600 }).reduce<JsonObject>((a) => ({ a }), {}) },
    { list: Array.from({ length: 5_000 }, () => long.slice(0, 100)) },
  ];
  for (const object of objects) t.equal(whyIncomparable(read(object)), whyIncomparable(object));
  const escaped = JSON.stringify(keyed).replace('"k:', '"\\u006b:');
  for (const text of [JSON.stringify(keyed), escaped]) t.equal(measureOfText(text).hasListKeys, true, text);
  t.equal(measureOfText(JSON.stringify({ keep: 'k:', l: ['v:k:'] })).hasListKeys, false);
});
