// The chart installed by Helm itself into an empty cluster, as the README says, upgraded to other values, and removed. There are no nodes, so
// its Pods do not run; test/packaging/installs.test.ts runs what would be in them.
import t from 'tap';
import { type JsonObject, textAt } from '../../hooks/model/json.ts';
import { startControlPlane } from '../controlplane/start.ts';
import { connect, must } from '../support/client.ts';
import { openHelm } from './helm.ts';

const plane = await startControlPlane({ report: () => undefined });
t.teardown(() => plane.stop());
const client = connect(plane.kubeconfig);
t.teardown(() => client.close());
const helm = await openHelm(t);
const namespace = 'janus-system';
const token = `/api/v1/namespaces/${namespace}/secrets/janus-hook-token`;
const controller = '/apis/metacontroller.k8s.io/v1alpha1/compositecontrollers/janus';

function run(verb: string, values: JsonObject = {}, release = 'janus', into = namespace) {
  const set = Object.entries(values).flatMap(([key, value]) => ['--set-json', `${key}=${JSON.stringify(value)}`]);
  const chart = verb === 'uninstall' ? [] : [helm.chart, ...set];
  const create = verb === 'install' ? ['--create-namespace'] : [];
  return helm.run(verb, release, ...chart, '--namespace', into, '--kubeconfig', plane.kubeconfig, ...create);
}

const tokenNow = async () => textAt(must(await client.get(token)), 'data', 'current');

t.test('into an empty cluster, with Metacontroller, in one line', async (t) => {
  const { status, text } = run('install', { metacontroller: { install: true } });
  t.equal(status, 0, text);
  t.match(text, 'STATUS: deployed');
  t.equal((await client.get(controller)).code, 200);
  t.equal((await client.get('/apis/apps/v1/namespaces/metacontroller/statefulsets/metacontroller')).code, 200);
});

t.test('a second engine in the cluster is refused, and nothing of it is left', async (t) => {
  const { status, text } = run('install', {}, 'other', 'elsewhere');
  t.equal(status, 1);
  t.match(text, 'cannot be imported into the current release');
  t.equal((await client.get('/apis/apps/v1/namespaces/elsewhere/deployments/janus')).code, 404);
});

t.test('upgraded, the token is the same one; also when the chart no longer makes it', async (t) => {
  const first = await tokenNow();
  t.equal(run('upgrade', { metacontroller: { install: true } }).status, 0);
  t.equal(await tokenNow(), first);
  must(await client.create('/api/v1/namespaces', { metadata: { name: 'team-a' } }));
  const { status, text } = run('upgrade', {
    token: { create: false, secretName: 'janus-hook-token' },
    namespaces: [{ name: 'team-a', serviceAccounts: ['deployer'] }],
  });
  t.equal(status, 0, text);
  t.equal(await tokenNow(), first);
  t.equal((await client.get('/apis/rbac.authorization.k8s.io/v1/clusterroles/janus')).code, 404);
  t.equal((await client.get('/api/v1/namespaces/metacontroller')).code, 200, 'what others have there stays');
});

t.test('packages are turned off: what was put into their namespace stays', async (t) => {
  const secret = '/api/v1/namespaces/janus-packages/secrets';
  t.equal(run('upgrade', { packages: { enabled: true } }).status, 0);
  must(await client.create(secret, { metadata: { name: 'pull' } }));
  const { status, text } = run('upgrade');
  t.equal(status, 0, text);
  const { body } = await client.get('/api/v1/namespaces/janus-packages');
  t.equal(textAt(body, 'metadata', 'deletionTimestamp'), undefined);
  t.equal((await client.get(`${secret}/pull`)).code, 200);
});

t.test('a key that the engine has made is not replaced by one of the chart', async (t) => {
  must(await client.create(`/api/v1/namespaces/${namespace}/secrets`, { metadata: { name: 'janus-sealing-key' } }));
  const { status, text } = run('upgrade', { sealingKey: { source: 'chart' } });
  t.equal(status, 1);
  t.match(text, 'the Secret janus-sealing-key exists and was not made by the chart: set existing, which keeps it');
});

t.test('removed: Transactions and keys stay; installed again, it takes them over', async (t) => {
  const first = await tokenNow();
  t.equal(run('uninstall').status, 0);
  t.equal((await client.get(controller)).code, 404);
  const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/transactions.tx.janus.io';
  t.equal(textAt(must(await client.get(definition)), 'metadata', 'deletionTimestamp'), undefined);
  t.equal((await client.get(`/api/v1/namespaces/${namespace}/secrets/janus-sealing-key`)).code, 200);
  const { status, text } = run('install');
  t.equal(status, 0, text);
  t.equal(await tokenNow(), first);
});
