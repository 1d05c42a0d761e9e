// How the packed program connects to a cluster: every way of a kubeconfig that is documented, on an API server that accepts them; and what
// a connection that breaks loses: nothing.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import { startControlPlane } from '../controlplane/start.ts';
import { makeCertificate } from '../support/certificate.ts';
import { openCli } from '../support/cli.ts';
import { connect, must, waitFor } from '../support/client.ts';
import { accountKubeconfig, podOf } from '../support/engine-identity.ts';
import { freeFolder } from '../support/hook-process.ts';
import { installManifests } from '../support/install.ts';
import { clientId, startIssuer } from '../support/issuer.ts';
import { startProxy } from '../support/proxy.ts';

const files = freeFolder(t);
const user = makeCertificate();
const issuer = await startIssuer(t, 'alice');
const authorities = { client: join(files, 'client.crt'), issuer: join(files, 'issuer.crt') };
writeFileSync(authorities.client, user.certificate);
writeFileSync(authorities.issuer, issuer.certificate.certificate);
const plane = await startControlPlane({
  report: () => undefined,
  audit: 'Metadata',
  apiServerFlags: [
    `--client-ca-file=${authorities.client}`,
    `--oidc-issuer-url=${issuer.url}`,
    `--oidc-ca-file=${authorities.issuer}`,
    `--oidc-client-id=${clientId}`,
    '--oidc-username-prefix=oidc:',
  ],
});
t.teardown(() => plane.stop());
const client = connect(plane.kubeconfig);
t.teardown(() => client.close());
await installManifests(client);
const admin = parse(readFileSync(plane.kubeconfig, 'utf8')) as {
  clusters: [{ cluster: JsonObject }];
  users: [{ user: JsonObject }];
};
const cluster = admin.clusters[0].cluster;
const token = textAt(admin.users[0].user, 'token') ?? '';
const cli = await openCli(t);
const path = '/apis/tx.janus.io/v1alpha1/namespaces/default/transactions';

/** The names of people whom the API server knows by something other than the administrator's token. */
const binding = {
  metadata: { name: 'readers' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [
    ...['loopback', 'oidc:alice'].map((name) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name })),
    { kind: 'ServiceAccount', name: 'default', namespace: 'default' },
  ],
};
must(await client.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', binding));

let written = 0;
function kubeconfig(user: JsonObject, more: JsonObject = {}): string {
  written += 1;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'one', cluster: { ...cluster, ...more } }],
    users: [{ name: 'one', user }],
    contexts: [{ name: 'one', context: { cluster: 'one', user: 'one' } }],
    'current-context': 'one',
  };
  return cli.write(`kubeconfig-${written}`, JSON.stringify(config));
}

const list = (path: string, env: Readonly<Record<string, string>> = {}) => cli.run(['list', '--kubeconfig', path], { env });
const base64 = (text: string) => Buffer.from(text).toString('base64');

t.test('the program authenticates with a token and with a client certificate', async (t) => {
  t.match(await list(kubeconfig({ token })), { code: 0 });
  t.match(await list(kubeconfig({ token: 'wrong' })), {
    code: 1,
    err: /does not accept these credentials \(Unauthorized\): log in again/,
  });
  const certificate = { 'client-certificate-data': base64(user.certificate), 'client-key-data': base64(user.key) };
  await waitFor(async () => (await list(kubeconfig(certificate))).code === 0, 'the binding to take effect');
});

t.test('the program reads a token file relative to the kubeconfig that names it', async (t) => {
  const file = join(files, 'token');
  writeFileSync(file, `${token}\n`);
  await tellsOf(t, 'by-token-file', ['--kubeconfig', kubeconfig({ tokenFile: file, token: 'wrong' })]);
  cli.write('nested/kubeconfig', readFileSync(kubeconfig({ tokenFile: 'beside/token' }), 'utf8'));
  const relative = join('nested', 'kubeconfig');
  t.match(
    await list(relative),
    { code: 1, err: /The credentials of this kubeconfig cannot be read/ },
    'the program sends no anonymous request',
  );
  cli.write('nested/beside/token', 'wrong');
  t.match(await list(relative), { code: 1, err: /does not accept these credentials/ });
  cli.write('nested/beside/token', token);
  t.match(await list(relative), { code: 0 });
});

