// The hook as a process: faults that prevent its start, its wait for a cluster that is away, and its end.
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { parse, stringify } from 'yaml';
import { isObject, parseJson, textAt } from '../../hooks/objects/json.ts';
import { freeNamespace, must, waitFor } from '../support/client.ts';
import { type Environment, freeFolder, get, hookEnvironment, post, ready, startHookProcess } from '../support/hook-process.ts';
import { callHeaders } from '../support/hook-token.ts';
import { connectToCluster, installManifests } from '../support/install.ts';
import { inAllOnly } from '../support/selection.ts';
import { kubeconfigOfSuite } from './kubernetes/real.ts';
import { request } from './parts.ts';

const client = connectToCluster();
const directory = freeFolder(t);
t.teardown(() => client.close());
const namespace = await freeNamespace(client, 'main', t);

const settings = (kubeconfig: string) => hookEnvironment(t, kubeconfig, namespace);
const start = (environment: Environment, command?: readonly string[]) => startHookProcess(t, environment, command);

t.test('npm start with a bad environment prints every fault and exits with 1', async (t) => {
  const hook = start({ PORT: 'http', LOG_LEVEL: 'loud', JANUS_NAMESPACE: 'Janus', KUBECONFIG: join(directory, 'none') }, [
    'npm',
    'start',
    '--silent',
  ]);
  t.equal(await hook.ended, 1);
  t.equal(hook.output(), '');
  t.same(hook.errors().trim().split('\n').slice(-6), [
    'The hook cannot start:',
    '- PORT: expected an integer from 0 to 65535, found "http"',
    '- JANUS_NAMESPACE: expected a namespace name, found "Janus"',
    '- LOG_LEVEL: expected one of fatal, error, warn, info, debug, trace, silent, found "loud"',
    '- JANUS_TOKEN_DIRECTORY: is required: directory with the bearer token that callers send (docs/access.md); --insecure disables authentication',
    `- KUBECONFIG: The kubeconfig ${join(directory, 'none')} cannot be used (ENOENT): correct it, or name another file.`,
  ]);
});

t.test('the hook exits if its port is taken', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const hook = start({ ...settings(kubeconfigOfSuite()), PORT: String(port) });
  t.equal(await hook.ended, 1);
  t.match(hook.errors(), `- PORT and HOST: cannot listen on port ${port} of 127.0.0.1 (EADDRINUSE)`);
});

t.test('the hook creates its key, serves, and ends on SIGTERM after it has answered all calls', async (t) => {
  const hook = start(settings(kubeconfigOfSuite()));
  const address = await hook.address();
  await ready(address);
  t.equal((await client.get(`/api/v1/namespaces/${namespace}/secrets/janus-sealing-key`)).code, 200);
  t.equal((await get(`${address}/healthz`)).code, 200);
  t.match((await get(`${address}/metrics`)).text, 'janus_transactions_active');
  const answer = await post(`${address}/sync`, request);
  t.ok([200, 429].includes(answer.statusCode), 'a Transaction that is not there is no error');
  await answer.body.dump();

  const half = connect(Number(new URL(address).port), '127.0.0.1');
  const closed = once(half, 'close');
  const body = JSON.stringify(request);
  const headers = Object.entries(callHeaders)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\r\n');
  const received: Buffer[] = [];
  half.on('data', (bytes: Buffer) => received.push(bytes));
  half.write(`POST /sync HTTP/1.1\r\nhost: a\r\n${headers}\r\ncontent-length: ${body.length}\r\n\r\n`);
  half.write(body.slice(0, 10));
  await waitFor(async () => (await get(`${address}/healthz`)).code === 200, 'the hook to have taken the first half');
  hook.process.kill('SIGTERM');
  await waitFor(() => hook.output().includes('draining'), 'the hook to shut down');
  half.write(body.slice(10));
  await closed;
  t.match(Buffer.concat(received).toString(), /^HTTP\/1.1 (429|503)/);
  t.equal(await hook.ended, 0);
  t.match(hook.output(), '"msg":"shut down"');
  t.equal(hook.errors(), '');
  for (const line of hook.output().trim().split('\n')) t.ok(isObject(parseJson(line)), 'every line of the log is JSON');
});

t.test('the hook is alive but not ready without the API server, refers callers to later, and recovers', async (t) => {
  const { server: way } = wayToApiServer();
  way.listen(0, '127.0.0.1');
  await once(way, 'listening');
  const away = (way.address() as AddressInfo).port;
  await new Promise((resolve) => way.close(resolve));

  const hook = start(settings(kubeconfigVia(away)));
  const address = await hook.address();
  t.same(await get(`${address}/readyz`), { code: 503, text: '{"ok":false,"reason":"the sealing key is not available yet"}' });
  t.equal((await get(`${address}/healthz`)).code, 200);
  const answer = await post(`${address}/sync`, request);
  t.equal(answer.statusCode, 429);
  t.equal(answer.headers['retry-after'], '5');
  await answer.body.dump();
  await waitFor(() => hook.output().includes('the sealing key cannot be read'), 'the hook to report its trouble');

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

t.test('the hook finishes its current step before it ends', inAllOnly, async (t) => {
  await installManifests(client);
  const way = wayToApiServer();
  way.server.listen(0, '127.0.0.1');
  await once(way.server, 'listening');
  t.teardown(() => way.server.close());
  const hook = start(settings(kubeconfigVia((way.server.address() as AddressInfo).port)));
  const address = await hook.address();
  await ready(address);
  await get(`${address}/readyz`); // so that the check of the API server is fresh, and its connection idle
  way.hold();
  const inHand = post(`${address}/sync`, request);
  await waitFor(async () => (await get(`${address}/healthz`)).code === 200, 'the hook to have taken the call');
  hook.process.kill('SIGTERM');
  await waitFor(() => hook.output().includes('draining'), 'the hook to shut down');
  const late = await post(`${address}/sync`, request);
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

t.test('the hook deletes expired locks of missing Transactions at its start, and no others', async (t) => {
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

t.test('two hooks that start at once create one key', inAllOnly, async (t) => {
  const own = await freeNamespace(client, 'main', t);
  const hooks = [1, 2].map(() => start({ ...settings(kubeconfigOfSuite()), JANUS_NAMESPACE: own }));
  await Promise.all(hooks.map(async (hook) => ready(await hook.address())));
  const { items } = await client.list(`/api/v1/namespaces/${own}/secrets`);
  t.same(
    items.map((item) => textAt(item, 'metadata', 'name')),
    ['janus-sealing-key'],
  );
  for (const hook of hooks) hook.process.kill('SIGINT');
  t.same(await Promise.all(hooks.map((hook) => hook.ended)), [0, 0]);
});
