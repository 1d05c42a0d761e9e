// The chart installed by Helm itself into an empty cluster, by the commands of its README and of docs/upgrade.md, upgraded to other values, and removed. There are no nodes, so
// its Pods do not run; test/packaging/installs.test.ts runs what would be in them.
import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import t from 'tap';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { startControlPlane } from '../controlplane/start.ts';
import { connect, must } from '../support/client.ts';
import { root } from '../support/pages.ts';
import { openPages } from '../support/typing.ts';
import { buildHelm } from '../tools/helm/helm.ts';
import { openHelm } from './helm.ts';

const plane = await startControlPlane({ report: () => undefined });
t.teardown(() => plane.stop());
const client = connect(plane.kubeconfig);
t.teardown(() => client.close());
const helm = await openHelm(t);
const namespace = 'janus-system';
const secrets = `/api/v1/namespaces/${namespace}/secrets`;
const token = `${secrets}/janus-hook-token`;
const key = `${secrets}/janus-sealing-key`;
const controller = '/apis/metacontroller.k8s.io/v1alpha1/compositecontrollers/janus';

const pages = openPages('test/packaging/helm-install.test.ts');
const PATH = `${dirname(await buildHelm((line) => t.comment(line)))}${delimiter}${process.env.PATH}`;
const place = { folder: root, env: { PATH, KUBECONFIG: plane.kubeconfig, HELM_CACHE_HOME: t.testdir({}) } };

const helmIn = (into: string, ...args: readonly string[]) =>
  helm.run(...args, '--namespace', into, '--kubeconfig', plane.kubeconfig);

function run(verb: string, values: JsonObject = {}, release = 'janus', into = namespace) {
  const set = Object.entries(values).flatMap(([name, value]) => ['--set-json', `${name}=${JSON.stringify(value)}`]);
  const chart = verb === 'uninstall' ? [] : [helm.chart, ...set];
  const create = verb === 'install' ? ['--create-namespace'] : [];
  return helmIn(into, verb, release, ...chart, ...create);
}

const tokenNow = async () => textAt(must(await client.get(token)), 'data', 'current');

t.test('into an empty cluster, with Metacontroller, in one line', async (t) => {
  const [printed] = await pages.type(t, place, 'charts/janus/README.md');
  t.match(printed, 'STATUS: deployed');
  t.equal((await client.get(controller)).code, 200);
  t.equal((await client.get('/apis/apps/v1/namespaces/metacontroller/statefulsets/metacontroller')).code, 200);
});

t.test('a second engine in the cluster is refused, and nothing of it is left', async (t) => {
  const { status, text } = run('install', {}, 'other', 'elsewhere');
  t.equal(status, 1);
  t.match(text, 'cannot be imported into the current release');
  t.equal((await client.get('/apis/apps/v1/namespaces/elsewhere/deployments/janus')).code, 404);
});

