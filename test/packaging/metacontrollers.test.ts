// Metacontroller with the rights of manifests/confined-metacontroller and nothing else, two replicas of which one leads; and two of
// them that share the Transactions (manifests/sharded). The real one where it is at hand, otherwise the double with the same rights.
import t from 'tap';
import { at, type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import { startControlPlane } from '../controlplane/start.ts';
import { connect, must, waitFor as waitPatiently } from '../support/client.ts';
import { accountKubeconfig, engineKubeconfig } from '../support/engine-identity.ts';
import { hookEnvironment, ready, startHookProcess } from '../support/hook-process.ts';
import { hookToken } from '../support/hook-token.ts';
import { findMetacontroller, startBinary } from '../support/metacontroller/binary.ts';
import { startMetacontroller } from '../support/metacontroller/double.ts';
import { conditionOf, statusOf } from '../support/stage.ts';
import { applyAll, openKustomize } from './kustomize.ts';

const waitFor = <T>(condition: () => T | Promise<T>, what: string) => waitPatiently(condition, what, { timeoutMs: 120_000 });
const plane = await startControlPlane({ report: () => undefined });
t.teardown(() => plane.stop());
const client = connect(plane.kubeconfig);
t.teardown(() => client.close());
const render = await openKustomize(t);
const isRunnable = ({ kind }: JsonObject): boolean => kind !== 'StatefulSet' && kind !== 'Deployment';
const controllers = render('examples/sharded').filter(({ kind }) => kind === 'CompositeController');
await applyAll(
  client,
  render('examples/confined').filter((object) => isRunnable(object) && object.kind !== 'CompositeController'),
);
const kubeconfig = await engineKubeconfig(t, client, plane.kubeconfig);
const hook = startHookProcess(t, hookEnvironment(t, kubeconfig, 'janus-system'));
const hookUrl = await ready(await hook.address());
const confined = await accountKubeconfig(
  t,
  client,
  plane.kubeconfig,
  '/api/v1/namespaces/metacontroller/serviceaccounts/metacontroller',
);
const program = findMetacontroller();
const tuned = { workers: 50, qps: 1000, burst: 2000 };
must(await client.create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'deployer' } }));
must(
  await client.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'deployer' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name: 'deployer', namespace: 'default' }],
  }),
);
const secrets = '/api/v1/namespaces/janus-system/secrets';
must(await client.create(secrets, { metadata: { name: 'janus-hook-token' }, stringData: { current: hookToken } }));
await applyAll(client, controllers.map(towardsHook));

/** As shipped, but for the address of the hook. */
function towardsHook(controller: JsonObject): JsonObject {
  const { host } = new URL(hookUrl);
  const text = JSON.stringify(controller).replaceAll('http://janus.janus-system.svc/', `${hookUrl}/`);
  const endpoint = at(controller, 'spec', 'endpointConfigs') as readonly JsonObject[];
  return withPath(JSON.parse(text), ['spec', 'endpointConfigs'], [{ ...endpoint[0], host }]);
}

async function start(shard: 'first' | 'second', leaderNamespace?: string): Promise<(signal?: 'SIGKILL') => Promise<void>> {
  const leader = leaderNamespace === undefined ? {} : { leaderNamespace };
  const name = shard === 'first' ? 'janus' : 'janus-second';
  const matchLabels = { 'tx.janus.io/shard': shard };
  const running =
    program === undefined
      ? await startMetacontroller({ ...tuned, kubeconfig: confined, hookUrl, token: hookToken, name, matchLabels })
      : await startBinary({ ...tuned, kubeconfig: confined, program, selector: `tx.janus.io/shard=${shard}`, ...leader });
  t.teardown(() => running.stop());
  return (signal) => running.stop(signal);
}

const transactions = '/apis/tx.janus.io/v1alpha1/namespaces/default/transactions';

async function create(name: string, shard: string): Promise<void> {
  const content = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'b' } };
  const spec = { serviceAccountName: 'deployer', changes: [{ type: 'Apply', content }] };
  const metadata = { name, labels: { 'tx.janus.io/shard': shard } };
  must(await client.create(transactions, { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata, spec }));
}

