// Which part of an object is content, how content becomes an object to write, and which values the API server generates again.
import t from 'tap';
import { asNew, contentOf, withContent, withManagedFields, withoutKeys } from '../../../../hooks/objects/content/content.ts';
import { withoutGenerated } from '../../../../hooks/objects/content/generated.ts';
import { equalJson, type JsonObject, parseJson } from '../../../../hooks/objects/json.ts';
import { entry } from '../../../support/managed-fields.ts';

const byServer: JsonObject = {
  managedFields: [{ manager: 'kubectl' }],
  resourceVersion: '5',
  generation: 2,
  uid: 'u-1',
  creationTimestamp: '2026-01-01T00:00:00Z',
};
const byPeople: JsonObject = { name: 'web', labels: { a: 'b' }, annotations: {}, finalizers: ['x/y'], ownerReferences: [] };
const live: JsonObject = {
  kind: 'Deployment',
  metadata: { ...byPeople, ...byServer },
  spec: { replicas: 1 },
  status: { ready: 1 },
};

const withStatus = { statusSubresource: true };
const plain = { statusSubresource: false };

const contents: readonly { reason: string; object: JsonObject; resource: typeof plain; content: JsonObject }[] = [
  {
    reason: 'server metadata and status are none',
    object: live,
    resource: withStatus,
    content: { kind: 'Deployment', metadata: byPeople, spec: { replicas: 1 } },
  },
  {
    reason: 'status without a subresource is content',
    object: live,
    resource: plain,
    content: { kind: 'Deployment', metadata: byPeople, spec: { replicas: 1 }, status: { ready: 1 } },
  },
  { reason: 'no metadata is empty metadata', object: { a: 1 }, resource: plain, content: { a: 1, metadata: {} } },
  {
    reason: 'a key named __proto__ is content',
    object: parseJson('{"metadata":{"__proto__":{"uid":1}},"data":{"__proto__":"x"}}') as JsonObject,
    resource: plain,
    content: parseJson('{"metadata":{"__proto__":{"uid":1}},"data":{"__proto__":"x"}}') as JsonObject,
  },
];

for (const { reason, object, resource, content } of contents) {
  t.test(`content: ${reason}`, async (t) => {
    t.ok(equalJson(contentOf(object, resource), content), JSON.stringify(contentOf(object, resource)));
    t.ok(equalJson(contentOf(contentOf(object, resource), resource), contentOf(object, resource)), 'of content is content');
  });
}

t.test('content on a live object changes content only', async (t) => {
  const restored = { kind: 'Deployment', metadata: { name: 'web', labels: { a: 'old' } }, spec: { replicas: 3 } };
  const object = withContent(live, restored, withStatus);
  t.same(object, { ...restored, metadata: { ...restored.metadata, ...byServer }, status: { ready: 1 } });
  t.same(contentOf(object, withStatus), restored);
  const other = withContent(live, { ...restored, status: { ready: 9 } }, plain);
  t.same(other.status, { ready: 9 }, 'where status is content it is restored');
});

t.test('a new object has no trace of the server', async (t) => {
  t.same(asNew(live), { ...live, metadata: byPeople });
  t.notOk('metadata' in withoutKeys({ metadata: 1, a: 1 }, ['metadata']));
});

t.test('ownership is put into an object', async (t) => {
  const one = entry('a', { 'f:a': {} });
  t.same(withManagedFields({ metadata: { name: 'x' } }, [one]), { metadata: { name: 'x', managedFields: [one] } });
});

const generatedLabels = {
  'controller-uid': 'u',
  'batch.kubernetes.io/controller-uid': 'u',
  'job-name': 'j',
  'batch.kubernetes.io/job-name': 'j',
};
const job = (labels: JsonObject, more: JsonObject = {}, own = labels): JsonObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'j', labels: own },
  spec: {
    selector: { matchLabels: { 'controller-uid': 'u' } },
    template: { metadata: { labels: { ...labels } }, spec: {} },
    ...more,
  },
});

const generated: readonly { reason: string; object: JsonObject; result: JsonObject }[] = [
  {
    reason: 'of a Job the selector and the labels with its uid',
    object: job({ ...generatedLabels, app: 'x' }, {}, { ...generatedLabels, team: 'y' }),
    result: {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'j', labels: { team: 'y' } },
      spec: { template: { metadata: { labels: { app: 'x' } }, spec: {} } },
    },
  },
  {
    reason: 'of a Job the labels that it has from its template',
    object: job({ ...generatedLabels, app: 'x' }),
    result: {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'j' },
      spec: { template: { metadata: { labels: { app: 'x' } }, spec: {} } },
    },
  },
  {
    reason: 'of a Job without labels of its own',
    object: job(generatedLabels),
    result: { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' }, spec: { template: { metadata: {}, spec: {} } } },
  },
  {
    reason: 'a Job that chose its selector keeps it',
    object: job({ app: 'x' }, { manualSelector: true }),
    result: job({ app: 'x' }, { manualSelector: true }),
  },
  {
    reason: 'a kind of the same name elsewhere keeps all',
    object: { ...job(generatedLabels), apiVersion: 'example.org/v1' },
    result: { ...job(generatedLabels), apiVersion: 'example.org/v1' },
  },
  {
    reason: 'a Service asks for its old address again',
    object: { apiVersion: 'v1', kind: 'Service', spec: { clusterIP: '10.0.0.7' } },
    result: { apiVersion: 'v1', kind: 'Service', spec: { clusterIP: '10.0.0.7' } },
  },
];

for (const { reason, object, result } of generated) {
  t.test(`generated: ${reason}`, async (t) => t.same(withoutGenerated(object), result));
}
