// What others have hung on an object that was made here keeps it; what its own controllers have made of it goes with it.
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { hangOn, isThere, ownerOf } from '../../support/owned.ts';
import { commit, itemsOf, partial, undo, undoAll } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { step, stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const deployment = { apiVersion: 'apps/v1', kind: 'Deployment' };
const service = { apiVersion: 'v1', kind: 'Service' };
const endpoints = { apiVersion: 'v1', kind: 'Endpoints' };
const account = { apiVersion: 'v1', kind: 'ServiceAccount' };
const secret = { apiVersion: 'v1', kind: 'Secret' };
const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
const volume = { apiVersion: 'v1', kind: 'PersistentVolume' };
const subsets = [{ addresses: [{ ip: '192.0.2.7' }], ports: [{ port: 80 }] }];
const ports = { spec: { ports: [{ port: 80 }] } };

/** Kinds of other tests that cannot be listed hold up the undo of a volume; on a busy machine that takes minutes. */
const listed = { timeoutMs: 300_000 };

interface Hung {
  /** Path of what was made here. */
  readonly where: string;
  /** Path of what hangs on it. */
  readonly theirs: string;
  readonly named: RegExp;
}

/** The undo leaves the object, and what others have hung on it; once that is gone, it goes. */
async function showKept(t: Test, stage: Stage, name: string, { where, theirs, named }: Hung): Promise<void> {
  const status = await undo(stage, name, partial);
  t.match(status, { phase: 'Failed' });
  t.match(itemsOf(status)[0], { error: { reason: 'NotEmpty', message: named } });
  t.ok(await isThere(stage, where), 'what was made here is there');
  t.ok(await isThere(stage, theirs), 'the objects that it owns exist too');
  must(await stage.client.delete(theirs));
  await waitFor(async () => (await stage.client.get(theirs)).code === 404, 'what they have to be gone');
  await stage.annotate(name, { 'tx.janus.io/retry-rollback': 'yes' });
  t.match((await stepToEnd(stage, name)).status, { phase: 'RolledBack' });
  t.equal((await stage.client.get(where)).code, 404);
}

async function fleet({ client, path }: Stage): Promise<JsonObject> {
  const selected = { labelSelector: 'app=fleet' };
  return waitFor(async () => (await client.list(path('apps/v1/replicasets'), selected)).items[0], 'the ReplicaSet');
}

t.test('the undo keeps a created object that has dependents of other writers', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;

  await t.test('the undo keeps an object that a ConfigMap of another writer names as owner', async (t) => {
    await commit(stage, 'owner', [change('Create', 'owner', { data: { a: 'b' } })]);
    const where = path('configmaps/owner');
    const theirs = await hangOn(stage, 'theirs', must(await client.get(where)));
    await showKept(t, stage, 'owner', { where, theirs, named: /others' objects would be deleted with it: ConfigMap theirs$/ });
  });

  await t.test('the undo deletes an object whose dependents its own controller created', async (t) => {
    await commit(stage, 'controlled', [change('Create', 'controlled', { data: { a: 'b' } })]);
    const where = path('configmaps/controlled');
    await hangOn(stage, 'made', must(await client.get(where)), { controller: true });
    await undoAll(stage, 'controlled');
    t.notOk(await isThere(stage, where), 'the owner is deleted: the garbage collector deletes its dependents');
  });

  await t.test('the undo keeps an object if a dependent of its dependents belongs to another writer', async (t) => {
    const containers = [{ name: 'web', image: 'example.org/web' }];
    const labels = { app: 'fleet' };
    const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
    await commit(stage, 'fleet', [change('Create', 'fleet', { spec }, deployment)]);
    const replicas = await fleet(stage);
    const theirs = await hangOn(stage, 'on-replicas', { apiVersion: 'apps/v1', kind: 'ReplicaSet', ...replicas });
    const where = path('apps/v1/deployments/fleet');
    await showKept(t, stage, 'fleet', {
      where,
      theirs,
      named: /others' objects would be deleted with it: ConfigMap on-replicas$/,
    });
  });

  await t.test('the undo keeps a ServiceAccount that has a token Secret of another writer', async (t) => {
    const annotations = { 'kubernetes.io/service-account.name': 'robot' };
    const token = { type: 'kubernetes.io/service-account-token', metadata: { annotations } };
    await commit(stage, 'robot', [change('Create', 'robot', {}, account)]);
    must(await client.create(path('secrets'), { ...token, metadata: { name: 'theirs', annotations } }));
    const where = path('serviceaccounts/robot');
    await showKept(t, stage, 'robot', {
      where,
      theirs: path('secrets/theirs'),
      named: /others' objects would be deleted with it: Secret theirs$/,
    });
    await commit(stage, 'own-token', [change('Create', 'robot', {}, account), change('Create', 'own', token, secret)]);
    await undoAll(stage, 'own-token');
    t.equal((await client.get(path('secrets/own'))).code, 404);
  });

  await t.test('the undo keeps a Service that has Endpoints of another writer', async (t) => {
    await commit(stage, 'service', [change('Create', 'by-hand', ports, service)]);
    must(await client.create(path('endpoints'), { metadata: { name: 'by-hand' }, subsets }));
    const [where, theirs] = [path('services/by-hand'), path('endpoints/by-hand')];
    await showKept(t, stage, 'service', {
      where,
      theirs,
      named: /others' objects would be deleted with it: Endpoints by-hand$/,
    });
    const own = [change('Create', 'by-hand', ports, service), change('Create', 'by-hand', { subsets }, endpoints)];
    for (const [name, changes] of [
      ['after', own],
      ['before', own.toReversed()],
    ] as const) {
      await commit(stage, name, changes);
      await undoAll(stage, name);
      for (const one of [where, theirs]) t.equal((await client.get(one)).code, 404);
    }
  });

  await t.test('the undo handles created Endpoints that other writers have changed', async (t) => {
    await commit(stage, 'shared', [
      change('Create', 'shared', { subsets }, endpoints),
      change('Create', 'shared', ports, service),
    ]);
    const where = path('endpoints/shared');
    must(await client.patch(where, { metadata: { labels: { theirs: 'yes' } } }, 'merge', { fieldManager: 'their-tool' }));
    const status = await undo(stage, 'shared', partial);
    t.match(itemsOf(status), [{ error: { reason: 'ForeignContent' } }, { error: { reason: 'NotEmpty' } }]);
    t.match(must(await client.get(where)), { metadata: { labels: { theirs: 'yes' } } });
  });
});

t.test('a Transaction creates a claim, and Kubernetes binds it to a volume', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path, namespace } = stage;
  const resources = { requests: { storage: '1Gi' } };
  const content = { spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources } };
  const where = path('persistentvolumeclaims/data');
  const bind = async (at: string): Promise<void> => void must(await client.patch(`${at}/status`, { status: { phase: 'Bound' } }));

  await t.test('the rollback of a Transaction that never was Committed deletes the claim', async (t) => {
    await stage.transaction('running', [change('Create', 'data', content, claim), change('Create', 'more', { data: {} })]);
    await waitFor(async () => {
      await step(stage, 'running');
      return (await client.get(where)).code === 200;
    }, 'the claim');
    await bind(where);
    await stage.annotate('running', { 'tx.janus.io/request-rollback': 'yes' });
    t.match((await stepToEnd(stage, 'running')).status, { phase: 'RolledBack' });
    t.equal((await client.get(where)).code, 404);
  });

  await t.test('the undo of a Committed Transaction leaves the claim', async (t) => {
    await commit(stage, 'bound', [change('Create', 'data', content, claim)]);
    await bind(where);
    const status = await undo(stage, 'bound', partial);
    t.match(itemsOf(status)[0], { error: { reason: 'NotEmpty', message: /is bound to PersistentVolume/ } });
    t.ok(await isThere(stage, where));
  });

  await t.test('the undo of a Committed Transaction deletes an unbound claim', async (t) => {
    must(await client.delete(where));
    await waitFor(async () => (await client.get(where)).code === 404, 'the claim to be gone');
    await commit(stage, 'unbound', [change('Create', 'data', content, claim)]);
    await undoAll(stage, 'unbound');
    t.equal((await client.get(where)).code, 404);
  });

  await t.test('the undo leaves a volume that is bound to a claim of another writer', async (t) => {
    const name = `${namespace}-volume`;
    const theirs = must(await client.create(path('persistentvolumeclaims'), { metadata: { name: 'theirs' }, ...content }));
    const claimRef = { namespace, name: 'theirs', uid: at(theirs, 'metadata', 'uid') ?? '' };
    const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/nowhere' }, claimRef };
    await commit(stage, 'volume', [change('Create', name, { spec }, volume)]);
    const where = `/api/v1/persistentvolumes/${name}`;
    t.teardown(() => client.patch(where, { metadata: { finalizers: null } }));
    await bind(where);
    const status = await undo(stage, 'volume', partial);
    t.match(itemsOf(status)[0], { error: { reason: 'NotEmpty', message: /PersistentVolumeClaim .*theirs$/ } });
    t.ok(await isThere(stage, where));
    // The undo leaves the volume as long as its claim is there.
    const theirClaim = path('persistentvolumeclaims/theirs');
    must(await client.delete(theirClaim));
    await waitFor(async () => (await client.get(theirClaim)).code === 404, 'the claim to be gone');
    await stage.annotate('volume', { 'tx.janus.io/retry-rollback': 'without claim' });
    // The controller that protects volumes lets go of it later: the test is about the deletion alone. Kinds of other tests that cannot be
    // listed end the undo: then it is requested again.
    let requests = 0;
    await waitFor(
      async () => {
        const { status, phase } = await step(stage, 'volume');
        if (phase === 'Failed') {
          requests += 1;
          await stage.annotate('volume', { 'tx.janus.io/retry-rollback': `again ${requests}` });
        }
        const { code, body } = await client.get(where);
        if (code === 404 || at(body, 'metadata', 'deletionTimestamp') !== undefined) return true;
        throw new Error(JSON.stringify(status));
      },
      'the deletion of the volume',
      listed,
    );
  });
});

