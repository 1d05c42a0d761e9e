// The API server freezes for 20 s, connections and all. The hook stays ready and answers with 429, so the Service keeps its Pods, and
// work goes on at once when the API server does. On a control plane of its own, because it stops for all its clients.
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { startControlPlane } from '../controlplane/start.ts';
import { connect, must, waitFor } from '../support/client.ts';
import { engineKubeconfig } from '../support/engine-identity.ts';
import { get, hookEnvironment, post, ready, startHookProcess } from '../support/hook-process.ts';
import { hookToken } from '../support/hook-token.ts';
import { installManifests } from '../support/install.ts';
import { startLoop } from '../support/metacontroller/loop.ts';
import { conditionOf, statusOf } from '../support/stage.ts';

const plane = await startControlPlane({ report: () => undefined });
t.teardown(() => plane.stop());
const client = connect(plane.kubeconfig);
t.teardown(() => client.close());
await installManifests(client);
const accounts = '/api/v1/namespaces/default/serviceaccounts';
must(await client.create(accounts, { metadata: { name: 'deployer' } }));
must(
  await client.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'deployer' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name: 'deployer', namespace: 'default' }],
  }),
);
const kubeconfig = await engineKubeconfig(t, client, plane.kubeconfig);
const hook = startHookProcess(t, hookEnvironment(t, kubeconfig, 'janus-system'));
const hookUrl = await ready(await hook.address());
const loop = await startLoop({ kubeconfig: plane.kubeconfig, hookUrl, token: hookToken, name: 'loop', matchLabels: {} });
t.teardown(() => loop.stop());
const transactions = '/apis/tx.janus.io/v1alpha1/namespaces/default/transactions';

async function create(name: string) {
  const content = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'b' } };
  const spec = { serviceAccountName: 'deployer', changes: [{ type: 'Apply', content }] };
  return must(
    await client.create(transactions, { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata: { name }, spec }),
  );
}

function committed(name: string) {
  const isCommitted = async () => conditionOf(statusOf(must(await client.get(`${transactions}/${name}`))), 'Ready') === 'True';
  return waitFor(isCommitted, `${name} to be Committed`, { timeoutMs: 300_000 });
}

t.test('the hook stays ready while the API server is frozen, and goes on afterwards', async (t) => {
  await create('before');
  await committed('before');
  const parent = await create('during');
  plane.freeze('kube-apiserver', true);
  const frozen = performance.now();
  const answers = new Set<number>();
  const probes = new Set<number>();
  const isOver = (): boolean => performance.now() - frozen > 20_000;
  const repeat = async (look: () => Promise<number>, seen: Set<number>): Promise<void> => {
    for (; !isOver(); await delay(100)) seen.add(await look());
  };
  const call = async (): Promise<number> => {
    const answer = await post(`${hookUrl}/sync`, { controller: {}, parent, children: {}, related: {}, finalizing: false });
    await answer.body.dump();
    return answer.statusCode;
  };
  await Promise.all([repeat(call, answers), repeat(async () => (await get(`${hookUrl}/readyz`)).code, probes)]);
  plane.freeze('kube-apiserver', false);
  const thawed = performance.now();
  await committed('during');
  t.comment(`committed ${Math.round(performance.now() - thawed)} ms after the API server went on`);
  t.ok(answers.has(429), `who calls is asked to come again: ${[...answers]}`);
  t.same([...probes], [200], 'and the Pod was ready all the time');
});
