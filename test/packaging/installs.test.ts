// Installed for listed namespaces, used, removed in the right order and in a wrong one: on a control plane of its own, since
// removals concern the whole cluster. The hook is a process with a token of the shipped ServiceAccount.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import t from 'tap';
import { parse } from 'yaml';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { startControlPlane } from '../controlplane/start.ts';
import { type Answer, type Client, connect, must, waitFor as waitPatiently } from '../support/client.ts';
import { engineKubeconfig } from '../support/engine-identity.ts';
import { hookEnvironment, post, ready, startHookProcess } from '../support/hook-process.ts';
import { hookToken } from '../support/hook-token.ts';
import { applyObject } from '../support/install.ts';
import { type Loop, startLoop } from '../support/metacontroller/loop.ts';
import { inAllOnly } from '../support/selection.ts';
import { conditionOf, statusOf } from '../support/stage.ts';
import { openHelm } from './helm.ts';
import { applyAll, deleteAll, openKustomize } from './kustomize.ts';

/** Only a guard: much is started here, on a machine that may be busy. */
const waitFor = <T>(condition: () => T | Promise<T>, what: string) => waitPatiently(condition, what, { timeoutMs: 300_000 });

const plane = await startControlPlane({ report: () => undefined });
t.teardown(() => plane.stop());
const client = connect(plane.kubeconfig);
t.teardown(() => client.close());
const render = await openKustomize(t);

await applyAll(
  client,
  render('test/fixtures/metacontroller/install').filter(({ kind }) => kind !== 'StatefulSet'),
);
for (const name of ['team-a', 'team-b', 'elsewhere']) await prepareNamespace(name);
await applyAll(client, render('examples/namespaced'));
let hookUrl = await startHook();
let loop = await startMetacontroller();
t.teardown(() => loop.stop());

async function startHook(): Promise<string> {
  const kubeconfig = await engineKubeconfig(t, client, plane.kubeconfig);
  const hook = startHookProcess(t, { ...hookEnvironment(t, kubeconfig, 'janus-system'), JANUS_NAMESPACES: 'team-a,team-b' });
  return ready(await hook.address());
}

function startMetacontroller(): Promise<Loop> {
  return startLoop({ kubeconfig: plane.kubeconfig, hookUrl, token: hookToken, name: 'loop', matchLabels: {} });
}

/** A namespace with a ConfigMap and two ServiceAccounts that may change it. */
async function prepareNamespace(name: string): Promise<void> {
  must(await client.create('/api/v1/namespaces', { metadata: { name } }));
  must(await client.create(`/api/v1/namespaces/${name}/configmaps`, { metadata: { name: 'app' }, data: { version: '1' } }));
  const subjects = ['deployer', 'unlisted'].map((account) => ({ kind: 'ServiceAccount', name: account, namespace: name }));
  for (const { name: account } of subjects)
    must(await client.create(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: account } }));
  await bind(name, { kind: 'ClusterRole', name: 'cluster-admin' }, subjects);
}

