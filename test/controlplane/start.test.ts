// A control plane of our own: it answers, its controllers work, it audits, its components restart with their data, and it
// leaves nothing behind: not after stop, not when its parent is stopped, not when its parent is killed.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import t from 'tap';
import { at } from '../../hooks/objects/json.ts';
import { connect, freeNamespace, must, waitFor } from '../support/client.ts';
import { startControlPlane } from './start.ts';
import { patchOf, variable } from './versions.ts';

const controlPlane = await startControlPlane({ audit: 'RequestResponse' });
t.teardown(() => controlPlane.stop());
const client = connect(controlPlane.kubeconfig);
t.teardown(() => client.close());

t.test('it answers with the version that is pinned, over a certificate that the kubeconfig vouches for', async (t) => {
  const version = must(await client.get('/version'));
  t.equal(version.gitVersion, `v${patchOf(process.env[variable] || undefined)}`);
  const kubeconfig = readFileSync(controlPlane.kubeconfig, 'utf8');
  t.notMatch(kubeconfig, /insecure/);
  t.match(kubeconfig, /certificate-authority-data/);
});

t.test('no other user of the machine can read its secrets', async (t) => {
  t.equal(statSync(controlPlane.kubeconfig).mode & 0o777, 0o600);
  t.equal(statSync(dirname(controlPlane.kubeconfig)).mode & 0o777, 0o700);
});

t.test('a ServiceAccount without rights is refused, so authorization is real', async (t) => {
  const answer = await client.asServiceAccount('default', 'nobody').get('/api/v1/namespaces/default/secrets');
  t.equal(answer.code, 403);
});

t.test('the controller manager writes the status of a Deployment', async (t) => {
  const namespace = await freeNamespace(client, 'deployment', t);
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  must(await client.create(path, deployment));
  const status = await waitFor(async () => {
    const found = at((await client.get(`${path}/web`)).body, 'status');
    return at(found, 'unavailableReplicas') === 2 && found;
  }, 'the Deployment to count its 2 unavailable replicas');
  t.equal(at(status, 'observedGeneration'), 1);
});

t.test('the audit log holds the request and the answer', async (t) => {
  const namespace = await freeNamespace(client, 'audit', t);
  const configMap = { metadata: { name: 'audited' }, data: { canary: `canary of ${namespace}` } };
  must(await client.create(`/api/v1/namespaces/${namespace}/configmaps`, configMap));
  const event = await waitFor(
    () => auditEvents().find((line) => line.includes(configMap.data.canary)),
    'the audit event of the create',
  );
  const { level, verb, user, requestObject, responseObject } = JSON.parse(event);
  t.match({ level, verb, user }, { level: 'RequestResponse', verb: 'create', user: { username: 'admin' } });
  t.equal(requestObject.data.canary, configMap.data.canary);
  t.equal(responseObject.data.canary, configMap.data.canary);
});

function auditEvents(): readonly string[] {
  return readFileSync(controlPlane.auditLog ?? '', 'utf8').split('\n');
}

for (const component of ['etcd', 'kube-apiserver', 'kube-controller-manager'] as const) {
  t.test(`${component} restarts with its data`, async (t) => {
    const namespace = await freeNamespace(client, 'restart', t);
    await controlPlane.restart(component);
    t.equal((await client.get(`/api/v1/namespaces/${namespace}`)).code, 200);
  });
}

t.test('without the API server there is no answer, until it is started again', async (t) => {
  await controlPlane.halt('kube-apiserver');
  await t.rejects(client.get('/readyz'));
  await controlPlane.restart('kube-apiserver');
  t.equal((await client.get('/readyz')).code, 200);
});

t.test('flags of the caller reach the API server, and one that it does not know is reported with its words', async (t) => {
  const started = startControlPlane({ apiServerFlags: ['--no-such-flag'] });
  await t.rejects(started, { message: /kube-apiserver ended .*unknown flag: --no-such-flag/s });
});

const deployment = {
  metadata: { name: 'web' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'registry.invalid/web:1' }] } },
  },
};

t.test('stop', async (t) => {
  const other = await startControlPlane();
  await other.stop();
  t.notOk(existsSync(dirname(other.kubeconfig)), 'leaves no directory');
  await other.stop();
  await t.rejects(other.restart('etcd'), /stopped/, 'is final');
});