t.test('the program refreshes an expired OIDC token', async (t) => {
  const config = {
    'client-id': clientId,
    'idp-issuer-url': issuer.url,
    'refresh-token': 'first',
    'id-token': issuer.token('alice', -60),
  };
  const file = kubeconfig({ 'auth-provider': { name: 'oidc', config } });
  const ways = [
    kubeconfig({ 'auth-provider': { name: 'oidc', config: { ...config, 'idp-certificate-authority': authorities.issuer } } }),
    kubeconfig({
      'auth-provider': {
        name: 'oidc',
        config: { ...config, 'idp-certificate-authority-data': base64(issuer.certificate.certificate) },
      },
    }),
  ];
  const trust = { NODE_EXTRA_CA_CERTS: authorities.issuer };
  // The API server may not have read the keys of the issuer yet.
  await waitFor(async () => {
    const { code, err } = await list(file, trust);
    if (code === 0) return true;
    throw new Error(err);
  }, 'the API server to know the issuer');
  t.ok(issuer.refreshed.length > 0);
  t.equal(issuer.refreshed[0], 'first');
  for (const way of ways) t.match(await list(way), { code: 0 }, 'with the authority of the issuer in the kubeconfig');
  const stranger = { ...config, 'id-token': issuer.token('mallory', 600) };
  t.match(await list(kubeconfig({ 'auth-provider': { name: 'oidc', config: stranger } }), trust), { code: 1, err: /Forbidden/ });
});

t.test('an HTTP proxy carries requests and watches', async (t) => {
  const proxy = await startProxy(t);
  t.match(await list(kubeconfig({ token }, { 'proxy-url': proxy.url })), { code: 0 });
  t.same(proxy.asked, [new URL(plane.url).host]);
  t.match(await list(kubeconfig({ token }, { 'proxy-url': 'socks5://127.0.0.1:1' })), { code: 1, err: /neither http nor https/ });
});

/** Lists and watches until the watch of client-node reports a new Transaction of that name. */
async function tellsOf(
  t: Test,
  name: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const watching = cli.start(['list', '-A', '-w', '-l', `test=${name}`, ...words], { env });
  await waitFor(() => /No Transactions in any namespace/.test(watching.err()), 'the list');
  must(await client.create(path, withPath(transaction(name, [change('one')]), ['metadata', 'labels'], { test: name })));
  await waitFor(() => watching.out().includes(name), 'the watch to report it');
  watching.process.kill('SIGINT');
  t.match(await watching.finished, { code: 130, out: new RegExp(`^NAMESPACE +NAME +APP +PHASE.*\\ndefault +${name} `) });
}

t.test('the program trusts an HTTPS proxy whose certificate an authority of the kubeconfig signed', async (t) => {
  const own = makeCertificate();
  const proxy = await startProxy(t, own);
  const authority = Buffer.from(textAt(cluster, 'certificate-authority-data') ?? '', 'base64').toString();
  const both = { 'proxy-url': proxy.url, 'certificate-authority-data': base64(`${authority}\n${own.certificate}`) };
  await tellsOf(t, 'by-https-proxy', ['--kubeconfig', kubeconfig({ token }, both)]);
  t.ok(proxy.asked.length >= 2, 'requests, and the watch');
  t.same([...new Set(proxy.asked)], [new URL(plane.url).host]);
  const stranger = kubeconfig({ token }, { 'proxy-url': proxy.url });
  t.match(await list(stranger), { code: 1, err: /gives no answer/ }, 'another certificate is not accepted');
});

