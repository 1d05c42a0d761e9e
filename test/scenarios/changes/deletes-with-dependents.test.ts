// What others would lose with a deleted object is no part of the deal: the Delete is refused and names it, at the checks and again
// when its turn comes. What Kubernetes makes again by itself does not count.
import t, { type Test } from 'tap';
import type { Cluster } from '../../../hooks/objects/cluster.ts';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { openEngines } from '../../support/engine.ts';
import { causeOf, hangOn, isThere, ownerOf } from '../../support/owned.ts';
import { allowIrreversible, commit, itemsOf, undoAll } from '../../support/round-trip.ts';
import { everyNth } from '../../support/selection.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps, type TargetParts } from '../../support/targets.ts';

const rbac = 'rbac.authorization.k8s.io/v1';
const service = { apiVersion: 'v1', kind: 'Service' };
const endpoints = { apiVersion: 'v1', kind: 'Endpoints' };
const slice = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' };
const account = { apiVersion: 'v1', kind: 'ServiceAccount' };
const subsets = [{ addresses: [{ ip: '192.0.2.7' }], ports: [{ port: 80 }] }];

async function make({ client }: Stage, collection: string, object: JsonObject): Promise<JsonObject> {
  return must(await client.create(collection, object, { fieldManager: 'kubectl-create' }));
}

/** The Delete of an object ends without a change, for that reason, and names what would go along. */
async function showRefused(t: Test, stage: Stage, [name, kind]: readonly [string, TargetParts], named: RegExp): Promise<void> {
  const transaction = `delete-${kind.kind}-${name}`.toLowerCase();
  await stage.transaction(transaction, [change('Delete', name, undefined, kind)]);
  const { status } = await stepToEnd(stage, transaction);
  t.match(status, { phase: 'Failed', message: /nothing was applied: .*cannot be undone: .*allow-irreversible=true/ });
  t.match(textAt(status, 'message'), named);
  t.equal(causeOf(status), 'Irreversible');
}

