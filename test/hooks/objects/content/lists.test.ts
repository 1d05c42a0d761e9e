// Which lists have keys, as managedFields tell; values taken apart and put together by them.
import t from 'tap';
import { assemble, type ListKinds, listKindsOf, partsOf, valueAt, withValueAt } from '../../../../hooks/objects/content/lists.ts';
import { type Path, schemaPath } from '../../../../hooks/objects/content/path.ts';
import { type Json, type JsonObject, parseJson } from '../../../../hooks/objects/json.ts';
import { entry, fieldsOf, managed, podLists } from '../../../support/managed-fields.ts';

const pod: JsonObject = {
  metadata: { name: 'web', finalizers: ['a/b'] },
  spec: {
    containers: [{ name: 'web', image: 'a', ports: [{ containerPort: 80, protocol: 'TCP' }], args: ['x', 'y'] }],
    tolerations: [{ key: 'a' }],
  },
};
const owned = managed(pod, entry('kubectl', fieldsOf(pod, podLists(''))));
const kinds = listKindsOf(owned);

const learned: readonly { reason: string; path: Path; kind: readonly string[] | 'set' | undefined }[] = [
  { reason: 'a list with one key', path: ['f:spec', 'f:containers'], kind: ['name'] },
  {
    reason: 'a list inside an item, of whichever item',
    path: ['f:spec', 'f:containers', 'k:{"name":"other"}', 'f:ports'],
    kind: ['containerPort', 'protocol'],
  },
  { reason: 'a set', path: ['f:metadata', 'f:finalizers'], kind: 'set' },
  { reason: 'an atomic list', path: ['f:spec', 'f:tolerations'], kind: undefined },
  { reason: 'an atomic list inside an item', path: ['f:spec', 'f:containers', 'k:{"name":"web"}', 'f:args'], kind: undefined },
];

for (const { reason, path, kind } of learned) {
  t.test(`learned from managedFields: ${reason}`, async (t) => t.same(kinds.get(schemaPath(path)), kind));
}

t.test('each version of the object may teach', async (t) => {
  t.equal(listKindsOf(pod).size, 0);
  t.equal(listKindsOf(undefined, pod, owned).size, kinds.size);
});

const list: Path = ['f:list'];
const byName: ListKinds = new Map([[schemaPath(list), ['name']]]);
const set: ListKinds = new Map([[schemaPath(list), 'set']]);

const parts: readonly { reason: string; value: Json | undefined; kinds: ListKinds; elements: readonly string[] | undefined }[] = [
  { reason: 'a map', value: { a: 1, b: 2 }, kinds: byName, elements: ['f:a', 'f:b'] },
  { reason: 'an empty map', value: {}, kinds: byName, elements: [] },
  {
    reason: 'a list with keys, in its order',
    value: [{ name: 'b' }, { name: 'a' }],
    kinds: byName,
    elements: ['k:{"name":"b"}', 'k:{"name":"a"}'],
  },
  { reason: 'a list of which nothing is known', value: [{ name: 'b' }], kinds: new Map(), elements: undefined },
  { reason: 'an item without its key', value: [{ name: 'b' }, {}], kinds: byName, elements: undefined },
  { reason: 'two items with one key', value: [{ name: 'b' }, { name: 'b', x: 1 }], kinds: byName, elements: undefined },
  { reason: 'a set', value: ['x', 'y'], kinds: set, elements: ['v:"x"', 'v:"y"'] },
  { reason: 'a set with a member twice', value: ['x', 'x'], kinds: set, elements: undefined },
  { reason: 'a text', value: 'x', kinds: byName, elements: undefined },
  { reason: 'null', value: null, kinds: byName, elements: undefined },
  { reason: 'nothing', value: undefined, kinds: byName, elements: undefined },
  { reason: 'a large integer', value: parseJson('9007199254740993'), kinds: byName, elements: undefined },
];

for (const { reason, value, kinds: known, elements } of parts) {
  t.test(`taken apart: ${reason}`, async (t) => {
    const found = partsOf(value, list, known);
    t.same(found && [...found.entries.keys()], elements);
    if (found !== undefined) t.same(assemble(found.kind, [...found.entries]), value, 'and together again');
  });
}

