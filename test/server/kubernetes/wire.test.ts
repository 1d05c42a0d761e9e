// Network trouble before the real API server: no listener, cut answers, pages of proxies, no turn.
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import t from 'tap';
import { type ClusterOptions, createCluster, type KubernetesCluster } from '../../../server/kubernetes/cluster.ts';
import { kubeconfigConnection } from '../../../server/kubernetes/kubeconfig-connection.ts';
import { createAdmission } from '../../../server/tenants/admission.ts';
import { freePort } from '../../controlplane/start.ts';
import { freeNamespace } from '../../support/client.ts';
import { connectToCluster } from '../../support/install.ts';
import { kubeconfigWith } from './kubeconfig.ts';
import { configMap, create, engine, failureOf, fieldManager, locationOf, openCluster, versionOf } from './real.ts';

const client = connectToCluster();
const cluster = openCluster();
t.teardown(() => Promise.all([client.close(), cluster.close()]));
const namespace = await freeNamespace(client, 'wire', t);
const stored = await create(cluster, configMap('one'), namespace);
const location = await locationOf(cluster, stored, namespace);
const unproven = { kind: 'transient', definitive: false } as const;

function clusterVia(port: number, options: Partial<ClusterOptions> = {}): KubernetesCluster {
  const kubeconfig = kubeconfigWith(t, { server: `https://127.0.0.1:${port}` });
  const opened = createCluster(kubeconfigConnection(kubeconfig), { writeTimeout: 10_000, ...options });
  t.teardown(() => opened.close());
  return opened;
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** A proxy to the API server that disturbs the connection as the test says. */
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

t.test('requests in sequence share one connection, whatever they are', async (t) => {
  let connections = 0;
  const port = await detour((inbound, outbound) => {
    connections += 1;
    inbound.pipe(outbound).pipe(inbound);
  });
  const via = clusterVia(port);
  await create(via, configMap('first'), namespace);
  const before = connections;
  for (const name of ['gone-1', 'gone-2', 'gone-3']) {
    const object = await create(via, configMap(name), namespace);
    const place = await locationOf(via, object, namespace);
    const answer = await via.send({ verb: 'delete', identity: engine, location: place, precondition: versionOf(object) });
    t.equal(answer.kind, 'ok');
    t.equal((await via.get(place, engine)).kind, 'failed');
  }
  t.equal(connections, before, 'no new connection');
});

t.test('the port reports an address without a listener', async (t) => {
  const closed = clusterVia(await freePort());
  t.match(failureOf(await closed.get(location, engine)), { ...unproven, code: 0, reason: 'ConnectionFailed' });
});

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
  t.match(failureOf(answer), { ...unproven, code: 0, reason: 'ConnectionFailed' });
  t.equal((await cluster.get({ ...location, name: 'cut' }, engine)).kind, 'ok');
});

t.test('the port gives up waiting for a missing answer', async (t) => {
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
  t.match(failureOf(await clusterVia(port, { requestTimeout: 2_000 }).send(write)), { ...unproven, code: 0, reason: 'Timeout' });
});

t.test('the port never sends a request that waited too long for its turn', async (t) => {
  let connections = 0;
  const port = await detour(() => {
    connections += 1;
  });
  const narrow = clusterVia(port, { connections: 1, requestTimeout: 2_000 });
  const [first, second] = await Promise.all([narrow.get(location, engine), narrow.get(location, engine)]);
  t.match(failureOf(first), { ...unproven, reason: 'Timeout' });
  t.match(failureOf(second), { kind: 'transient', code: 0, reason: 'Busy', definitive: true });
  t.equal(connections, 1);
});

t.test('the port gives turns in order, and passes an expired turn on', async (t) => {
  const admission = createAdmission({ count: 2 });
  const order: number[] = [];
  const releases = await Promise.all([admission.take(), admission.take()]);
  const waiting = [1, 2, 3].map(async (index) => {
    const release = await admission.take();
    order.push(index);
    release?.();
  });
  t.same(order, []);
  for (const release of releases) release?.();
  await Promise.all(waiting);
  t.same(order, [1, 2, 3]);
  await Promise.all([admission.take(), admission.take()]);
});