t.test('objects that name the target as owner refuse its Delete', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path, namespace } = stage;
  const backend = { service: { name: 'web', port: { number: 80 } } };
  const owners: readonly (readonly [kind: string, apiVersion: string, collection: string, content: JsonObject])[] = [
    ['ConfigMap', 'v1', path('configmaps'), { data: { a: '1' } }],
    ['Secret', 'v1', path('secrets'), { stringData: { a: '1' } }],
    ['ServiceAccount', 'v1', path('serviceaccounts'), {}],
    ['Endpoints', 'v1', path('endpoints'), { subsets }],
    ['LimitRange', 'v1', path('limitranges'), { spec: { limits: [] } }],
    ['ResourceQuota', 'v1', path('resourcequotas'), { spec: {} }],
    ['Ingress', 'networking.k8s.io/v1', path('networking.k8s.io/v1/ingresses'), { spec: { defaultBackend: backend } }],
    ['NetworkPolicy', 'networking.k8s.io/v1', path('networking.k8s.io/v1/networkpolicies'), { spec: { podSelector: {} } }],
    ['PodDisruptionBudget', 'policy/v1', path('policy/v1/poddisruptionbudgets'), { spec: { maxUnavailable: 1 } }],
    ['Role', rbac, path(`${rbac}/roles`), { rules: [] }],
    ['EndpointSlice', slice.apiVersion, path('discovery.k8s.io/v1/endpointslices'), { addressType: 'IPv4', endpoints: [] }],
    ['ClusterRole', rbac, `/apis/${rbac}/clusterroles`, { rules: [] }],
  ];

  for (const [kind, apiVersion, collection, content] of everyNth(3, owners))
    await t.test(`a child of a ${kind} refuses its Delete`, async (t) => {
      const name = `${namespace}-${kind}`.toLowerCase();
      const owner = await make(stage, collection, { apiVersion, kind, metadata: { name }, ...content });
      t.teardown(() => client.delete(`${collection}/${name}`));
      const child = await hangOn(stage, `child-of-${name}`, { apiVersion, kind, ...owner });
      const words = kind === 'ClusterRole' ? `ConfigMap ${namespace}/child-of-${name}` : `ConfigMap child-of-${name}`;
      await showRefused(
        t,
        stage,
        [name, { kind, apiVersion }],
        new RegExp(`Kubernetes would also delete the objects that it owns \\(${words}\\)`),
      );
      t.ok(await isThere(stage, child));
      await commit(stage, `meant-${name}`, [change('Delete', name, undefined, { kind, apiVersion })], allowIrreversible);
      await waitFor(async () => !(await isThere(stage, child)), 'the garbage collector to take the child, as who means it wants');
    });

  await t.test('a dependent that the Transaction deletes first does not refuse the Delete', async (t) => {
    await createConfigMaps(stage, ['parent']);
    const child = await hangOn(stage, 'child', must(await client.get(path('configmaps/parent'))));
    await commit(stage, 'both', [change('Delete', 'child'), change('Delete', 'parent')]);
    await undoAll(stage, 'both');
    t.match(must(await client.get(child)), { data: { theirs: 'yes' } });
    await hangOn(stage, 'second', must(await client.get(path('configmaps/parent'))));
    await stage.transaction('after', [change('Delete', 'parent'), change('Delete', 'second')]);
    t.match((await stepToEnd(stage, 'after')).status, {
      phase: 'Failed',
      message: /Kubernetes would also delete the objects that it owns \(ConfigMap second\)/,
    });
  });

  await t.test('a dependent that appears after the checks stops the Delete', async (t) => {
    await createConfigMaps(stage, ['late', 'other', 'beside']);
    await stage.transaction('late', [
      change('Create', 'made', { data: { a: 'b' } }),
      change('Delete', 'other'),
      change('Delete', 'late'),
    ]);
    await stepUntil(stage, 'late', 'Committing');
    const child = await hangOn(stage, 'came-late', must(await client.get(path('configmaps/late'))));
    const { status } = await stepToEnd(stage, 'late');
    t.match(status, { phase: 'RolledBack', message: /Delete of ConfigMap .*\/late cannot be undone: .*\(ConfigMap came-late\)/ });
    t.equal(causeOf(status), 'Irreversible');
    t.match(itemsOf(status)[2], { error: { reason: 'Irreversible' }, rolledBack: true });
    for (const name of ['late', 'other', 'came-late']) t.ok(await isThere(stage, path(`configmaps/${name}`)), name);
    t.equal((await client.get(path('configmaps/made'))).code, 404);
    t.ok(await isThere(stage, child));
  });

  await t.test('a dependent that appears after the checks does not stop a Delete that allows dependents', async () => {
    await createConfigMaps(stage, ['meant']);
    await stage.transaction('meant', [change('Delete', 'meant')], { annotations: allowIrreversible });
    await stepUntil(stage, 'meant', 'Prepared');
    const child = await hangOn(stage, 'lost', must(await client.get(path('configmaps/meant'))));
    await stepUntil(stage, 'meant', 'Committed');
    await waitFor(async () => !(await isThere(stage, child)), 'the child to go');
  });
});

