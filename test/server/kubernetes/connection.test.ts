// Credentials: where they come from, when they are read again, and what is told when they cannot be had.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createCluster } from '../../../server/kubernetes/cluster.ts';
import { loadConnection } from '../../../server/kubernetes/connection.ts';
import { freeDirectory, kubeconfigWith, tokenOfSuite } from './kubeconfig.ts';
import { engine, failureOf, kubeconfigOfSuite, locationOf, openCluster } from './real.ts';

const cluster = openCluster();
t.teardown(() => cluster.close());
const directory = freeDirectory(t);
const location = await locationOf(cluster, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });

t.test('a token that is replaced in the kubeconfig is taken up after a 401', async (t) => {
  const path = kubeconfigWith(t, {}, { token: 'wrong' });
  const opened = createCluster(loadConnection({ kubeconfig: path }), { writeTimeout: 10_000 });
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

t.test('a token file and an exec plugin are used; when they fail nothing is sent', async (t) => {
  const token = tokenOfSuite();
  if (token === undefined) {
    t.pass('the suite runs with a client certificate');
    return;
  }
  const file = join(directory, 'token');
  writeFileSync(file, `${token}\n`);
  const byFile = { token: undefined, 'auth-provider': { name: 'tokenFile', config: { tokenFile: file } } };
  const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token } };
  const byPlugin = (...args: readonly string[]) => ({
    token: undefined,
    exec: { apiVersion: 'client.authentication.k8s.io/v1', command: process.execPath, args: ['-e', ...args] },
  });
  const ways = [byFile, byPlugin(`console.log(${JSON.stringify(JSON.stringify(credential))})`)];
  for (const user of ways) {
    const opened = createCluster(loadConnection({ kubeconfig: kubeconfigWith(t, {}, user) }), { writeTimeout: 10_000 });
    t.equal((await opened.get(location, engine)).kind, 'ok');
    await opened.close();
  }
  const broken = loadConnection({ kubeconfig: kubeconfigWith(t, {}, byPlugin('console.error("hunter2"); process.exit(1)')) });
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
    [kubeconfigWith(t, { 'proxy-url': 'http://proxy' }), /asks for a proxy, which is not supported/],
    [kubeconfigWith(t, {}, { as: 'someone' }), /asks to impersonate a user/],
  ];
  for (const [kubeconfig, words] of refused) {
    t.throws(() => loadConnection({ kubeconfig }), { message: words });
    t.throws(() => loadConnection({ kubeconfig }), { message: /^(?!.*hunter2)/s });
  }
});
