// The hook as a process: what stops it from starting, how it waits for a cluster that is away, how it ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { request as call } from 'undici';
import { parse, stringify } from 'yaml';
import { isObject, parseJson, textAt } from '../../hooks/model/json.ts';
import { freeNamespace, must, waitFor } from '../support/client.ts';
import { connectToCluster, installManifests } from '../support/install.ts';
import { kubeconfigOfSuite } from './kubernetes/real.ts';
import { request } from './parts.ts';

const root = new URL('../../', import.meta.url).pathname;
const client = connectToCluster();
const directory = mkdtempSync(join(tmpdir(), 'janus-main-'));
t.teardown(async () => {
  rmSync(directory, { recursive: true });
  await client.close();
});
const namespace = await freeNamespace(client, 'main', t);

interface Hook {
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  readonly output: () => string;
  readonly errors: () => string;
}

function start(environment: Readonly<Record<string, string>>, command = [process.execPath, 'server/main.ts']): Hook {
  const [file = '', ...args] = command;
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(file, args, { cwd: root, env: { PATH, HOME, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stdout.on('data', (bytes) => {
    output += String(bytes);
  });
  child.stderr.on('data', (bytes) => {
    errors += String(bytes);
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  t.teardown(() => child.kill('SIGKILL'));
  return { process: child, ended, output: () => output, errors: () => errors };
}

const settings = (kubeconfig: string) => ({ PORT: '0', HOST: '127.0.0.1', KUBECONFIG: kubeconfig, JANUS_NAMESPACE: namespace });

async function addressOf(hook: Hook): Promise<string> {
  return waitFor(() => /listening at (http:[^"]+)/.exec(hook.output())?.[1], `the hook to listen; it said ${hook.errors()}`);
}

async function get(url: string): Promise<{ readonly code: number; readonly text: string }> {
  const answer = await call(url);
  return { code: answer.statusCode, text: await answer.body.text() };
}

const post = (url: string) =>
  call(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(request) });

const ready = (address: string) => waitFor(async () => (await get(`${address}/readyz`)).code === 200, 'the hook to be ready');

t.test('npm start with a bad environment tells every fault and exits with 1', async (t) => {
  const hook = start({ PORT: 'http', LOG_LEVEL: 'loud', JANUS_NAMESPACE: 'Janus', KUBECONFIG: join(directory, 'none') }, [
    'npm',
    'start',
    '--silent',
  ]);
  t.equal(await hook.ended, 1);
  t.equal(hook.output(), '');
  t.same(hook.errors().trim().split('\n').slice(-5), [
    'The hook cannot start:',
    '- PORT: expected an integer from 0 to 65535, found "http"',
    '- JANUS_NAMESPACE: expected the name of a namespace, found "Janus"',
    '- LOG_LEVEL: expected one of fatal, error, warn, info, debug, trace, silent, found "loud"',
    `- KUBECONFIG: the file ${join(directory, 'none')} cannot be used (ENOENT)`,
  ]);
});

t.test('a port that is taken', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const hook = start({ ...settings(kubeconfigOfSuite()), PORT: String(port) });
  t.equal(await hook.ended, 1);
  t.match(hook.errors(), `- PORT and HOST: cannot listen on port ${port} of 127.0.0.1 (EADDRINUSE)`);
});

t.test('it makes its key, is ready, serves, and ends on SIGTERM once what it has begun is answered', async (t) => {
  const hook = start(settings(kubeconfigOfSuite()));
  const address = await addressOf(hook);
  await ready(address);
  t.equal((await client.get(`/api/v1/namespaces/${namespace}/secrets/janus-sealing-key`)).code, 200);
  t.equal((await get(`${address}/healthz`)).code, 200);
  t.match((await get(`${address}/metrics`)).text, 'janus_transactions_active');
  const answer = await post(`${address}/sync`);
  t.ok([200, 429].includes(answer.statusCode), 'a Transaction that is not there is no error');
  await answer.body.dump();

  const half = connect(Number(new URL(address).port), '127.0.0.1');
  const body = JSON.stringify(request);
  const received: Buffer[] = [];
  half.on('data', (bytes) => received.push(bytes));
  half.write(`POST /sync HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`);
  half.write(body.slice(0, 10));
  await waitFor(async () => (await get(`${address}/healthz`)).code === 200, 'the hook to have taken the first half');
  hook.process.kill('SIGTERM');
  await waitFor(() => hook.output().includes('shutting down'), 'the hook to shut down');
  half.write(body.slice(10));
  await once(half, 'close');
  t.match(Buffer.concat(received).toString(), /^HTTP\/1.1 (429|503)/);
  t.equal(await hook.ended, 0);
  t.match(hook.output(), '"msg":"shut down"');
  t.equal(hook.errors(), '');
  for (const line of hook.output().trim().split('\n')) t.ok(isObject(parseJson(line)), 'every line of the log is JSON');
});

t.test('while the API server is away it is alive but not ready, asks callers to come again, and recovers', async (t) => {
  const { server: way } = wayToApiServer();
  way.listen(0, '127.0.0.1');
  await once(way, 'listening');
  const away = (way.address() as AddressInfo).port;
  await new Promise((resolve) => way.close(resolve));

  const hook = start(settings(kubeconfigVia(away)));
  const address = await addressOf(hook);
  t.same(await get(`${address}/readyz`), { code: 503, text: '{"ok":false,"reason":"the sealing key is not there yet"}' });
  t.equal((await get(`${address}/healthz`)).code, 200);
  const answer = await post(`${address}/sync`);
  t.equal(answer.statusCode, 429);
  t.equal(answer.headers['retry-after'], '5');
  await answer.body.dump();
  await waitFor(() => hook.output().includes('the sealing key cannot be read'), 'the hook to tell its trouble');

  way.listen(away, '127.0.0.1');
  t.teardown(() => way.close());
  await ready(address);
  hook.process.kill('SIGTERM');
  t.equal(await hook.ended, 0);
});

/** A way to the API server that can be closed for a while, connections and what is under way on them kept. */
function wayToApiServer() {
  const { hostname, port } = new URL(client.url);
  const inbounds = new Set<Socket>();
  let held = false;
  const server = createServer((inbound) => {
    const outbound = connect(Number(port), hostname);
    inbounds.add(inbound);
    inbound.on('error', () => outbound.destroy()).pipe(outbound);
    outbound.on('error', () => inbound.destroy()).pipe(inbound);
    inbound.on('close', () => inbounds.delete(inbound));
    t.teardown(() => inbound.destroy());
    if (held) inbound.pause();
  });
  const turn = (hold: boolean) => {
    held = hold;
    for (const inbound of inbounds)
      if (hold) inbound.pause();
      else inbound.resume();
  };
  return { server, hold: () => turn(true), release: () => turn(false) };
}

t.test('a step in hand is finished before the hook ends', async (t) => {
  await installManifests(client);
  const way = wayToApiServer();
  way.server.listen(0, '127.0.0.1');
  await once(way.server, 'listening');
  t.teardown(() => way.server.close());
  const hook = start(settings(kubeconfigVia((way.server.address() as AddressInfo).port)));
  const address = await addressOf(hook);
  await ready(address);
  await get(`${address}/readyz`); // so that the check of the API server is fresh, and its connection idle
  way.hold();
  const inHand = post(`${address}/sync`);
  await waitFor(async () => (await get(`${address}/healthz`)).code === 200, 'the hook to have taken the call');
  hook.process.kill('SIGTERM');
  await waitFor(() => hook.output().includes('shutting down'), 'the hook to shut down');
  const late = await post(`${address}/sync`);
  t.equal(late.statusCode, 429);
  await late.body.dump();
  t.match(await get(`${address}/readyz`), { code: 503, text: /shutting down/ });
  way.release();
  const answer = await inHand;
  t.equal(answer.statusCode, 200);
  t.match(await answer.body.json(), { status: request.parent.status, children: [] });
  t.equal(await hook.ended, 0);
});

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: { server: string } }[];
}

function kubeconfigVia(port: number): string {
  const config = parse(readFileSync(kubeconfigOfSuite(), 'utf8')) as Kubeconfig;
  for (const { cluster } of config.clusters) cluster.server = `https://127.0.0.1:${port}`;
  const path = join(directory, 'kubeconfig');
  writeFileSync(path, stringify(config), { mode: 0o600 });
  return path;
}

t.test('expired locks of Transactions that are no more are deleted at the start, others are not', async (t) => {
  await installManifests(client);
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  const lease = (name: string, renewTime: string) => ({
    metadata: {
      name,
      labels: { 'tx.janus.io/transaction-uid': 'gone' },
      annotations: { 'tx.janus.io/transaction': `${namespace}/gone` },
    },
    spec: { holderIdentity: `${namespace}/gone/gone`, leaseDurationSeconds: 3_600, renewTime },
  });
  must(await client.create(leases, lease('janus-lock-expired', '2020-01-01T00:00:00.000000Z')));
  must(await client.create(leases, lease('janus-lock-alive', '2099-01-01T00:00:00.000000Z')));
  const hook = start(settings(kubeconfigOfSuite()));
  await waitFor(async () => (await client.get(`${leases}/janus-lock-expired`)).code === 404, 'the expired Lease to be deleted');
  t.equal((await client.get(`${leases}/janus-lock-alive`)).code, 200);
  hook.process.kill('SIGTERM');
  t.equal(await hook.ended, 0);
});

t.test('two at once make one key', async (t) => {
  const own = await freeNamespace(client, 'main', t);
  const hooks = [1, 2].map(() => start({ ...settings(kubeconfigOfSuite()), JANUS_NAMESPACE: own }));
  await Promise.all(hooks.map(async (hook) => ready(await addressOf(hook))));
  const { items } = await client.list(`/api/v1/namespaces/${own}/secrets`);
  t.same(
    items.map((item) => textAt(item, 'metadata', 'name')),
    ['janus-sealing-key'],
  );
  for (const hook of hooks) hook.process.kill('SIGINT');
  t.same(await Promise.all(hooks.map((hook) => hook.ended)), [0, 0]);
});
