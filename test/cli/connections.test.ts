// How the packed program comes to a cluster: every way of a kubeconfig that is promised, on an API server that accepts them; and what
// a connection that breaks loses: nothing.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import t from 'tap';
import { parse } from 'yaml';
import { type JsonObject, textAt, withPath } from '../../hooks/model/json.ts';
import { startControlPlane } from '../controlplane/start.ts';
import { makeCertificate } from '../support/certificate.ts';
import { openCli } from '../support/cli.ts';
import { connect, must, waitFor } from '../support/client.ts';
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
  subjects: ['loopback', 'oidc:alice'].map((name) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name })),
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

t.test('a token, and a client certificate', async (t) => {
  t.match(await list(kubeconfig({ token })), { code: 0 });
  t.match(await list(kubeconfig({ token: 'wrong' })), {
    code: 1,
    err: /does not accept these credentials \(Unauthorized\): log in again/,
  });
  const certificate = { 'client-certificate-data': base64(user.certificate), 'client-key-data': base64(user.key) };
  await waitFor(async () => (await list(kubeconfig(certificate))).code === 0, 'the binding to take effect');
});

t.test('an OIDC token that has expired is refreshed', async (t) => {
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

t.test('files of KUBECONFIG are merged as kubectl merges them', async (t) => {
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
    err: /no context "none": name one of its contexts by --context \(right\)/,
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

t.test('connections that break, and a token that expires, lose nothing of what is followed', async (t) => {
  const proxy = await startProxy(t);
  const count = join(cli.home, 'runs');
  writeFileSync(count, '');
  const credential = (seconds: number) => ({
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token, expirationTimestamp: new Date(Date.now() + seconds * 1000).toISOString() },
  });
  // It has expired by the time that it is used again.
  const script = `echo run >> ${count}; echo '${JSON.stringify(credential(0))}'`;
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', args: ['-c', script] };
  const file = kubeconfig({ exec }, { 'proxy-url': proxy.url });
  must(await client.create(path, transaction('followed', [change('one'), change('two')])));
  const following = cli.start(['status', 'followed', '-w', '--kubeconfig', file]);
  const said = (words: RegExp) => waitFor(() => words.test(following.out()), `it to say ${words}`);
  await said(/Pending/);
  const runs = () => readFileSync(count, 'utf8').split('\n').length - 1;
  for (const [index, phase] of ['Prepared', 'Committing'].entries()) {
    const before = runs();
    await waitFor(() => proxy.cut() > 0, 'a connection to cut');
    const state = { state: index === 0 ? 'Applied' : 'Applying' };
    await report('followed', { phase, version: index + 1, progress: `${index}/2`, items: [state, {}], message: `in ${phase}` });
    await said(new RegExp(`${phase} ${index}/2 in ${phase}`));
    await waitFor(() => runs() > before, 'the plugin to be run again');
  }
  proxy.cut();
  await report('followed', { phase: 'Committed', version: 3, progress: '2/2', items: [], message: 'done', conditions: finished });
  const { code, out } = await following.finished;
  t.equal(code, 0, out);
  t.match(out, /Committed 2\/2 done\n/);
  t.ok(runs() >= 3, `${runs()} runs`);
});

t.test('digits above 2^53 survive, in and out', async (t) => {
  const thing = '{"apiVersion":"example.org/v1","kind":"Thing","metadata":{"name":"one"},"spec":{"count":9007199254740993}}';
  const file = kubeconfig({ token });
  const words = ['apply', '-f', '-', '--name', 'digits', '--service-account', 'default', '--kubeconfig', file];
  t.match(await cli.run(words, { input: thing }), { code: 0 });
  t.match((await client.get(`${path}/digits`)).text, /9007199254740993/);
  for (const format of ['json', 'yaml'])
    t.match((await cli.run(['status', 'digits', '-o', format, '--kubeconfig', file])).out, /count"?: 9007199254740993/);
  t.match(await cli.run(words, { input: thing }), { code: 0, out: /digits unchanged/ });
});

const control = '\u001b';

/** In a terminal of 24 rows and 80 columns, which `script` (util-linux) opens. */
function inTerminal(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const line = `stty rows 24 cols 80; ${process.env.JANUS_CLI_NODE ?? process.execPath} ${join(cli.programs, 'janus')} ${words.join(' ')}`;
  return cli.run(['-qec', line, '/dev/null'], { node: 'script', env: { TERM: 'xterm', ...env }, bare: true });
}

t.test('500 changes with long names on 24 rows of a terminal', async (t) => {
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
    t.match(frames[0], /^large {2}Committing {2}250\/500/);
    t.match(frames[0], /→ ConfigMap long-/);
    t.match(frames[0], /└─ … \d+ more applied, \d+ more prepared/);
    for (const frame of frames) {
      const lines = frame.split('\r\n');
      t.ok(lines.length <= 24, `${lines.length} lines`);
    }
    const colors = out.split(control).some((code) => /^\[3\d/.test(code));
    t.equal(colors, !('NO_COLOR' in env), 'colours');
  }
});

t.test('a cluster without the engine, and one that does not answer', async (t) => {
  must(await client.delete('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/transactions.tx.janus.io'));
  const file = kubeconfig({ token });
  await waitFor(async () => (await client.get(path)).code === 404, 'the CRD to go');
  t.match(await list(file), {
    code: 1,
    err: /^janus: This cluster does not serve tx\.janus\.io: install the engine, see README\.\n$/,
  });
  const nowhere = await list(kubeconfig({ token }, { server: 'https://127.0.0.1:1' }));
  t.match(nowhere, { code: 1, err: /^janus: https:\/\/127\.0\.0\.1:1 gives no answer \(ConnectionFailed\)/ });
});