t.test('the undo of a created Namespace keeps contents of other writers', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, namespace } = stage;
  const elsewhere = must(
    await client.create('/apis/rbac.authorization.k8s.io/v1/clusterroles', {
      metadata: { name: `${namespace}-else` },
      rules: [],
    }),
  );
  t.teardown(() => client.delete(`/apis/rbac.authorization.k8s.io/v1/clusterroles/${namespace}-else`));
  const owner = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    name: `${namespace}-else`,
    uid: textAt(elsewhere, 'metadata', 'uid') ?? '',
  };
  const managed = { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' };
  const rows: readonly (readonly [what: string, collection: string, metadata: JsonObject, named: RegExp])[] = [
    ['owned by something elsewhere', 'configmaps', { ownerReferences: [owner] }, /ConfigMap theirs/],
    [
      'controlled by something elsewhere',
      'configmaps',
      { ownerReferences: [{ ...owner, controller: true }] },
      /ConfigMap theirs/,
    ],
    [
      'owned by something of a kind that is not served',
      'configmaps',
      { ownerReferences: [{ ...owner, apiVersion: 'nowhere.example.org/v1' }] },
      /ConfigMap theirs/,
    ],
    ['Endpoints that say they are made by Kubernetes', 'endpoints', { labels: managed }, /Endpoints theirs/],
  ];
  for (const [index, [what, collection, metadata, named]] of rows.entries())
    await t.test(what, async (t) => {
      const tenant = `${namespace}-${index}`;
      t.teardown(() => client.delete(`/api/v1/namespaces/${tenant}`));
      await commit(stage, `tenant-${index}`, [change('Create', tenant, {}, { kind: 'Namespace' })]);
      must(await client.create(`/api/v1/namespaces/${tenant}/${collection}`, { metadata: { name: 'theirs', ...metadata } }));
      const status = await undo(stage, `tenant-${index}`, partial);
      t.match(itemsOf(status)[0], { error: { reason: 'NotEmpty', message: named } });
      t.equal((await client.get(`/api/v1/namespaces/${tenant}/${collection}/theirs`)).code, 200);
    });

  for (const [kind, collection, name] of [
    ['ConfigMap', 'configmaps', 'kube-root-ca.crt'],
    ['ServiceAccount', 'serviceaccounts', 'default'],
  ] as const)
    await t.test(`an object that the ${kind} of Kubernetes controls keeps the Namespace`, async (t) => {
      const tenant = `${namespace}-${collection}`;
      t.teardown(() => client.delete(`/api/v1/namespaces/${tenant}`));
      await commit(stage, collection, [change('Create', tenant, {}, { kind: 'Namespace' })]);
      const above = await waitFor(async () => {
        const { code, body } = await client.get(`/api/v1/namespaces/${tenant}/${collection}/${name}`);
        return code === 200 && body;
      }, `the ${kind}`);
      const ownerReferences = [ownerOf({ ...above, apiVersion: 'v1', kind }, { controller: true })];
      must(await client.create(`/api/v1/namespaces/${tenant}/configmaps`, { metadata: { name: 'theirs', ownerReferences } }));
      const status = await undo(stage, collection, partial);
      t.match(itemsOf(status)[0], { error: { reason: 'NotEmpty', message: /ConfigMap theirs/ } });
    });

  await t.test('instances of other kinds with the names of objects of Kubernetes keep the Namespace', async (t) => {
    const group = `${namespace}.example.org`;
    for (const [kind, plural] of [
      ['Event', 'events'],
      ['Endpoints', 'endpoints'],
    ] as const) {
      const schema = { openAPIV3Schema: { type: 'object' } };
      const versions = [{ name: 'v1', served: true, storage: true, schema }];
      const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
      const spec = { group, scope: 'Namespaced', names: { plural, kind }, versions };
      must(await client.create(definitions, { metadata: { name: `${plural}.${group}` }, spec }));
      t.teardown(() => client.delete(`${definitions}/${plural}.${group}`));
      const tenant = `${namespace}-${plural}-own`;
      t.teardown(() => client.delete(`/api/v1/namespaces/${tenant}`));
      await commit(stage, `own-${plural}`, [
        change('Create', tenant, {}, { kind: 'Namespace' }),
        change('Create', 'theirs', ports, { ...service, namespace: tenant }),
      ]);
      const instances = `/apis/${group}/v1/namespaces/${tenant}/${plural}`;
      const instance = { apiVersion: `${group}/v1`, kind, metadata: { name: 'theirs' } };
      await waitFor(async () => (await client.create(instances, instance)).code === 201, `${kind} to be served`);
      const status = await undo(stage, `own-${plural}`, partial);
      t.match(itemsOf(status)[0], { error: { reason: 'NotEmpty', message: new RegExp(`${kind} theirs`) } });
      t.equal((await client.get(`${instances}/theirs`)).code, 200);
    }
  });

  await t.test('the ServiceAccount of its own, written to by others', async (t) => {
    const tenant = `${namespace}-default`;
    t.teardown(() => client.delete(`/api/v1/namespaces/${tenant}`));
    await commit(stage, 'default', [change('Create', tenant, {}, { kind: 'Namespace' })]);
    const where = `/api/v1/namespaces/${tenant}/serviceaccounts/default`;
    await waitFor(async () => (await client.get(where)).code === 200, 'the ServiceAccount');
    must(await client.patch(where, { imagePullSecrets: [{ name: 'theirs' }] }, 'merge', { fieldManager: 'their-tool' }));
    const status = await undo(stage, 'default', partial);
    t.match(itemsOf(status)[0], { error: { reason: 'NotEmpty', message: /ServiceAccount default/ } });
  });

  await t.test('a workload of its own, and all that was made of it', async (t) => {
    const tenant = `${namespace}-fleet`;
    t.teardown(() => client.delete(`/api/v1/namespaces/${tenant}`));
    const labels = { app: 'web' };
    const containers = [{ name: 'web', image: 'example.org/web' }];
    const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
    await commit(stage, 'workload', [
      change('Create', tenant, {}, { kind: 'Namespace' }),
      change('Create', 'web', { spec }, { ...deployment, namespace: tenant }),
      change('Create', 'web', { spec: { selector: labels, ports: [{ port: 80 }] } }, { ...service, namespace: tenant }),
    ]);
    const pods = async (): Promise<boolean> => (await client.list(`/api/v1/namespaces/${tenant}/pods`)).items.length > 0;
    await waitFor(pods, 'a Pod');
    await undoAll(stage, 'workload');
    t.equal((await client.get(`/api/v1/namespaces/${tenant}`)).code, 404);
  });
});
