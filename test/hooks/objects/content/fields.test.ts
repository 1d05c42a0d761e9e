// managedFields as sets of paths, and back.
import fc from 'fast-check';
import t from 'tap';
import {
  entryOf,
  formatFields,
  isWithin,
  managerKey,
  managersOf,
  parseFields,
} from '../../../../hooks/objects/content/fields.ts';
import { type Path, pathText } from '../../../../hooks/objects/content/path.ts';
import { equalJson, type JsonObject, parseJson } from '../../../../hooks/objects/json.ts';
import { entry, managed } from '../../../support/managed-fields.ts';

const parsed: readonly { reason: string; fieldsV1: JsonObject; paths: readonly Path[] }[] = [
  { reason: 'nothing is owned', fieldsV1: {}, paths: [] },
  { reason: 'a leaf', fieldsV1: { 'f:a': {} }, paths: [['f:a']] },
  { reason: 'a leaf below a field that is not owned', fieldsV1: { 'f:a': { 'f:b': {} } }, paths: [['f:a', 'f:b']] },
  {
    reason: 'a field that is owned, and one below it',
    fieldsV1: { 'f:a': { '.': {}, 'f:b': {} } },
    paths: [['f:a'], ['f:a', 'f:b']],
  },
  {
    reason: 'an item for its existence, and its fields',
    fieldsV1: { 'f:containers': { 'k:{"name":"web"}': { '.': {}, 'f:image': {} } } },
    paths: [
      ['f:containers', 'k:{"name":"web"}'],
      ['f:containers', 'k:{"name":"web"}', 'f:image'],
    ],
  },
  {
    reason: 'a member of a set',
    fieldsV1: { 'f:finalizers': { '.': {}, 'v:"x"': {} } },
    paths: [['f:finalizers'], ['f:finalizers', 'v:"x"']],
  },
  { reason: 'a field that is named like the dot', fieldsV1: { 'f:.': {} }, paths: [['f:.']] },
  { reason: 'a field named __proto__', fieldsV1: parseJson('{"f:__proto__":{}}') as JsonObject, paths: [['f:__proto__']] },
];

for (const { reason, fieldsV1, paths } of parsed) {
  t.test(`parsed: ${reason}`, async (t) => {
    t.same([...parseFields(fieldsV1)].sort(), paths.map(pathText).sort());
    t.ok(equalJson(formatFields(parseFields(fieldsV1)), fieldsV1), 'and formatted again');
  });
}

t.test('keys in another order are the same item', async (t) => {
  const one = parseFields({ 'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': {} } });
  const other = parseFields({ 'f:ports': { 'k:{"protocol":"TCP","containerPort":80}': {} } });
  t.equal(one.symmetricDifference(other).size, 0);
});

const element = fc.oneof(
  fc.string().map((name) => `f:${name}`),
  fc.record({ name: fc.string(), port: fc.nat() }).map((keys) => `k:{"name":${JSON.stringify(keys.name)},"port":${keys.port}}`),
  fc.string().map((member) => `v:${JSON.stringify(member)}`),
);
const path = fc.array(element, { minLength: 1, maxLength: 5 });

t.test('sets of paths survive being formatted and parsed', async () => {
  fc.assert(
    fc.property(fc.array(path, { maxLength: 12 }), (paths) => {
      const fields = new Set(paths.map(pathText));
      return parseFields(formatFields(fields)).symmetricDifference(fields).size === 0;
    }),
  );
});

t.test('an entry is written back as it was read', async (t) => {
  const entries = [
    entry('kubectl', { 'f:data': { '.': {}, 'f:a': {} } }),
    entry('argo', { 'f:data': { 'f:b': {} } }, { operation: 'Apply', apiVersion: 'apps/v1' }),
    entry('controller', { 'f:status': { 'f:replicas': {} } }, { subresource: 'status' }),
  ];
  const managers = managersOf(managed({}, ...entries));
  t.same(managers.map(entryOf), entries);
  t.equal(new Set(managers.map(managerKey)).size, 3);
});

t.test('operation, version and subresource tell managers of one name apart', async (t) => {
  const fields = { 'f:a': {} };
  const same = [{}, { operation: 'Apply' }, { apiVersion: 'v2' }, { subresource: 'status' }] as const;
  const keys = same.map((extras) => managersOf(managed({}, entry('one', fields, extras))).map(managerKey)[0]);
  t.equal(new Set(keys).size, same.length);
  const later = managersOf(managed({}, entry('one', { 'f:b': {} }, { time: '2030-01-01T00:00:00Z' }))).map(managerKey);
  t.same(later, [keys[0]], 'time and fields do not');
});

const unreadable: readonly { reason: string; object: JsonObject; managers: number }[] = [
  { reason: 'no managedFields', object: { metadata: {} }, managers: 0 },
  { reason: 'no metadata', object: {}, managers: 0 },
  { reason: 'no list', object: { metadata: { managedFields: 'x' } }, managers: 0 },
  { reason: 'entries that are no objects', object: { metadata: { managedFields: ['x', null] } }, managers: 0 },
  { reason: 'an entry without fields', object: { metadata: { managedFields: [{ manager: 'a' }] } }, managers: 1 },
];

for (const { reason, object, managers } of unreadable) {
  t.test(`unreadable: ${reason}`, async (t) => {
    t.equal(managersOf(object).length, managers);
    t.ok(managersOf(object).every(({ fields }) => fields.size === 0));
  });
}

const within: readonly { reason: string; path: Path; prefix: Path; is: boolean }[] = [
  { reason: 'itself', path: ['f:a'], prefix: ['f:a'], is: true },
  { reason: 'below', path: ['f:a', 'f:b'], prefix: ['f:a'], is: true },
  { reason: 'above', path: ['f:a'], prefix: ['f:a', 'f:b'], is: false },
  { reason: 'beside', path: ['f:ab'], prefix: ['f:a'], is: false },
  { reason: 'everything is in the whole', path: ['f:a'], prefix: [], is: true },
];

for (const row of within) t.test(`within: ${row.reason}`, async (t) => t.equal(isWithin(row.path, row.prefix), row.is));
