// Paths in the words of managedFields: made from values, brought to one form, told to people.
import t from 'tap';
import {
  describePath,
  describeSealedPath,
  field,
  itemElement,
  keyNames,
  memberElement,
  normalElement,
  type Path,
  pathOf,
  pathText,
  schemaPath,
} from '../../../../hooks/objects/content/path.ts';
import type { Json } from '../../../../hooks/objects/json.ts';
import { parseJson } from '../../../../hooks/objects/json.ts';

const items: readonly { reason: string; item: Json; keys: readonly string[]; element: string | undefined }[] = [
  { reason: 'one key', item: { name: 'web', image: 'a' }, keys: ['name'], element: 'k:{"name":"web"}' },
  {
    reason: 'several keys, sorted',
    item: { protocol: 'TCP', containerPort: 80 },
    keys: ['protocol', 'containerPort'],
    element: 'k:{"containerPort":80,"protocol":"TCP"}',
  },
  { reason: 'a key that the item lacks', item: { containerPort: 80 }, keys: ['containerPort', 'protocol'], element: undefined },
  { reason: 'an item that is no object', item: 'web', keys: ['name'], element: undefined },
  { reason: 'a key that is inherited by every object', item: {}, keys: ['constructor'], element: undefined },
  { reason: 'a key named __proto__', item: parseJson('{"__proto__":"a"}'), keys: ['__proto__'], element: 'k:{"__proto__":"a"}' },
  { reason: 'a large integer', item: parseJson('{"id":9007199254740993}'), keys: ['id'], element: 'k:{"id":9007199254740993}' },
  { reason: 'a value of false is a value', item: { on: false }, keys: ['on'], element: 'k:{"on":false}' },
];

for (const { reason, item, keys, element } of items) {
  t.test(`element of an item: ${reason}`, async (t) => t.equal(itemElement(item, keys), element));
}

const normal: readonly { reason: string; element: string; same: string }[] = [
  {
    reason: 'keys in another order',
    element: 'k:{"protocol":"TCP","containerPort":80}',
    same: 'k:{"containerPort":80,"protocol":"TCP"}',
  },
  { reason: 'spaces', element: 'k:{ "name": "web" }', same: 'k:{"name":"web"}' },
  { reason: 'a member of a set', element: 'v: "a"', same: 'v:"a"' },
  { reason: 'a field is taken as it is', element: 'f:{"a": 1}', same: 'f:{"a": 1}' },
  { reason: 'no digit is lost', element: 'v:9007199254740993', same: 'v:9007199254740993' },
];

for (const { reason, element, same } of normal) {
  t.test(`one form: ${reason}`, async (t) => t.equal(normalElement(element), same));
}

const described: readonly { reason: string; path: Path; text: string }[] = [
  { reason: 'the whole object', path: [], text: '' },
  { reason: 'a field', path: ['f:data', 'f:version'], text: 'data.version' },
  {
    reason: 'a field whose name holds dots',
    path: ['f:metadata', 'f:labels', 'f:app.kubernetes.io/name'],
    text: 'metadata.labels[app.kubernetes.io/name]',
  },
  { reason: 'an item', path: ['f:containers', 'k:{"name":"web"}', 'f:image'], text: 'containers[name=web].image' },
  {
    reason: 'an item with two keys',
    path: ['f:ports', 'k:{"containerPort":80,"protocol":"TCP"}'],
    text: 'ports[containerPort=80,protocol=TCP]',
  },
  { reason: 'a member of a set', path: ['f:metadata', 'f:finalizers', 'v:"a/b"'], text: 'metadata.finalizers["a/b"]' },
];

for (const { reason, path, text } of described) {
  t.test(`for people: ${reason}`, async (t) => t.equal(describePath(path), text));
}

t.test('a path and its text are one to one', async (t) => {
  const paths: readonly Path[] = [
    [],
    [field('a')],
    [field('a'), field('b')],
    [field('a","f:b')],
    [memberElement('a'), 'k:{"x":"\\""}'],
  ];
  t.same(paths.map(pathText).map(pathOf), paths);
  t.equal(new Set(paths.map(pathText)).size, paths.length);
});

t.test('all items of a list are at one place of the schema', async (t) => {
  const [one, other] = [itemElement({ name: 'a' }, ['name']) ?? '', itemElement({ name: 'b' }, ['name']) ?? ''];
  t.equal(schemaPath(['f:containers', one, 'f:env']), schemaPath(['f:containers', other, 'f:env']));
  t.not(schemaPath(['f:containers', one]), schemaPath(['f:containers', 'f:a']));
  t.same(keyNames('k:{"protocol":"TCP","containerPort":80}'), ['containerPort', 'protocol']);
});

t.test('of a sealed object no value is in a path: neither a member of a set nor a key of an item', async (t) => {
  const path = ['f:spec', 'f:items', 'k:{"name":"value","port":1}', 'f:tokens', 'v:"value"', 'f:a.b/c', 'i:0'];
  t.equal(describeSealedPath(path), 'spec.items[…].tokens[…][a.b/c][…]');
});
