// The fields of a refusal that another state no longer has: by name, and for items of a list with keys wherever they are.
import t from 'tap';
import { curedFields } from '../../../../hooks/objects/content/invalid-paths.ts';

const keyed = [
  {
    manager: 'any',
    operation: 'Update',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:parts': { 'k:{"name":"a"}': { 'f:name': {} } } } },
  },
];

t.test('a field is cured if the other state is not refused for it', async (t) => {
  const state = { spec: { count: 40 } };
  const before = { state, fields: ['spec.count', 'spec.color'] };
  t.same(curedFields(before, { state, fields: ['spec.color'] }), ['spec.count']);
  t.same(curedFields(before, { state, fields: [] }), before.fields);
  t.same(curedFields(before, { state, fields: ['spec.color', 'spec.count'] }), []);
});

t.test('an item with keys keeps its name when it moves, and an item of another list does not', async (t) => {
  const parts = (...names: readonly string[]) => names.map((name) => ({ name, size: 40 }));
  const invalid = (names: readonly string[], fields: readonly string[], managedFields = keyed) => ({
    state: { metadata: { managedFields }, spec: { parts: parts(...names) } },
    fields,
  });
  const moved = invalid(['b', 'a'], ['spec.parts[1].size']);
  t.same(curedFields(invalid(['a', 'b'], ['spec.parts[0].size']), moved), []);
  t.same(curedFields(invalid(['a', 'b'], ['spec.parts[1].size']), moved), ['spec.parts[1].size']);
  const plain = invalid(['b', 'a'], ['spec.parts[1].size'], []);
  t.same(curedFields(invalid(['a', 'b'], ['spec.parts[0].size'], []), plain), ['spec.parts[0].size']);
});