t.test('an upgrade keeps the token, also when the chart no longer creates it', async (t) => {
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

t.test('packages are turned off: objects in their namespace stay, and packages can be turned on again', async (t) => {
  const secret = '/api/v1/namespaces/janus-packages/secrets';
  t.equal(run('upgrade', { packages: { enabled: true } }).status, 0);
  must(await client.create(secret, { metadata: { name: 'pull' } }));
  // Without values an upgrade takes those of the revision before it.
  const { status, text } = run('upgrade', { packages: { enabled: false } });
  t.equal(status, 0, text);
  const { body } = await client.get('/api/v1/namespaces/janus-packages');
  t.equal(textAt(body, 'metadata', 'deletionTimestamp'), undefined);
  t.equal((await client.get(`${secret}/pull`)).code, 200);
  t.equal(
    (await client.get('/apis/metacontroller.k8s.io/v1alpha1/compositecontrollers/janus-packages')).code,
    404,
    'they are off',
  );
  // What docs/upgrade.md says: back only by an upgrade, which takes over what was kept.
  const back = helmIn(namespace, 'rollback', 'janus');
  t.match([back.status, back.text], [1, 'original object Namespace with the name "janus-packages" not found']);
  const again = run('upgrade', { packages: { enabled: true } });
  t.equal(again.status, 0, again.text);
});

t.test('a key that the engine has made is not replaced by one of the chart', async (t) => {
  must(await client.create(secrets, { metadata: { name: 'janus-sealing-key' } }));
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
  t.equal((await client.get(key)).code, 200);
  await pages.type(t, place, 'docs/upgrade.md', 'With Helm');
  t.equal(await tokenNow(), first);
});

const dataNow = async () => [at(must(await client.get(token)), 'data'), at(must(await client.get(key)), 'data')];

/** As docs/access.md and docs/sealing.md say, and as the engine marks its key. */
async function rotate(): Promise<void> {
  const { current: previous = '' } = (await dataNow())[0] as Readonly<Record<string, string>>;
  const stringData = { current: 'key-2', 'key-2': 'k'.repeat(32) };
  must(await client.patch(token, { data: { previous }, stringData: { current: 't'.repeat(48) } }));
  must(await client.patch(key, { stringData }));
}

const revisionNow = (): string => /REVISION: (\d+)/.exec(helmIn(namespace, 'status', 'janus').text)?.[1] ?? '';

t.test('the Secrets that the chart makes are long, other ones each time, and no part of the release', async (t) => {
  const made: unknown[] = [];
  for (const _ of [1, 2]) {
    await client.delete(token);
    await client.delete(key);
    const { status, text } = run('upgrade', { sealingKey: { source: 'chart' } });
    t.equal(status, 0, text);
    const data = (await dataNow()) as readonly Readonly<Record<string, string>>[];
    t.ok(Buffer.from(data[0]?.current ?? '', 'base64').length >= 32);
    t.equal(Buffer.from(data[1]?.['chart-1'] ?? '', 'base64').length, 32);
    for (const path of [token, key])
      t.equal(textAt(must(await client.get(path)), 'metadata', 'annotations', 'helm.sh/resource-policy'), 'keep');
    for (const value of [data[0]?.current, data[1]?.['chart-1']]) t.notOk(made.includes(value));
    made.push(data[0]?.current, data[1]?.['chart-1']);
  }
  const { text } = helmIn(namespace, 'get', 'manifest', 'janus');
  t.match(text, 'kind: Deployment');
  t.notMatch(text, 'kind: Secret');
});

t.test('a rollback, also to the revision that made them, leaves the Secrets as they were rotated', async (t) => {
  const maker = revisionNow();
  await rotate();
  const rotated = await dataNow();
  t.equal(run('upgrade', { sealingKey: { source: 'chart' }, replicas: 3 }).status, 0);
  const { status, text } = helmIn(namespace, 'rollback', 'janus', maker);
  t.equal(status, 0, text);
  t.same(await dataNow(), rotated);
});

t.test('upgraded from a chart that has them among its objects, they stay; back only by an upgrade', async (t) => {
  await client.delete(token);
  await client.delete(key);
  const path = join(helm.chart, 'templates/secrets.yaml');
  const template = readFileSync(path, 'utf8');
  writeFileSync(path, template.replaceAll(/^ *helm\.sh\/hook.*\n/gm, ''));
  const values = { sealingKey: { source: 'chart' } };
  t.equal(run('upgrade', values).status, 0);
  const before = revisionNow();
  t.match(helmIn(namespace, 'get', 'manifest', 'janus').text, 'kind: Secret');
  writeFileSync(path, template);
  await rotate();
  const rotated = await dataNow();
  const upgraded = run('upgrade', values);
  t.equal(upgraded.status, 0, upgraded.text);
  t.same(await dataNow(), rotated);
  const back = helmIn(namespace, 'rollback', 'janus', before);
  t.equal(back.status, 1);
  t.match(back.text, 'original object Secret with the name "janus-');
  const again = run('upgrade', values);
  t.equal(again.status, 0, again.text);
  t.same(await dataNow(), rotated);
});