t.test('dependents without an owner reference refuse the Delete', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path, namespace } = stage;

  await t.test('token Secrets refuse the Delete of their ServiceAccount', async (t) => {
    for (const name of ['robot', 'plain', 'wanted'])
      await make(stage, path('serviceaccounts'), { ...account, metadata: { name } });
    const token = (name: string, type = 'kubernetes.io/service-account-token'): JsonObject => ({
      metadata: { name: `${name}-token`, annotations: { 'kubernetes.io/service-account.name': name } },
      type,
    });
    await make(stage, path('secrets'), token('robot'));
    await make(stage, path('secrets'), token('plain', 'Opaque'));
    const uid = ['metadata', 'annotations', 'kubernetes.io/service-account.uid'] as const;
    const where = path('secrets/robot-token');
    await waitFor(async () => at(must(await client.get(where)), ...uid) !== undefined, 'the token');
    await showRefused(
      t,
      stage,
      ['robot', account],
      /Kubernetes would also delete the objects that it owns \(Secret robot-token\)/,
    );
    t.ok(await isThere(stage, where));
    await commit(stage, 'plain', [change('Delete', 'plain', undefined, account)]);
    await undoAll(stage, 'plain');
    t.ok(await isThere(stage, path('secrets/plain-token')), 'one of another type is nothing to its controller');
    await commit(stage, 'robot', [change('Delete', 'robot', undefined, account)], allowIrreversible);
    await waitFor(async () => !(await isThere(stage, where)), 'the token to go, as who means it wants');
  });

  await t.test('Endpoints refuse the Delete of a Service without selector', async (t) => {
    await make(stage, path('services'), { ...service, metadata: { name: 'by-hand' }, spec: { ports: [{ port: 80 }] } });
    await make(stage, path('endpoints'), { ...endpoints, metadata: { name: 'by-hand' }, subsets });
    const slices = async (): Promise<readonly JsonObject[]> =>
      (await client.list(path('discovery.k8s.io/v1/endpointslices'), { labelSelector: 'kubernetes.io/service-name=by-hand' }))
        .items;
    await waitFor(async () => (await slices()).length > 0, 'the mirror of the Endpoints');
    await showRefused(
      t,
      stage,
      ['by-hand', service],
      /Kubernetes would also delete the objects that it owns \(Endpoints by-hand\)/,
    );
    t.ok(await isThere(stage, path('endpoints/by-hand')));
    await commit(stage, 'both', [
      change('Delete', 'by-hand', undefined, endpoints),
      change('Delete', 'by-hand', undefined, service),
    ]);
    await undoAll(stage, 'both');
    t.match(must(await client.get(path('endpoints/by-hand'))), { subsets });
    await waitFor(async () => (await slices()).length > 0, 'the mirror of the Endpoints to come back');
    await commit(stage, 'meant', [change('Delete', 'by-hand', undefined, service)], allowIrreversible);
    t.equal((await client.get(path('endpoints/by-hand'))).code, 404, 'the API server takes them, as who means it wants');
  });

  await t.test('EndpointSlices of another writer refuse the Delete, regardless of their labels', async (t) => {
    const writers = ['their-controller', 'endpointslice-controller.k8s.io', undefined];
    for (const [index, writer] of writers.entries()) {
      const name = `sliced-${index}`;
      const made = await make(stage, path('services'), { ...service, metadata: { name }, spec: { ports: [{ port: 80 }] } });
      const keeper = writer === undefined ? {} : { 'endpointslice.kubernetes.io/managed-by': writer };
      const labels = { 'kubernetes.io/service-name': name, ...keeper };
      const metadata = { name: `${name}-theirs`, labels, ownerReferences: [ownerOf({ ...service, ...made })] };
      await make(stage, path('discovery.k8s.io/v1/endpointslices'), { ...slice, metadata, addressType: 'IPv4', endpoints: [] });
      await showRefused(
        t,
        stage,
        [name, service],
        new RegExp(`Kubernetes would also delete the objects that it owns \\(EndpointSlice ${name}-theirs\\)`),
      );
      t.ok(await isThere(stage, path(`discovery.k8s.io/v1/endpointslices/${name}-theirs`)));
    }
  });

  await t.test('objects that Kubernetes recreates do not refuse the Delete', async (t) => {
    const spec = { selector: { app: 'web' }, ports: [{ port: 80 }] };
    await make(stage, path('services'), { ...service, metadata: { name: 'fed' }, spec });
    const made = async (): Promise<boolean> => {
      const selected = { labelSelector: 'kubernetes.io/service-name=fed' };
      const { items } = await client.list(path('discovery.k8s.io/v1/endpointslices'), selected);
      return items.length > 0 && (await isThere(stage, path('endpoints/fed')));
    };
    await waitFor(made, 'the Endpoints and EndpointSlices of the Service');
    await commit(stage, 'fed', [change('Delete', 'fed', undefined, service)]);
    await undoAll(stage, 'fed');
    await waitFor(made, 'the Endpoints and EndpointSlices to come back');
    t.ok(true);
  });

  await t.test('Pods refuse the Delete of their Node', async (t) => {
    const node = { apiVersion: 'v1', kind: 'Node' };
    const name = `${namespace}-node`;
    for (const each of [name, `${name}-empty`]) {
      await make(stage, '/api/v1/nodes', { ...node, metadata: { name: each } });
      t.teardown(() => client.delete(`/api/v1/nodes/${each}`));
    }
    const containers = [{ name: 'web', image: 'example.org/web' }];
    await make(stage, path('pods'), { metadata: { name: 'on-it' }, spec: { nodeName: name, containers } });
    await showRefused(
      t,
      stage,
      [name, node],
      new RegExp(`Kubernetes would also delete the objects that it owns \\(Pod ${namespace}/on-it\\)`),
    );
    await commit(stage, 'empty', [change('Delete', `${name}-empty`, undefined, node)]);
    await undoAll(stage, 'empty');
  });
});

