// Trouble on the way to the real API server: nobody there, answers cut, pages of proxies, credentials that change.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { parse, stringify } from 'yaml';
import { type ClusterOptions, createCluster, type KubernetesCluster } from '../../../server/kubernetes/cluster.ts';
import { loadConnection } from '../../../server/kubernetes/connection.ts';
import { createSlots } from '../../../server/kubernetes/slots.ts';
import { freeNamespace } from '../../support/client.ts';
import { connectToCluster } from '../../support/install.ts';
import { configMap, create, engine, failureOf, fieldManager, kubeconfigOfSuite, locationOf, openCluster } from './real.ts';

const client = connectToCluster();
const cluster = openCluster();
const directory = mkdtempSync(join(tmpdir(), 'janus-wire-'));
t.teardown(async () => {
  rmSync(directory, { recursive: true });
  await Promise.all([client.close(), cluster.close()]);
});
const namespace = await freeNamespace(client, 'wire', t);
const stored = await create(cluster, configMap('one'), namespace);
const location = await locationOf(cluster, stored, namespace);
const proven = { kind: 'transient', definitive: false } as const;

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: Record<string, unknown> }[];
  readonly users: readonly { readonly user: Record<string, unknown> }[];
}

/** The suite's kubeconfig with some entries of its cluster and user replaced; undefined removes one. */
function kubeconfigWith(clusterParts: Record<string, unknown>, userParts: Record<string, unknown> = {}): string {
  const config = parse(readFileSync(kubeconfigOfSuite(), 'utf8')) as Kubeconfig;
  for (const { cluster: entry } of config.clusters) Object.assign(entry, clusterParts);
  for (const { user } of config.users) Object.assign(user, userParts);
  const path = join(mkdtempSync(join(directory, 'c-')), 'kubeconfig');
  writeFileSync(path, stringify(JSON.parse(JSON.stringify(config))), { mode: 0o600 });
  return path;
}