t.test('requests of a namespace that hang leave connections for other namespaces, and for the engine', async (t) => {
  const { promise: hang, resolve: end } = Promise.withResolvers<void>();
  const asked: string[] = [];
  const port = await listening(
    createHttpServer(({ headers }, answer) => {
      const user = String(headers['impersonate-user']);
      asked.push(user);
      void (user.includes('hangs') ? hang : Promise.resolve()).then(() => answer.end('{}'));
    }),
  );
  const kubeconfig = kubeconfigWith(t, { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true });
  const via = createCluster(kubeconfigConnection(kubeconfig), { writeTimeout: 10_000, connections: 8 });
  const ask = (of: string) => via.get(location, { kind: 'serviceAccount', namespace: of, name: 'a' });
  const hanging = Array.from({ length: 20 }, () => ask('hangs'));
  for (const other of ['other', 'third']) t.equal((await ask(other)).kind, 'ok');
  t.equal((await via.get(location, engine)).kind, 'ok');
  t.equal(
    asked.filter((user) => user.includes('hangs')).length,
    6,
    'it came alone: it spares one connection, and one is for the engine',
  );
  end();
  t.same(new Set((await Promise.all(hanging)).map(({ kind }) => kind)), new Set(['ok']));
});

t.test('the port does not read an answer that is too large', async (t) => {
  const { port } = new URL(client.url);
  const answer = await clusterVia(Number(port), { longestAnswer: 100 }).get(location, engine);
  t.match(failureOf(answer), { ...unproven, reason: 'AnswerTooLarge' });
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
    const kubeconfig = kubeconfigWith(t, { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true });
    const behind = createCluster(kubeconfigConnection(kubeconfig), { writeTimeout: 10_000 });
    t.match(failureOf(await behind.get(location, engine)), { ...unproven, ...expected });
    await behind.close();
  });

t.test('the message names an object that is larger than etcd can store', async (t) => {
  const server = createHttpServer((_, res) => res.end(`{"data":"${'x'.repeat(17 * 1024 * 1024)}"}`));
  const kubeconfig = kubeconfigWith(t, {
    server: `http://127.0.0.1:${await listening(server)}`,
    'insecure-skip-tls-verify': true,
  });
  const behind = createCluster(kubeconfigConnection(kubeconfig), { writeTimeout: 10_000 });
  t.match(failureOf(await behind.get(location, engine)), { reason: 'AnswerTooLarge', said: 'it is larger than 16777216 bytes' });
  await behind.close();
});

t.test('an aggregated API server that lists kinds without end takes no memory', async (t) => {
  const server = createHttpServer((_, res) => res.end(`{"resources":[${'{},'.repeat(2 * 1024 * 1024)}{}]}`));
  const kubeconfig = kubeconfigWith(t, {
    server: `http://127.0.0.1:${await listening(server)}`,
    'insecure-skip-tls-verify': true,
  });
  const behind = createCluster(kubeconfigConnection(kubeconfig), { writeTimeout: 10_000 });
  t.match(await behind.resource('large.example.org/v1', 'Thing'), { kind: 'failed', failure: { reason: 'AnswerTooLarge' } });
  await behind.close();
});

t.test('the port accepts an address with a path, as gateways have it', async (t) => {
  const seen: string[] = [];
  const server = createHttpServer((request, res) => {
    seen.push(request.url ?? '');
    res.end();
  });
  const port = await listening(server);
  const kubeconfig = kubeconfigWith(t, { server: `http://127.0.0.1:${port}/k8s/one/`, 'insecure-skip-tls-verify': true });
  const behind = createCluster(kubeconfigConnection(kubeconfig), { writeTimeout: 10_000 });
  await behind.get(location, engine);
  t.same(seen, [`/k8s/one/api/v1/namespaces/${namespace}/configmaps/one`]);
  await behind.close();
});