t.test('the engine reads every page of a list', async (t) => {
  const stage = await startStage(t, {
    withoutLoop: true,
    wrap: (cluster) => ({
      ...cluster,
      listMetadata: (resource, namespace, identity, options) =>
        cluster.listMetadata(resource, namespace, identity, { ...options, limit: 1 }),
    }),
  });
  await createConfigMaps(stage, ['a-first', 'parent']);
  await hangOn(stage, 'z-last', must(await stage.client.get(stage.path('configmaps/parent'))));
  await showRefused(
    t,
    stage,
    ['parent', { kind: 'ConfigMap', apiVersion: 'v1' }],
    /Kubernetes would also delete the objects that it owns \(ConfigMap z-last\)/,
  );
});

t.test('the status names kinds that the ServiceAccount may not list', async (t) => {
  const verbs = ['get', 'list', 'create', 'update', 'patch', 'delete'];
  const rules = [{ apiGroups: [''], resources: ['configmaps', 'pods'], verbs }];
  const stage = await startStage(t, { withoutLoop: true, rules });
  await createConfigMaps(stage, ['seen']);
  await stage.transaction('blind', [change('Delete', 'seen'), change('Create', 'made', { data: { a: 'b' } })]);
  const note =
    /^objects of these kinds may have been deleted with it, the ServiceAccount could not list them: \S+, .* and \d+ more$/;
  const prepared = await stepUntil(stage, 'blind', 'Prepared');
  t.match(itemsOf(prepared.status), [{ note }, { note: undefined }]);
  const { status } = await stepToEnd(stage, 'blind');
  t.match(status, { phase: 'Committed' });
  t.match(itemsOf(status), [{ note }, { note: undefined }]);
  const shown = textAt(itemsOf(status)[0], 'note') ?? '';
  t.match(shown, 'secrets');
  t.notMatch(shown, /configmaps|pods,/);
  t.ok(shown.length < 600);
});

t.test(
  'the list before a Delete contains fewer kinds than that before the first change, and all in another process',
  async (t) => {
    const stage = await startStage(t, { withoutLoop: true });
    const { client, path } = stage;
    const engines = await openEngines(t, stage);
    const lists: string[] = [];
    const wrap = (cluster: Cluster): Cluster => ({
      ...cluster,
      listMetadata: (resource, ...args) => {
        if (resource.namespaced && resource.plural !== 'leases') lists.push(resource.plural);
        return cluster.listMetadata(resource, ...args);
      },
    });
    await createConfigMaps(stage, ['first', 'second', 'owner']);
    const ownerReferences = [ownerOf(must(await client.get(path('configmaps/owner'))))];
    must(await client.create(path(`${rbac}/roles`), { metadata: { name: 'owned', ownerReferences }, rules: [] }));
    const engine = engines.start({ wrap });
    for (const [name, again] of [
      ['first', engine],
      ['second', engines.start({ wrap })],
    ] as const) {
      await stage.transaction(name, [change('Delete', name)]);
      await stepUntil(engine, name, 'Prepared');
      const before = lists.splice(0);
      t.match((await stepToEnd(again, name)).status, { phase: 'Committed' });
      const later = lists.splice(0);
      t.ok(before.includes('rolebindings'), 'all kinds');
      for (const plural of ['roles', 'pods', 'configmaps', 'secrets', 'services', 'endpointslices', 'deployments'])
        t.ok(later.includes(plural), plural);
      t.equal(later.includes('rolebindings'), again !== engine, name);
    }
  },
);