t.test('the program uses the token, authority and namespace of its Pod', async (t) => {
  const folder = join(cli.home, 'pod');
  const account = await accountKubeconfig(t, client, plane.kubeconfig, '/api/v1/namespaces/default/serviceaccounts/default');
  const env = podOf(account, folder);
  writeFileSync(join(folder, 'namespace'), 'kube-public\n');
  await waitFor(async () => (await cli.run(['list'], { env })).code === 0, 'the binding to take effect');
  t.match(await cli.run(['list'], { env }), { err: 'No Transactions in namespace kube-public.\n' });
  await tellsOf(t, 'in-a-pod', [], env);
  t.match(await cli.run(['list', '--context', 'other'], { env }), {
    code: 1,
    err: /^janus: The kubeconfig of this Pod has no context "other"/,
  });
  writeFileSync(join(folder, 'token'), 'wrong');
  t.match(await cli.run(['list'], { env }), { code: 1, err: /does not accept these credentials/ });
});

t.test('the program merges the files of KUBECONFIG as kubectl does', async (t) => {
  const people = { users: [{ name: 'u', user: { token } }] };
  const clusters = { clusters: [{ name: 'c', cluster }], contexts: [{ name: 'right', context: { cluster: 'c', user: 'u' } }] };
  const late = { 'current-context': 'none', users: [{ name: 'u', user: { token: 'wrong' } }] };
  const paths = [people, clusters, late].map((part, index) =>
    cli.write(`part-${index}`, JSON.stringify({ kind: 'Config', ...part })),
  );
  const KUBECONFIG = [paths[0], join(cli.home, 'not-there'), paths[1], paths[2]].join(':');
  t.match(await cli.run(['list', '--context', 'right'], { env: { KUBECONFIG } }), { code: 0 }, 'the first user of a name wins');
  t.match(await cli.run(['list'], { env: { KUBECONFIG } }), {
    code: 1,
    err: /no context "none" with a cluster: choose one of its contexts \(right\)/,
  });
  t.match((await cli.run(['__complete', 'list', '--context', ''], { env: { KUBECONFIG } })).out, /^right\n/);
});

const transaction = (name: string, changes: readonly JsonObject[]): JsonObject => ({
  apiVersion: 'tx.janus.io/v1alpha1',
  kind: 'Transaction',
  metadata: { name },
  spec: { serviceAccountName: 'default', changes },
});
const change = (name: string): JsonObject => ({ type: 'Delete', target: { apiVersion: 'v1', kind: 'ConfigMap', name } });

/** Stores a status, as Metacontroller does. */
async function report(name: string, status: JsonObject): Promise<void> {
  const object = must(await client.get(`${path}/${name}`));
  must(await client.update(`${path}/${name}/status`, withPath(object, ['status'], status)));
}

const finished = [{ type: 'Finished', status: 'True' }];

t.test('the program loses no change that it follows when connections break and a token expires', async (t) => {
  const proxy = await startProxy(t);
  const count = join(cli.home, 'runs');
  writeFileSync(count, '');
  const credential = (seconds: number) => ({
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token, expirationTimestamp: new Date(Date.now() + seconds * 1000).toISOString() },
  });
  // It has expired by the time that it is used again.
  const once = `[ $(wc -l < ${count}) -ne 3 ] || { echo no session; exit 1; }`;
  const script = `echo run >> ${count}; ${once}; echo '${JSON.stringify(credential(0))}'`;
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', args: ['-c', script] };
  const file = kubeconfig({ exec }, { 'proxy-url': proxy.url });
  must(await client.create(path, transaction('followed', [change('one'), change('two')])));
  const following = cli.start(['status', 'followed', '-w', '--kubeconfig', file]);
  const said = (words: RegExp) => waitFor(() => words.test(following.out()), `it to say ${words}`);
  await said(/followed pending: created, waiting for the engine/);
  const runs = () => readFileSync(count, 'utf8').split('\n').length - 1;
  for (const [index, phase] of ['Prepared', 'Committing'].entries()) {
    const before = runs();
    await waitFor(() => proxy.cut() > 0, 'a connection to cut');
    const state = { state: index === 0 ? 'Applied' : 'Applying' };
    await report('followed', { phase, version: index + 1, progress: `${index}/2`, items: [state, {}], message: `in ${phase}` });
    await said(index === 0 ? /ConfigMap one \S+\n/ : /ConfigMap one: in Committing/);
    // Credentials are used for some seconds.
    await waitFor(() => proxy.cut() >= 0 && runs() > before, 'the plugin to be run again');
  }
  proxy.cut();
  await report('followed', { phase: 'Committed', version: 3, progress: '2/2', items: [], message: 'done', conditions: finished });
  const { code, out } = await following.finished;
  t.equal(code, 0, out);
  t.match(out, /✓ followed was committed after/);
  t.ok(runs() >= 3, `${runs()} runs, of which the third failed`);
});

