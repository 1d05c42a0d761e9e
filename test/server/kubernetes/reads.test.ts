// Reads of the port on the real API server: objects, metadata only, lists, kinds, permissions; and as whom.
import t from 'tap';
import type { Identity, Resource } from '../../../hooks/objects/cluster.ts';
import { isObject, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { createDiscovery } from '../../../server/kubernetes/discovery.ts';
import { freeNamespace, must, waitFor } from '../../support/client.ts';
import { connectToCluster } from '../../support/install.ts';
import { configMap, create, engine, failureOf, locationOf, objectOf, openCluster } from './real.ts';

const client = connectToCluster();
const cluster = openCluster();
t.teardown(() => Promise.all([client.close(), cluster.close()]));
const namespace = await freeNamespace(client, 'port', t);
const deployer: Identity = { kind: 'serviceAccount', namespace, name: 'deployer' };
await createRole();

t.test('the port reads only metadata', async (t) => {
  const stored = await create(cluster, configMap('read'), namespace);
  const location = await locationOf(cluster, stored, namespace);
  const metadata = objectOf(await cluster.getMetadata(location, engine));
  t.match(metadata, { kind: 'PartialObjectMetadata' });
  t.same(metadata.metadata, stored.metadata);
  t.notOk('data' in metadata);
  t.match(failureOf(await cluster.getMetadata({ ...location, name: 'none' }, engine)), { kind: 'absent' });
});

t.test('a list says whether it is complete', async (t) => {
  for (const name of ['one', 'two', 'three']) {
    const object: JsonObject = { ...configMap(name), metadata: { name, labels: { listed: 'yes' } } };
    await create(cluster, object, namespace);
  }
  const { resource } = await locationOf(cluster, configMap('one'), namespace);
  const labelSelector = 'listed=yes';
  const all = await cluster.listMetadata(resource, namespace, engine, { labelSelector });
  t.match(all, { kind: 'ok', complete: true });
  t.same(all.kind === 'ok' && all.items.map((item) => textAt(item, 'metadata', 'name')), ['one', 'three', 'two']);
  t.ok(all.kind === 'ok' && all.items.every((item) => isObject(item) && !('data' in item)));
  const whole = await cluster.listMetadata(resource, namespace, engine, { labelSelector, whole: true });
  t.match(whole, { kind: 'ok', items: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, data: Object }] });
  const some = await cluster.listMetadata(resource, namespace, engine, { labelSelector, limit: 2 });
  t.match(some, { kind: 'ok', complete: false, items: { length: 2 } });
  const from = some.kind === 'ok' ? some.next : '';
  const rest = await cluster.listMetadata(resource, namespace, engine, { labelSelector, limit: 2, from });
  t.match(rest, { kind: 'ok', complete: true, next: '', items: [{ metadata: { name: 'two' } }] });
  const one = await cluster.listMetadata(resource, namespace, engine, { fieldSelector: 'metadata.name=two' });
  t.match(one, { kind: 'ok', complete: true, items: { length: 1 } });
  const everywhere = await cluster.listMetadata(resource, undefined, engine, { labelSelector });
  t.ok(everywhere.kind === 'ok' && everywhere.items.length >= 3);
});

t.test('the port resolves kinds', async (t) => {
  t.match(await cluster.resource('apps/v1', 'Deployment'), {
    resource: { group: 'apps', version: 'v1', plural: 'deployments', namespaced: true, statusSubresource: true },
  });
  t.match(await cluster.resource('v1', 'Namespace'), { resource: { group: '', plural: 'namespaces', namespaced: false } });
  t.match(await cluster.resource('v1', 'ConfigMap'), { resource: { statusSubresource: false } });
  for (const [apiVersion, kind] of [
    ['v1', 'Nothing'],
    ['apps/v9', 'Deployment'],
    ['nobody.example/v1', 'Nothing'],
    ['v1', 'Pod/log'],
  ] as const)
    t.match(failureOf(await cluster.resource(apiVersion, kind)), { kind: 'absent', code: 404, definitive: true });
  t.match(failureOf(await cluster.resource('../v1', 'Secret')), { kind: 'refused', reason: 'InvalidName' });
});

t.test('the port lists every resource once, at its preferred version', async (t) => {
  const answer = await cluster.resources();
  const resources: readonly Resource[] = answer.kind === 'ok' ? answer.resources : [];
  const found = (plural: string, group: string) => resources.filter((one) => one.plural === plural && one.group === group);
  t.match(found('deployments', 'apps'), [{ version: 'v1', kind: 'Deployment', namespaced: true, statusSubresource: true }]);
  t.match(found('horizontalpodautoscalers', 'autoscaling'), [{ version: 'v2' }]);
  t.match(found('secrets', ''), [{ version: 'v1', kind: 'Secret' }]);
  t.equal(found('customresourcedefinitions', 'apiextensions.k8s.io').length, 1);
  const keys = resources.map((one) => `${one.plural}.${one.group}`);
  t.equal(new Set(keys).size, keys.length);
});

