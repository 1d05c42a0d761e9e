// Metadata that an aggregated API server may answer, and that are not those of the API of Kubernetes.
import t from 'tap';
import { type Json, parseJson } from '../../../hooks/objects/json.ts';
import { isReadable } from '../../../server/kubernetes/readable-metadata.ts';

const bad: readonly Json[] = [
  5,
  'x',
  [],
  { name: 5 },
  { uid: {} },
  { resourceVersion: [] },
  { resourceVersion: 7 },
  { deletionTimestamp: 1 },
  { labels: 'x' },
  { annotations: [1] },
  { annotations: { a: 1 } },
  { finalizers: {} },
  { finalizers: [null] },
  { ownerReferences: { a: 1 } },
  { ownerReferences: [null] },
  { managedFields: 5 },
  { managedFields: [null, 5] },
  { managedFields: [{ fieldsV1: [] }] },
];

t.test('metadata of another type are unreadable', async (t) => {
  for (const metadata of bad) t.notOk(isReadable({ metadata }), JSON.stringify(metadata));
});

t.test('an object of Kubernetes, a Status, and an answer without metadata are readable', async (t) => {
  const metadata = {
    ...{ name: 'a', namespace: 'b', uid: 'u', resourceVersion: '1', generation: 2, creationTimestamp: null },
    ...{ labels: { a: 'b' }, annotations: {}, finalizers: ['x'], ownerReferences: [{ kind: 'A' }] },
    managedFields: [{ manager: 'm', fieldsV1: { 'f:data': {} } }, { manager: 'n' }],
  };
  for (const object of [{ metadata }, { metadata: {} }, { metadata: null }, {}]) t.ok(isReadable(object));
  t.ok(isReadable(parseJson('{"metadata":{"__proto__":{"name":5}}}') as never), 'an inherited name does not count');
});