async function committed(name: string): Promise<JsonObject> {
  return waitFor(async () => {
    const found = must(await client.get(`${transactions}/${name}`));
    return conditionOf(statusOf(found), 'Ready') === 'True' && found;
  }, `${name} to be Committed`);
}

/** The holder of the Lease of the leader; undefined if no process elects one. */
async function leader(): Promise<string | undefined> {
  const leases = at(must(await client.get('/apis/coordination.k8s.io/v1/namespaces/metacontroller/leases')), 'items');
  return textAt((leases as readonly JsonObject[])[0], 'spec', 'holderIdentity');
}

t.test('confined, it may do nothing else', async (t) => {
  const theirs = client.asServiceAccount('metacontroller', 'metacontroller');
  for (const path of [
    '/api/v1/pods',
    '/api/v1/configmaps',
    '/apis/apps/v1/deployments',
    '/apis/rbac.authorization.k8s.io/v1/roles',
  ])
    t.equal((await theirs.get(path)).code, 403, path);
  t.equal((await theirs.create(secrets, { metadata: { name: 'a' } }, { dryRun: 'All' })).code, 403);
  t.equal((await theirs.delete(`${transactions}/none`)).code, 403);
});

t.test('confined, of two replicas one leads, and the other takes over', async (t) => {
  const stopFirst = await start('first', 'metacontroller');
  await create('one', 'first');
  await committed('one');
  const first = await leader();
  // The real one waits beside the leader; the double elects none.
  const waiting = program === undefined ? undefined : await start('first', 'metacontroller');
  if (waiting !== undefined) t.equal(await leader(), first, 'the second replica leaves the Lease to the first');
  // A killed process does not release its Lease.
  await stopFirst('SIGKILL');
  const killed = performance.now();
  const stopNext = waiting ?? (await start('first', 'metacontroller'));
  await create('two', 'first');
  await committed('two');
  t.comment(`Committed ${((performance.now() - killed) / 1000).toFixed(1)} s after the leader was killed`);
  if (program !== undefined) t.not(await leader(), first, 'the second replica has the Lease');
  const annotation = { metadata: { annotations: { 'tx.janus.io/request-rollback': '1' } } };
  must(await client.patch(`${transactions}/two`, annotation));
  await waitFor(
    async () => textAt(must(await client.get(`${transactions}/two`)), 'status', 'phase') === 'RolledBack',
    'it to be undone',
  );
  must(await client.delete(`${transactions}/two`));
  await waitFor(async () => (await client.get(`${transactions}/two`)).code === 404, 'its finalizer to be removed');
  await stopNext();
});

t.test('sharded, each Transaction is served by one of two', async (t) => {
  for (const shard of ['first', 'second'] as const) await start(shard);
  const names = Array.from({ length: 12 }, (_, index) => `shared-${index}`);
  // A label that no shard names belongs to the first; the double knows labels only.
  const shards = program === undefined ? ['first', 'second'] : ['first', 'second', 'another'];
  for (const [index, name] of names.entries()) await create(name, shards[index % shards.length] ?? '');
  for (const [index, name] of names.entries()) {
    const finalizers = at(await committed(name), 'metadata', 'finalizers');
    const controller = shards[index % shards.length] === 'second' ? 'janus-second' : 'janus';
    t.same(finalizers, [`metacontroller.io/compositecontroller-${controller}`], name);
  }
});

t.test('the requests of both have seats of their own at the API server', async (t) => {
  const answer = await client.asServiceAccount('metacontroller', 'metacontroller').request('GET', transactions);
  t.equal(answer.code, 200);
  const schema = must(await client.get('/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/janus'));
  const counted = await client.request('GET', '/metrics', {});
  const seats = /apiserver_flowcontrol_dispatched_requests_total\{flow_schema="janus",priority_level="janus"\} [1-9]/;
  t.match(counted.text, seats);
  t.match(at(schema, 'spec'), { priorityLevelConfiguration: { name: 'janus' } });
});
