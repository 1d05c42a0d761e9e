// Credentials: their sources, when they are read again, and the report if they cannot be read.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import t from 'tap';
import { createCluster } from '../../../server/kubernetes/cluster.ts';
import { connect } from '../../../server/kubernetes/connect.ts';
import { createConnection, otherServer } from '../../../server/kubernetes/connection.ts';
import { credentialsOf, kubeconfigConnection } from '../../../server/kubernetes/kubeconfig-connection.ts';
import { podConnection } from '../../../server/kubernetes/pod.ts';
import { connectToCluster } from '../../support/install.ts';
import { authorityOfSuite, freeDirectory, kubeconfigWith, tokenOfSuite } from './kubeconfig.ts';
import { engine, failureOf, kubeconfigOfSuite, locationOf, openCluster } from './real.ts';

const cluster = openCluster();
t.teardown(() => cluster.close());
const client = connectToCluster();
t.teardown(() => client.close());
const directory = freeDirectory(t);
const location = await locationOf(cluster, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });

t.test('the port loads a replaced token of the kubeconfig after a 401', async (t) => {
  const path = kubeconfigWith(t, {}, { token: 'wrong' });
  const opened = createCluster(kubeconfigConnection(path), { writeTimeout: 10_000 });
  t.match(failureOf(await opened.get(location, engine)), {
    kind: 'transient',
    code: 401,
    reason: 'Unauthorized',
    definitive: true,
  });
  writeFileSync(path, readFileSync(kubeconfigOfSuite()));
  t.equal((await opened.get(location, engine)).kind, 'ok');
  await opened.close();
});

t.test('the port uses a token file and an exec plugin, and sends nothing if they fail', async (t) => {
  const token = tokenOfSuite();
  if (token === undefined) {
    t.pass('the suite runs with a client certificate');
    return;
  }
  const file = join(directory, 'token');
  writeFileSync(file, `${token}\n`);
  const byFile = { token: undefined, 'auth-provider': { name: 'tokenFile', config: { tokenFile: file } } };
  const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token } };
  const byPlugin = (script: string) => ({
    token: undefined,
    exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', args: ['-c', script] },
  });
  const ways = [byFile, byPlugin(`echo '${JSON.stringify(credential)}'`)];
  for (const user of ways) {
    const opened = createCluster(kubeconfigConnection(kubeconfigWith(t, {}, user)), { writeTimeout: 10_000 });
    t.equal((await opened.get(location, engine)).kind, 'ok');
    await opened.close();
  }
  writeFileSync(file, '');
  const emptied = createCluster(kubeconfigConnection(kubeconfigWith(t, {}, byFile)), { writeTimeout: 10_000 });
  t.match(failureOf(await emptied.get(location, engine)), { kind: 'transient', reason: 'CredentialsUnavailable' });
  await emptied.close();
  const broken = kubeconfigConnection(kubeconfigWith(t, {}, byPlugin('echo hunter2 >&2; exit 1')));
  const opened = createCluster(broken, { writeTimeout: 10_000 });
  const failure = failureOf(await opened.get(location, engine));
  t.match(failure, { kind: 'transient', reason: 'CredentialsUnavailable', definitive: true });
  t.notMatch(JSON.stringify(failure), /hunter2/);
  await opened.close();
});

t.test('a connection that cannot be used says why, without quoting the file', async (t) => {
  const file = join(directory, 'broken');
  writeFileSync(file, 'token: [hunter2');
  const refused: readonly (readonly [string, RegExp])[] = [
    [join(directory, 'none'), /none cannot be used \(ENOENT\)/],
    [file, /broken cannot be used \(it is not a kubeconfig\)/],
    [kubeconfigWith(t, { 'proxy-url': 'http://proxy' }), /requires a proxy, which is not supported/],
    [kubeconfigWith(t, {}, { as: 'someone' }), /impersonates a user/],
  ];
  for (const [kubeconfig, words] of refused) {
    t.throws(() => kubeconfigConnection(kubeconfig), { message: words });
    t.throws(() => kubeconfigConnection(kubeconfig), { message: /^(?!.*hunter2)/s });
  }
});

/** The files of a Pod, under a prefix of our own. */
function podFiles(token: string): string {
  const files = join(directory, '/var/run/secrets/kubernetes.io/serviceaccount');
  mkdirSync(files, { recursive: true });
  writeFileSync(join(files, 'token'), `${token}\n`);
  writeFileSync(join(files, 'ca.crt'), authorityOfSuite());
  return files;
}

t.test('the port reads the files of a Pod as client-node does', async (t) => {
  for (const [host, port] of [
    ['10.0.0.1', '443'],
    ['fd00::1', '6443'],
  ] as const) {
    const connection = podConnection({ kind: 'pod', host, port, directory: podFiles('hunter2') });
    Object.assign(process.env, { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port });
    const config = new KubeConfig();
    config.loadFromCluster(directory);
    t.equal(connection.server.href, new URL(config.getCurrentCluster()?.server ?? '').href);
    const { headers, tls } = await credentialsOf(config);
    const own = await connection.credentials();
    t.same(own, { headers, tls: { ca: tls.ca } });
    t.equal(own.headers.authorization, 'Bearer hunter2');
  }
});

t.test('with the files of a Pod the API server answers, also once its token was replaced', async (t) => {
  const token = tokenOfSuite();
  if (token === undefined) {
    t.pass('the suite runs with a client certificate');
    return;
  }
  const { hostname, port } = new URL(client.url);
  const connection = await connect({ kind: 'pod', host: hostname, port, directory: podFiles('wrong') });
  const opened = createCluster(connection, { writeTimeout: 10_000 });
  t.match(failureOf(await opened.get(location, engine)), { kind: 'transient', code: 401 });
  const files = podFiles(token);
  t.equal((await opened.get(location, engine)).kind, 'ok');
  const unavailable = { kind: 'transient', reason: 'CredentialsUnavailable', definitive: true };
  rmSync(join(files, 'token'));
  connection.refused();
  t.match(failureOf(await opened.get(location, engine)), unavailable);
  // Sent without a token the request would be that of system:anonymous, whom the API server forbids it: the Transaction would fail.
  podFiles('');
  connection.refused();
  t.match(failureOf(await opened.get(location, engine)), unavailable);
  podFiles(token);
  t.equal((await opened.get(location, engine)).kind, 'ok', 'read again, although no request was refused');
  await opened.close();
});

t.test('the port does not send credentials of another API server that the kubeconfig names by now', async (t) => {
  let server = new URL('https://one.example.org');
  const read = async () => ({ headers: { authorization: 'Bearer one' }, tls: {} });
  const connection = createConnection(() => ({ server, read }));
  t.match(await connection.credentials(), { headers: { authorization: 'Bearer one' } });
  server = new URL('https://two.example.org');
  connection.refused();
  await t.rejects(connection.credentials(), { message: otherServer });
});