t.test('the program keeps digits above 2^53 in input and output', async (t) => {
  const thing = '{"apiVersion":"example.org/v1","kind":"Thing","metadata":{"name":"one"},"spec":{"count":9007199254740993}}';
  const file = kubeconfig({ token });
  const words = ['apply', '-f', '-', '--name', 'digits', '--service-account', 'default', '--kubeconfig', file];
  t.match(await cli.run(words, { input: thing }), { code: 0 });
  t.match((await client.get(`${path}/digits`)).text, /9007199254740993/);
  for (const format of ['json', 'yaml'])
    t.match((await cli.run(['status', 'digits', '-o', format, '--kubeconfig', file])).out, /count"?: 9007199254740993/);
  t.match(await cli.run(words, { input: thing }), { code: 0, out: /digits unchanged/ });
});

/** Watches of that Transaction, as the API server has logged them. */
function watchesOf(name: string): number {
  const lines = readFileSync(plane.auditLog ?? '', 'utf8')
    .trimEnd()
    .split('\n');
  const begun = lines
    .map((line) => JSON.parse(line) as JsonObject)
    .filter((event) => textAt(event, 'stage') === 'ResponseStarted');
  return begun.filter((event) => /watch=true/.test(uriOf(event)) && uriOf(event).includes(`metadata.name%3D${name}`)).length;
}
const uriOf = (event: JsonObject): string => textAt(event, 'requestURI') ?? '';

t.test('the program watches again and loses nothing when a restarted API server has forgotten the version', async (t) => {
  must(await client.create(path, transaction('quiet', [change('one'), change('two')])));
  await report('quiet', { phase: 'Prepared', version: 1, progress: '0/2', items: [{}, {}], message: 'before' });
  const following = cli.start(['status', 'quiet', '-w', '--kubeconfig', kubeconfig({ token })]);
  await waitFor(() => /quiet prepared: before/.test(following.out()), 'it to say before');
  // Other objects go on: the version of this one gets old.
  for (const name of ['old', 'older']) must(await client.create('/api/v1/namespaces/default/configmaps', { metadata: { name } }));
  await plane.restart('kube-apiserver');
  const version = textAt(must(await client.get(`${path}/quiet`)), 'metadata', 'resourceVersion') ?? '';
  const fromThere = await client.get(path, { watch: 'true', resourceVersion: version, timeoutSeconds: '5' });
  t.match(fromThere.text, /"code":410/, 'a watch from its version is answered with 410');
  await report('quiet', {
    phase: 'Committing',
    version: 2,
    progress: '1/2',
    items: [{ state: 'Applied' }, {}],
    message: 'after',
  });
  await waitFor(() => /ConfigMap one \S+\n/.test(following.out()), 'it to say after');
  await plane.restart('kube-apiserver');
  await report('quiet', { phase: 'Committed', version: 3, progress: '2/2', items: [], message: 'done', conditions: finished });
  const { code, out } = await following.finished;
  t.equal(code, 0, out);
  t.match(out, /quiet prepared: before\n[\s\S]*ConfigMap one \S+\n[\s\S]*quiet was committed after/);
  must(await client.create(path, transaction('still', [change('one')])));
  await plane.restart('kube-apiserver');
  const file = kubeconfig({ token });
  // Ready, it may still refuse what it has not loaded yet.
  await waitFor(async () => (await list(file)).code === 0, 'the API server to list Transactions again');
  const watched = await cli.run(['status', 'still', '-w', '--timeout', '3s', '--kubeconfig', file]);
  t.match(watched, { code: 5 }, watched.err);
  t.equal(watchesOf('still'), 1);
});

t.test('--request-timeout ends a request, and 0 leaves it its time', async (t) => {
  const file = kubeconfig({ token });
  plane.freeze('etcd', true);
  t.teardown(() => plane.freeze('etcd', false));
  const patient = cli.start(['list', '--kubeconfig', file, '--request-timeout', '0']);
  const short = await cli.run(['list', '--kubeconfig', file, '--request-timeout', '1s']);
  t.match(short, { code: 1, err: /gives no answer/ });
  plane.freeze('etcd', false);
  t.match(await patient.finished, { code: 0, out: /^NAME / });
  for (const text of ['soon', '10ms']) t.match(await cli.run(['list', '--request-timeout', text]), { code: 64 });
});

const control = '\u001b';

/** In a terminal of 24 rows and 80 columns, which `script` (util-linux) opens. */
function inTerminal(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const line = `stty rows 24 cols 80; ${process.env.JANUS_CLI_NODE ?? process.execPath} ${join(cli.programs, 'janus')} ${words.join(' ')}`;
  return cli.run(['-qec', line, '/dev/null'], { node: 'script', env: { TERM: 'xterm', ...env }, bare: true });
}

t.test('the program shows 500 changes with long names on 24 rows of a terminal', async (t) => {
  const changes = Array.from({ length: 500 }, (_, index) => change(`${'long-'.repeat(20)}${index}`));
  must(await client.create(path, transaction('large', changes)));
  const items = changes.map((_, index) => ({ state: index < 250 ? 'Applied' : index === 250 ? 'Applying' : 'Prepared' }));
  await report('large', { phase: 'Committing', version: 1, progress: '250/500', items, message: 'applying '.repeat(30) });
  const words = ['status', 'large', '-w', '--timeout', '2s', '--kubeconfig', kubeconfig({ token })];
  for (const env of [{}, { NO_COLOR: '1' }]) {
    const { code, out } = await inTerminal(words, env);
    t.equal(code, 5, out);
    const frames = out.split(`${control}[?2026h`).slice(1).map(stripVTControlCharacters);
    t.ok(frames.length > 0, 'it draws');
    t.match(frames[0], /^large · default · committing 250\/500 applied/);
    t.match(frames[0], /→ ConfigMap long-/);
    t.match(frames[0], /✓ 250 ConfigMaps .*\r\n · 249 ConfigMaps /);
    for (const frame of frames) {
      const lines = frame.split('\r\n');
      t.ok(lines.length <= 24, `${lines.length} lines`);
    }
    const colors = out.split(control).some((code) => /^\[3\d/.test(code));
    t.equal(colors, !('NO_COLOR' in env), 'colours');
  }
});

t.test('the program names a cluster without the engine, and one that does not answer', async (t) => {
  must(await client.delete('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/transactions.tx.janus.io'));
  const file = kubeconfig({ token });
  await waitFor(async () => (await client.get(path)).code === 404, 'the CRD to go');
  t.match(await list(file), {
    code: 1,
    err: /^janus: This cluster does not serve tx\.janus\.io: install the engine as README\.md shows\.\n$/,
  });
  const nowhere = await list(kubeconfig({ token }, { server: 'https://127.0.0.1:1' }));
  t.match(nowhere, { code: 1, err: /^janus: https:\/\/127\.0\.0\.1:1 gives no answer \(ConnectionFailed\)/ });
});