t.test('the port finds a new kind at once, also in a group that it has read before', async (t) => {
  const discovered = openCluster();
  t.teardown(() => discovered.close());
  t.match(failureOf(await discovered.resource('fresh.janus.io/v1', 'Early')), { kind: 'absent' });
  for (const kind of ['Early', 'Later']) {
    const path = await define(kind);
    t.teardown(() => client.delete(path));
    const found = await servedKind(discovered, kind);
    t.match(found, { resource: { plural: `${kind.toLowerCase()}s`, namespaced: true, statusSubresource: true } });
  }
});

// Once the API server serves it, one question must do: nothing is kept from before.
async function servedKind(discovered: typeof cluster, kind: string) {
  const path = `/apis/fresh.janus.io/v1/${kind.toLowerCase()}s`;
  await waitFor(async () => (await client.get(path)).code === 200, `${kind} to be served`);
  return waitFor(async () => {
    const answer = await discovered.resource('fresh.janus.io/v1', kind);
    return answer.kind === 'ok' && answer;
  }, `${kind} to be discovered`);
}

async function define(kind: string): Promise<string> {
  const plural = `${kind.toLowerCase()}s`;
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  must(
    await client.create(definitions, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.fresh.janus.io` },
      spec: {
        group: 'fresh.janus.io',
        scope: 'Namespaced',
        names: { plural, kind },
        versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }],
      },
    }),
  );
  return `${definitions}/${plural}.fresh.janus.io`;
}

t.test('many lookups make one request, and unknown kinds make few', async (t) => {
  let asked = 0;
  let now = 0;
  const discovery = createDiscovery(
    (request) => {
      asked += 1;
      return cluster.transport.request(request, engine);
    },
    { longestUse: 30_000, shortestUse: 250, monotonic: () => now },
  );
  await Promise.all(Array.from({ length: 50 }, () => discovery.resource('apps/v1', 'Deployment')));
  await discovery.resource('apps/v1', 'StatefulSet');
  t.equal(asked, 1);
  await Promise.all(Array.from({ length: 50 }, () => discovery.resource('apps/v1', 'Nothing')));
  t.equal(asked, 1, 'a list just read is not read again');
  now = 300;
  await Promise.all(Array.from({ length: 50 }, () => discovery.resource('apps/v1', 'Nothing')));
  t.equal(asked, 2);
  now = 40_000;
  await discovery.resource('apps/v1', 'Deployment');
  t.equal(asked, 3, 'an old list is read again');
});

t.test('the port reads targets as the ServiceAccount', async (t) => {
  const stored = await create(cluster, configMap('mine'), namespace);
  const location = await locationOf(cluster, stored, namespace);
  t.equal((await cluster.get(location, deployer)).kind, 'ok');
  const secrets = await locationOf(cluster, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'any' } }, namespace);
  t.match(failureOf(await cluster.get(secrets, deployer)), { kind: 'refused', code: 403, reason: 'Forbidden', definitive: true });
  const nobody: Identity = { kind: 'serviceAccount', namespace, name: 'a:b' };
  t.match(failureOf(await cluster.get(location, nobody)), { kind: 'refused', reason: 'InvalidIdentity' });
});

t.test('the port reviews permissions', async (t) => {
  const question = { verb: 'get', group: '', resource: 'configmaps', namespace };
  t.same(await cluster.allowed(question, deployer), { kind: 'ok', allowed: true });
  t.same(await cluster.allowed({ ...question, verb: 'delete' }, deployer), { kind: 'ok', allowed: false });
  t.same(await cluster.allowed({ ...question, resource: 'secrets' }, deployer), { kind: 'ok', allowed: false });
  t.same(await cluster.allowed({ ...question, resource: 'secrets', name: 'one' }, deployer), { kind: 'ok', allowed: true });
  t.same(await cluster.allowed({ ...question, resource: 'secrets', name: 'two' }, deployer), { kind: 'ok', allowed: false });
  const { namespace: _, ...everywhere } = question;
  t.same(await cluster.allowed(everywhere, deployer), { kind: 'ok', allowed: false });
  t.same(await cluster.allowed(everywhere, engine), { kind: 'ok', allowed: true });
  t.same(await cluster.allowed({ ...question, group: 'apps', resource: 'deployments', subresource: 'status' }, deployer), {
    kind: 'ok',
    allowed: false,
  });
});

async function createRole(): Promise<void> {
  const group = '/apis/rbac.authorization.k8s.io/v1';
  const rules = [
    { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['one'], verbs: ['get'] },
  ];
  must(await client.create(`${group}/namespaces/${namespace}/roles`, { metadata: { name: 'deployer' }, rules } as JsonObject));
  must(
    await client.create(`${group}/namespaces/${namespace}/rolebindings`, {
      metadata: { name: 'deployer' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'deployer' },
      subjects: [{ kind: 'ServiceAccount', namespace, name: 'deployer' }],
    }),
  );
}