async function bind(namespace: string, role: JsonObject, subjects: readonly JsonObject[]): Promise<void> {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', ...role };
  const body = { metadata: { generateName: 'test-' }, roleRef, subjects };
  must(await client.create(`/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, body));
}

const pathOf = (namespace: string, name = ''): string =>
  `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions/${name}`;

function create(namespace: string, name: string, more: JsonObject = {}, who: Client = client): Promise<Answer> {
  const patch = {
    type: 'Patch',
    target: { apiVersion: 'v1', kind: 'ConfigMap', name: 'app' },
    content: { data: { version: '2' } },
  };
  const body = { metadata: { name }, spec: { serviceAccountName: 'deployer', changes: [patch], ...more } };
  return who.create(pathOf(namespace).replace(/\/$/, ''), { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', ...body });
}

async function versionIn(namespace: string): Promise<string | undefined> {
  return textAt(must(await client.get(`/api/v1/namespaces/${namespace}/configmaps/app`)), 'data', 'version');
}

async function phase(namespace: string, name: string, wanted: string): Promise<JsonObject> {
  return waitFor(async () => {
    const status = statusOf(must(await client.get(pathOf(namespace, name))));
    if (textAt(status, 'phase') === wanted && conditionOf(status, 'Finished') === 'True') return status;
    throw new Error(JSON.stringify(status));
  }, `Transaction ${name} to be ${wanted}`);
}

async function remove(namespace: string, name: string): Promise<void> {
  await client.delete(pathOf(namespace, name));
  await waitFor(async () => (await client.get(pathOf(namespace, name))).code === 404, `${name} to be gone`);
}

t.test('in a listed namespace a Transaction commits, is undone, and goes', async (t) => {
  must(await create('team-a', 'one'));
  await phase('team-a', 'one', 'Committed');
  t.equal(await versionIn('team-a'), '2');
  must(await client.patch(pathOf('team-a', 'one'), { metadata: { annotations: { 'tx.janus.io/request-rollback': '1' } } }));
  await phase('team-a', 'one', 'RolledBack');
  t.equal(await versionIn('team-a'), '1');
  await remove('team-a', 'one');
});

const refused: readonly (readonly [reason: string, namespace: string, more: JsonObject, message: string])[] = [
  ['elsewhere', 'elsewhere', {}, 'the engine does not serve Transactions in namespace elsewhere'],
  [
    'as another ServiceAccount',
    'team-a',
    { serviceAccountName: 'unlisted' },
    'the engine may not act as ServiceAccount team-a/unlisted',
  ],
];
for (const [reason, namespace, more, message] of refused)
  t.test(`${reason} it is refused when it is created`, async (t) => {
    const answer = await waitFor(async () => {
      const tried = await create(namespace, 'refused', more);
      if (tried.code === 201) await client.delete(pathOf(namespace, 'refused'));
      return tried.code !== 201 && tried;
    }, 'the policy to take effect');
    t.equal(answer.code, 403);
    t.match(textAt(answer.body, 'message'), message);
    t.equal(await versionIn(namespace), '1');
  });

t.test(
  'where admission did not see it, it waits, elsewhere without a word and as another ServiceAccount with one; nothing is written',
  async (t) => {
    const binding = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/reach.transactions.tx.janus.io';
    must(await client.delete(binding));
    await waitFor(async () => (await create('elsewhere', 'outside')).code === 201, 'the policy to be off');
    const parent = must(await client.get(pathOf('elsewhere', 'outside')));
    const answer = await post(`${hookUrl}/sync`, { controller: {}, parent, children: {}, related: {}, finalizing: false });
    t.equal(answer.statusCode, 429);
    await answer.body.dump();
    must(await create('team-a', 'outside', { serviceAccountName: 'unlisted' }));
    const waiting = await waitFor(async () => {
      const status = statusOf(must(await client.get(pathOf('team-a', 'outside'))));
      return textAt(status, 'message')?.includes('Forbidden') && status;
    }, 'it to say what it waits for');
    t.equal(textAt(waiting, 'phase'), 'Pending');
    t.same(statusOf(must(await client.get(pathOf('elsewhere', 'outside')))), { observedGeneration: -1 });
    for (const namespace of ['elsewhere', 'team-a']) t.equal(await versionIn(namespace), '1');
    t.same((await client.list('/apis/coordination.k8s.io/v1/namespaces/janus-system/leases')).items, []);
    await remove('team-a', 'outside');
  },
);

t.test('a spec that the policy did not see ends as Failed; with the policy back it can be annotated and deleted', async (t) => {
  const binding = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/spec.transactions.tx.janus.io';
  const stored = must(await client.get(binding));
  must(await client.delete(binding));
  const bad = { timeout: '25h' };
  await waitFor(async () => (await create('team-a', 'unseen', bad)).code === 201, 'the policy to be off');
  const status = await phase('team-a', 'unseen', 'Failed');
  t.match(textAt(status, 'message'), 'spec.timeout must be a duration from 1s to 24h');
  t.equal(await versionIn('team-a'), '1');
  must(await client.create(binding.replace(/\/[^/]+$/, ''), { ...stored, metadata: { name: 'spec.transactions.tx.janus.io' } }));
  const changed = { spec: { timeout: '1h' } };
  const edit = (): Promise<Answer> => client.patch(pathOf('team-a', 'unseen'), changed, 'merge', { dryRun: 'All' });
  await waitFor(async () => (await edit()).code === 422, 'the policy to be on');
  must(await client.patch(pathOf('team-a', 'unseen'), { metadata: { annotations: { 'example.org/note': 'mine' } } }));
  await remove('team-a', 'unseen');
});

t.test('a user with view sees Transactions, and a user with edit creates them', async (t) => {
  const [viewer, editor] = [client.asUser('viewer'), client.asUser('editor')];
  await bind('team-b', { kind: 'ClusterRole', name: 'view' }, [{ kind: 'User', name: 'viewer' }]);
  await bind('team-b', { kind: 'ClusterRole', name: 'edit' }, [{ kind: 'User', name: 'editor' }]);
  await waitFor(async () => (await viewer.get(pathOf('team-b'))).code === 200, 'the roles to be aggregated');
  t.equal((await create('team-b', 'two', {}, viewer)).code, 403);
  await waitFor(async () => (await create('team-b', 'two', {}, editor)).code === 201, 'an editor to create one');
  await phase('team-b', 'two', 'Committed');
  t.equal((await viewer.delete(pathOf('team-b', 'two'))).code, 403);
  t.equal((await editor.update(`${pathOf('team-b', 'two')}/status`, must(await client.get(pathOf('team-b', 'two'))))).code, 403);
  t.equal((await viewer.get(pathOf('elsewhere'))).code, 403);
  await remove('team-b', 'two');
});

t.test('after rights in the whole cluster are applied, a waiting Transaction begins', async (t) => {
  await applyAll(client, render('manifests'));
  await phase('elsewhere', 'outside', 'Committed');
  t.equal(await versionIn('elsewhere'), '2');
});

t.test('the program of `helm test` sees a Transaction commit, and leaves nothing', async (t) => {
  const helm = await openHelm(t);
  const { objects } = helm.render({ test: { namespace: 'elsewhere' } });
  const own = objects.filter((object) => textAt(object, 'metadata', 'name') === 'janus-helm-test');
  for (const object of own.filter(({ kind }) => kind !== 'Pod')) must(await applyObject(client, object));
  const accounts = '/api/v1/namespaces/elsewhere/serviceaccounts/janus-helm-test/token';
  const token = textAt(must(await client.create(accounts, { spec: { expirationSeconds: 600 } })), 'status', 'token') ?? '';
  const [container] = at(own.find(({ kind }) => kind === 'Pod') ?? {}, 'spec', 'containers') as readonly JsonObject[];
  const [{ cluster } = {}] = parse(readFileSync(plane.kubeconfig, 'utf8')).clusters;
  const ca = Buffer.from(cluster['certificate-authority-data'] ?? '', 'base64').toString();
  const directory = t.testdir({ token, 'ca.crt': ca });
  const { hostname, port } = new URL(cluster.server);
  const env = {
    KUBERNETES_SERVICE_HOST: hostname,
    KUBERNETES_SERVICE_PORT: port,
    TEST_NAMESPACE: 'elsewhere',
    TOKEN_FILE: `${directory}/token`,
    NODE_EXTRA_CA_CERTS: `${directory}/ca.crt`,
  };
  const [, ...flags] = at(container, 'command') as readonly string[];
  const run = promisify(execFile)(process.execPath, [...flags, ...(at(container, 'args') as readonly string[])], { env });
  t.match((await run).stdout, /^Transaction elsewhere\/janus-helm-test-\w+: Committed\n$/);
  await waitFor(async () => {
    const { items } = await client.list('/api/v1/namespaces/elsewhere/configmaps');
    return !JSON.stringify(items.map((item) => at(item, 'metadata', 'name'))).includes('janus-helm-test');
  }, 'nothing of it to be left');
});

async function leftOf(): Promise<readonly string[]> {
  const lists = ['rbac.authorization.k8s.io/v1/clusterroles', 'rbac.authorization.k8s.io/v1/clusterrolebindings'];
  const names = await Promise.all(lists.map(async (path) => (await client.list(`/apis/${path}`)).items));
  return names
    .flat()
    .flatMap((item) => (/janus/.test(JSON.stringify(at(item, 'metadata', 'name'))) ? [JSON.stringify(item)] : []));
}

t.test('uninstalled: first the Transactions, then the rest; the objects stay as they are', async (t) => {
  must(await create('team-a', 'three'));
  await phase('team-a', 'three', 'Committed');
  for (const [namespace, name] of [
    ['elsewhere', 'outside'],
    ['team-a', 'three'],
  ] as const)
    await remove(namespace, name);
  await deleteAll(client, render('manifests'));
  t.same(await leftOf(), []);
  for (const namespace of ['team-a', 'elsewhere']) {
    const { items } = await client.list(`/api/v1/namespaces/${namespace}/configmaps`, {
      labelSelector: 'tx.janus.io/transaction-uid',
    });
    t.same(items, [], 'no snapshot is left');
    t.equal(await versionIn(namespace), '2');
  }
});

t.test(
  'uninstalled in the wrong order: Transactions stay in deletion until Metacontroller and the engine are back',
  inAllOnly,
  async (t) => {
    await waitFor(
      async () => (await client.get('/api/v1/namespaces/janus-system')).code === 404,
      'the namespace of the engine to be gone',
    );
    await applyAll(client, render('manifests'));
    await loop.stop();
    // The ServiceAccount is another one than before, and so is the key.
    hookUrl = await startHook();
    loop = await startMetacontroller();
    must(
      await waitFor(async () => {
        const answer = await create('team-a', 'four', {});
        return answer.code === 201 && answer;
      }, 'Transactions to be admitted'),
    );
    await phase('team-a', 'four', 'Committed');
    await loop.stop();
    const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/transactions.tx.janus.io';
    must(await client.delete(definition));
    await waitFor(
      async () => at(must(await client.get(pathOf('team-a', 'four'))), 'metadata', 'deletionTimestamp'),
      'it to be in deletion',
    );
    t.match(at(must(await client.get(definition)), 'status', 'conditions'), [], 'the definition waits for it');
    t.equal((await client.get(pathOf('team-a', 'four'))).code, 200);
    loop = await startMetacontroller();
    await waitFor(async () => (await client.get(definition)).code === 404, 'the definition to be gone, once the Transaction is');
  },
);
