// Two replicas of the hook, real Transactions, a real Prometheus: what it answers is what has happened, also once a replica was
// restarted. On a control plane of its own, because gauges count the whole cluster.
import t from 'tap';
import { at, isList, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { lockName } from '../../hooks/objects/reference.ts';
import { startControlPlane } from '../controlplane/start.ts';
import { type Client, connect, must, waitFor } from '../support/client.ts';
import { hookToken } from '../support/hook-token.ts';
import { engineNamespace, installManifests } from '../support/install.ts';
import { startLoop } from '../support/metacontroller/loop.ts';
import { conditionOf, statusOf } from '../support/stage.ts';
import { change } from '../support/targets.ts';
import { type Prometheus, startPrometheus } from './prometheus-process.ts';
import { startReplicas } from './replicas.ts';
import { dashboardQueries, promtool, shippedAlerts, shippedRules } from './shipped.ts';

const patience = { timeoutMs: 120_000 };
const controlPlane = await startControlPlane();
t.teardown(() => controlPlane.stop());
const client = connect(controlPlane.kubeconfig);
t.teardown(() => client.close());
await installManifests(client);
const namespace = 'shop';
await prepare(client);
const replicas = await startReplicas(t, client, controlPlane.kubeconfig, 2);
const label = { 'test.janus.io/stage': 'metrics' };
const { kubeconfig } = controlPlane;
const loop = await startLoop({ kubeconfig, hookUrl: replicas.url, token: hookToken, name: 'metrics', matchLabels: label });
t.teardown(() => loop.stop());
const targets = replicas.own.map((url, index) => ({ instance: `replica-${index}`, address: new URL(url).host }));
const prometheus = await startPrometheus(t, targets, shippedRules());

async function prepare(on: Client): Promise<void> {
  must(await on.create('/api/v1/namespaces', { metadata: { name: namespace } }));
  must(await on.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'deployer' } }));
  must(
    await on.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'deployer' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'deployer', namespace }],
    }),
  );
}

async function create(name: string, changes: readonly JsonObject[], spec: JsonObject = {}): Promise<void> {
  must(
    await client.create(`/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions`, {
      apiVersion: 'tx.janus.io/v1alpha1',
      kind: 'Transaction',
      metadata: { name, labels: label },
      spec: { serviceAccountName: 'deployer', changes, ...spec },
    }),
  );
}

async function finished(name: string): Promise<string> {
  return waitFor(
    async () => {
      const status = statusOf((await client.get(`/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions/${name}`)).body);
      return conditionOf(status, 'Finished') === 'True' ? textAt(status, 'phase') : undefined;
    },
    `Transaction ${name} to finish`,
    patience,
  );
}

/** Two ConfigMaps made by each. */
async function commitAll(names: readonly string[]): Promise<void> {
  for (const name of names)
    await create(
      name,
      ['a', 'b'].map((key) => change('Create', `${name}-${key}`, { data: { a: '1' } })),
    );
  for (const name of names) t.equal(await finished(name), 'Committed');
}

const transitionsTo = (phase: string): string => `janus_transaction_phase_transitions_total{to_phase="${phase}"}`;

/** Waits for the value of a query that gives one series without labels. */
async function answers(query: string, expected: number): Promise<void> {
  await waitFor(
    async () => {
      const { '': found } = await prometheus.values(query);
      if (found === expected) return true;
      throw new Error(`it is ${found}`);
    },
    `${query} to be ${expected}`,
    patience,
  );
}

t.test('a commit counts once, whichever replica was called', async (t) => {
  await commitAll(['one', 'two', 'three', 'four']);
  await create('wrong', [change('Delete', 'there-is-none')]);
  t.equal(await finished('wrong'), 'Failed');
  await answers(`sum(${transitionsTo('Committed')})`, 4);
  await answers(`sum(${transitionsTo('Failed')})`, 1);
  await answers('sum(janus_item_operations_total{operation="commit",result="success"})', 8);
  await answers('sum(janus_item_operations_total{operation="prepare",result="success"})', 8);
  await answers('sum(janus_transaction_item_count_count)', 5);
  await answers('sum(janus_transaction_duration_seconds_count{outcome="Committed"})', 4);
  await answers('sum(janus_lock_operations_total{operation="acquire",result="success"}) >= bool 8', 1);
  const calls = await prometheus.values('sum by (instance) (janus_hook_requests_total{code="200"})', 'instance');
  t.ok((calls['replica-0'] ?? 0) > 5 && (calls['replica-1'] ?? 0) > 5, 'both replicas were called');
});

t.test('both replicas report running Transactions, and the query does not double them', async () => {
  const target = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'one-a' };
  const now = new Date().toISOString().replace('Z', '000Z');
  const spec = { holderIdentity: `${namespace}/somebody/else`, leaseDurationSeconds: 3_600, renewTime: now, acquireTime: now };
  const labels = { 'tx.janus.io/transaction-uid': 'else' };
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${engineNamespace}/leases`;
  must(await client.create(leases, { metadata: { name: lockName(target), labels }, spec }));
  await create('waiter', [change('Patch', 'one-a', { data: { a: '2' } })], { lockWait: '1h' });
  await answers('sum(max by (phase) (janus_transactions_active{phase="Pending"}))', 1);
  await answers('sum(max by (phase) (janus_transactions_active))', 1);
  await answers('count(janus_transactions_active{phase="Pending"} == 1)', 2);
  await answers('max(janus_locks_held)', 1);
  await answers('count(janus_transaction_oldest_active_seconds{phase="Pending"} > 0)', 2);
});

t.test('a restarted replica knows the running Transactions, and counts on from 0', async () => {
  const before = await countsOf(prometheus);
  await replicas.restart(0);
  await answers('sum(janus_transaction_phase_transitions_total{instance="replica-0",to_phase="Committed"})', 0);
  await answers('sum(janus_transactions_active{instance="replica-0",phase="Pending"})', 1);
  await answers('sum(max by (phase) (janus_transactions_active))', 1);
  await commitAll(['five', 'six', 'seven']);
  await answers(`sum(${transitionsTo('Committed')})`, (before['replica-1'] ?? 0) + 3);
});

function countsOf(of: Prometheus): Promise<Readonly<Record<string, number>>> {
  return of.values(`sum by (instance) (${transitionsTo('Committed')})`, 'instance');
}

t.test('promtool finds nothing wrong with the metrics of a hook that has worked', async (t) => {
  const { code, output } = await promtool(['check', 'metrics'], await (await fetch(`${replicas.own[1]}/metrics`)).text());
  t.equal(code, 0, output);
});

t.test('Prometheus takes the rules, and every query of the dashboard', async (t) => {
  const groups = at(await prometheus.get('/api/v1/rules'), 'data', 'groups');
  const names = (isList(groups) ? groups : []).flatMap((group) => at(group, 'rules') ?? []).map((rule) => textAt(rule, 'name'));
  t.same(
    names,
    shippedAlerts().map(({ alert }) => alert),
  );
  for (const query of dashboardQueries()) await t.resolves(prometheus.values(query), query);
});