function clusterVia(port: number, options: Partial<ClusterOptions> = {}): KubernetesCluster {
  const kubeconfig = kubeconfigWith({ server: `https://127.0.0.1:${port}` });
  const opened = createCluster(loadConnection({ kubeconfig }), { writeTimeout: 10_000, ...options });
  t.teardown(() => opened.close());
  return opened;
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** A way to the API server that does to the connection what it is told. */
function detour(meddle: (inbound: Socket, outbound: Socket) => void): Promise<number> {
  const { hostname, port } = new URL(client.url);
  return listening(
    createServer((inbound) => {
      const outbound = connect(Number(port), hostname);
      inbound.on('error', () => outbound.destroy());
      outbound.on('error', () => inbound.destroy());
      inbound.on('close', () => outbound.destroy());
      t.teardown(() => inbound.destroy());
      meddle(inbound, outbound);
    }),
  );
}

t.test('nobody there', async (t) => {
  const closed = clusterVia(await freePort());
  t.match(failureOf(await closed.get(location, engine)), { ...proven, code: 0, reason: 'ConnectionFailed' });
  t.match(await closed.trouble(), { kind: 'transient' });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

t.test('an answer cut short proves nothing, though the write was done', async (t) => {
  let answered = 0;
  const port = await detour((inbound, outbound) => {
    inbound.pipe(outbound);
    // The handshake passes; of the first long answer only the beginning does.
    outbound.on('data', (bytes) => {
      answered += bytes.length;
      if (answered > 12_000) inbound.destroy();
      else inbound.write(bytes);
    });
  });
  const object = configMap('cut', { large: 'x'.repeat(50_000) });
  const answer = await clusterVia(port).send({
    verb: 'create',
    identity: engine,
    location: { ...location, name: 'cut' },
    object,
    fieldManager,
  });
  t.match(failureOf(answer), { ...proven, code: 0, reason: 'ConnectionFailed' });
  t.equal((await cluster.get({ ...location, name: 'cut' }, engine)).kind, 'ok');
});

t.test('an answer that does not come is given up', async (t) => {
  const port = await detour((inbound, outbound) => {
    inbound.pipe(outbound);
    let quiet = false;
    outbound.on('data', (bytes) => quiet || inbound.write(bytes));
    inbound.on('data', () => {
      quiet ||= inbound.bytesRead > 2_000;
    });
  });
  const object = configMap('late', { large: 'x'.repeat(5_000) });
  const write = { verb: 'create', identity: engine, location: { ...location, name: 'late' }, object, fieldManager } as const;
  t.match(failureOf(await clusterVia(port, { requestTimeout: 2_000 }).send(write)), { ...proven, code: 0, reason: 'Timeout' });
});

t.test('what waited too long for its turn is not sent, and that is certain', async (t) => {
  let connections = 0;
  const port = await detour(() => {
    connections += 1;
  });
  const narrow = clusterVia(port, { connections: 1, requestTimeout: 2_000 });
  const [first, second] = await Promise.all([narrow.get(location, engine), narrow.get(location, engine)]);
  t.match(failureOf(first), { ...proven, reason: 'Timeout' });
  t.match(failureOf(second), { kind: 'transient', code: 0, reason: 'Busy', definitive: true });
  t.equal(connections, 1);
});

t.test('turns are given in order, and a turn that is over is given on', async (t) => {
  const slots = createSlots(2);
  const order: number[] = [];
  const releases = await Promise.all([slots.take(), slots.take()]);
  const waiting = [1, 2, 3].map(async (index) => {
    const release = await slots.take();
    order.push(index);
    release();
  });
  t.same(order, []);
  for (const release of releases) release();
  await Promise.all(waiting);
  t.same(order, [1, 2, 3]);
  await Promise.all([slots.take(), slots.take()]);
});

t.test('an answer that is too large is not taken in', async (t) => {
  const { port } = new URL(client.url);
  const answer = await clusterVia(Number(port), { longestAnswer: 100 }).get(location, engine);
  t.match(failureOf(answer), { ...proven, reason: 'AnswerTooLarge' });
});

const pages: readonly (readonly [because: string, listener: RequestListener, expected: object])[] = [
  [
    'a page of a load balancer',
    (_, res) => res.writeHead(503, { 'retry-after': '3' }).end('<html>'),
    { code: 503, retryAfterSeconds: 3 },
  ],
  ['a page that says not found', (_, res) => res.writeHead(404).end('<html>'), { code: 404, kind: 'transient' }],
  ['a page that says all is well', (_, res) => res.writeHead(200).end('<html>'), { code: 200, reason: 'AnswerUnreadable' }],
  ['JSON of someone else', (_, res) => res.writeHead(403).end('{"error":"no"}'), { code: 403, kind: 'transient' }],
  ['JSON that is no object', (_, res) => res.writeHead(200).end('[]'), { code: 200, reason: 'AnswerUnreadable' }],
  ['a redirect', (_, res) => res.writeHead(307, { location: client.url }).end(), { code: 307, reason: 'AnswerUnreadable' }],
  ['a connection closed without a word', (request) => request.socket.destroy(), { code: 0, reason: 'ConnectionFailed' }],
  [
    'a body shorter than announced',
    (request, res) => {
      res.writeHead(200, { 'content-length': '100' }).write('{"a":');
      res.on('error', () => undefined);
      setImmediate(() => request.socket.destroy());
    },
    { code: 0, reason: 'ConnectionFailed' },
  ],
];

for (const [because, listener, expected] of pages)
  t.test(`a proxy on the way: ${because}`, async (t) => {
    const server = createHttpServer(listener);
    const port = await listening(server);
    const kubeconfig = kubeconfigWith({ server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true });
    const behind = createCluster(loadConnection({ kubeconfig }), { writeTimeout: 10_000 });
    t.match(failureOf(await behind.get(location, engine)), { ...proven, ...expected });
    await behind.close();
  });

t.test('an address with a path, as gateways have it', async (t) => {
  const seen: string[] = [];
  const server = createHttpServer((request, res) => {
    seen.push(request.url ?? '');
    res.end();
  });
  const port = await listening(server);
  const kubeconfig = kubeconfigWith({ server: `http://127.0.0.1:${port}/k8s/one/`, 'insecure-skip-tls-verify': true });
  const behind = createCluster(loadConnection({ kubeconfig }), { writeTimeout: 10_000 });
  await behind.get(location, engine);
  t.same(seen, [`/k8s/one/api/v1/namespaces/${namespace}/configmaps/one`]);
  await behind.close();
});

t.test('a token that is replaced in the kubeconfig is taken up after a 401', async (t) => {
  const path = kubeconfigWith({}, { token: 'wrong' });
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
    const opened = createCluster(loadConnection({ kubeconfig: kubeconfigWith({}, user) }), { writeTimeout: 10_000 });
    t.equal((await opened.get(location, engine)).kind, 'ok');
    await opened.close();
  }
  const broken = loadConnection({ kubeconfig: kubeconfigWith({}, byPlugin('console.error("hunter2"); process.exit(1)')) });
  const opened = createCluster(broken, { writeTimeout: 10_000 });
  const failure = failureOf(await opened.get(location, engine));
  t.match(failure, { kind: 'transient', reason: 'CredentialsUnavailable', definitive: true });
  t.notMatch(JSON.stringify(failure), /hunter2/);
  await opened.close();
});

function tokenOfSuite(): string | undefined {
  const config = parse(readFileSync(kubeconfigOfSuite(), 'utf8')) as Kubeconfig;
  const token = config.users[0]?.user.token;
  return typeof token === 'string' ? token : undefined;
}

t.test('a connection that cannot be used says why, without quoting the file', async (t) => {
  const file = join(directory, 'broken');
  writeFileSync(file, 'token: [hunter2');
  const refused: readonly (readonly [string, RegExp])[] = [
    [join(directory, 'none'), /none cannot be used \(ENOENT\)/],
    [file, /broken cannot be used \(it is not a kubeconfig\)/],
    [kubeconfigWith({ 'proxy-url': 'http://proxy' }), /asks for a proxy, which is not supported/],
    [kubeconfigWith({}, { as: 'someone' }), /asks to impersonate a user/],
  ];
  for (const [kubeconfig, words] of refused) {
    t.throws(() => loadConnection({ kubeconfig }), { message: words });
    t.throws(() => loadConnection({ kubeconfig }), { message: /^(?!.*hunter2)/s });
  }
});