t.test('a key named __proto__ is a key', async (t) => {
  const value = parseJson('{"__proto__":{"a":1},"constructor":2}');
  const found = partsOf(value, [], new Map());
  t.same([...(found?.entries.keys() ?? [])], ['f:__proto__', 'f:constructor']);
  t.equal(JSON.stringify(assemble('map', [...(found?.entries ?? [])])), JSON.stringify(value));
});

const port: Path = ['f:spec', 'f:containers', 'k:{"name":"web"}', 'f:ports', 'k:{"containerPort":80,"protocol":"TCP"}'];

const found: readonly { reason: string; path: Path; value: Json | undefined }[] = [
  { reason: 'the whole', path: [], value: pod },
  { reason: 'through two lists', path: [...port, 'f:protocol'], value: 'TCP' },
  { reason: 'a member of a set', path: ['f:metadata', 'f:finalizers', 'v:"a/b"'], value: 'a/b' },
  { reason: 'an item that is not there', path: ['f:spec', 'f:containers', 'k:{"name":"x"}'], value: undefined },
  { reason: 'a field that every object inherits', path: ['f:spec', 'f:constructor'], value: undefined },
  { reason: 'into an atomic list', path: ['f:spec', 'f:tolerations', 'k:{"key":"a"}'], value: undefined },
  { reason: 'below a text', path: ['f:metadata', 'f:name', 'f:x'], value: undefined },
];

for (const { reason, path, value } of found) {
  t.test(`value at a path: ${reason}`, async (t) => t.same(valueAt(pod, path, kinds), value));
}

const nested: ListKinds = new Map([[schemaPath(['f:a', 'f:list']), ['name']]]);

const replaced: readonly {
  reason: string;
  root: Json | undefined;
  path: Path;
  value: Json | undefined;
  result: Json | undefined;
}[] = [
  { reason: 'a field', root: { a: { b: 1 } }, path: ['f:a', 'f:b'], value: 2, result: { a: { b: 2 } } },
  { reason: 'a field that is new', root: { a: {} }, path: ['f:a', 'f:b'], value: 2, result: { a: { b: 2 } } },
  { reason: 'maps on the way are made', root: {}, path: ['f:a', 'f:b'], value: 2, result: { a: { b: 2 } } },
  {
    reason: 'a list on the way is made',
    root: {},
    path: ['f:a', 'f:list', 'k:{"name":"x"}'],
    value: { name: 'x' },
    result: { a: { list: [{ name: 'x' }] } },
  },
  {
    reason: 'an item is replaced where it is',
    root: { a: { list: [{ name: 'x' }, { name: 'y' }] } },
    path: ['f:a', 'f:list', 'k:{"name":"x"}', 'f:z'],
    value: 1,
    result: { a: { list: [{ name: 'x', z: 1 }, { name: 'y' }] } },
  },
  { reason: 'a field is removed', root: { a: { b: 1, c: 2 } }, path: ['f:a', 'f:b'], value: undefined, result: { a: { c: 2 } } },
  { reason: 'removing what is not there makes nothing', root: {}, path: ['f:a', 'f:b'], value: undefined, result: {} },
  { reason: 'the whole', root: { a: 1 }, path: [], value: { b: 2 }, result: { b: 2 } },
  { reason: 'below a text nothing can be set', root: { a: 'x' }, path: ['f:a', 'f:b'], value: 2, result: { a: 'x' } },
];

for (const { reason, root, path, value, result } of replaced) {
  t.test(`with a value at a path: ${reason}`, async (t) => t.same(withValueAt(root, path, value, nested), result));
}

t.test('nothing is changed in place', async (t) => {
  const root = Object.freeze({ a: Object.freeze({ b: 1 }) });
  t.same(withValueAt(root, ['f:a', 'f:b'], 2, new Map()), { a: { b: 2 } });
  t.same(root, { a: { b: 1 } });
});
