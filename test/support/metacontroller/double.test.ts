// What only the double promises: it ends cleanly, its cache is outdated on demand, it can call without HTTP, and its cache survives
// broken watches.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect as connectSocket, createServer, isIP, type Socket } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import t, { type Test } from 'tap';
import { parse, stringify } from 'yaml';
import { at, type Json, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { connect, freeNamespace, must, waitFor } from '../client.ts';
import { connectAsMetacontroller } from './connection.ts';
import { startMetacontroller } from './double.ts';
import { installParentKind, kubeconfigOfTests } from './scripted-hook.ts';
import { readEvents } from './watch-stream.ts';

const kubeconfig = kubeconfigOfTests();
const client = connect(kubeconfig);
t.teardown(() => client.close());
const parentResource = await installParentKind(client, t);
const good = { code: 200, headers: {}, body: '{"status":{"phase":"Done","version":1},"children":[]}' };

t.test('a program that stops it ends by itself and says nothing, also with a call under way', async (t) => {
  const { own, create } = await place(t);
  await create('one');
  const program = `
    import { startMetacontroller } from ${JSON.stringify(new URL('double.ts', import.meta.url).href)};
    const called = Promise.withResolvers();
    const fetchHook = ({ signal }) => { called.resolve(); return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))); };
    const options = { kubeconfig: ${JSON.stringify(kubeconfig)}, hookUrl: 'http://127.0.0.1:1', parentResource: ${JSON.stringify(parentResource)}, ...${JSON.stringify(own)} };
    const double = await startMetacontroller({ ...options, fetchHook });
    await called.promise;
    await double.stop();
    await double.stop();
    if (double.calls.length !== 1) process.exitCode = 2;`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => child.kill('SIGKILL'));
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
  const [code] = await once(child, 'exit');
  t.equal(code, 0);
  t.equal(said, '');
});

t.test('a call may be made without HTTP, and is recorded', async (t) => {
  const { own, collection, create } = await place(t);
  const bodies: string[] = [];
  const fetchHook = async ({ body }: { readonly body: string }) => {
    bodies.push(body);
    return good;
  };
  const double = await startMetacontroller({ kubeconfig, hookUrl: 'http://hook', parentResource, ...own, fetchHook });
  t.teardown(() => double.stop());
  const uid = textAt(await create('one'), 'metadata', 'uid');
  await waitFor(async () => phaseOf(await client.get(`${collection}/one`)) === 'Done', 'the status');
  t.match(double.calls[0], { path: '/sync', parent: { name: 'one', uid }, code: 200, error: undefined });
  t.match(JSON.parse(bodies[0] ?? '{}'), { parent: { metadata: { uid } }, finalizing: false });
});

t.test('the start fails if the API server refuses the first list', async (t) => {
  const stranger = relocated(t, (cluster, user) => [cluster, { ...user, as: 'nobody' }]);
  const starting = startMetacontroller({ kubeconfig: stranger, hookUrl: 'http://hook', parentResource });
  await t.rejects(starting, { name: 'ApiError', code: 403 });
});

t.test('a new LIST shows changes that came while the watch was broken, and causes a call for every parent', async (t) => {
  const { own, collection, create } = await place(t);
  const names = ['changed', 'deleted', 'untouched'];
  for (const name of names) await create(name);
  const relay = await startRelay(t, client.url);
  const throughRelay = relocated(t, (cluster, user) => [{ ...cluster, ...relay.cluster }, user]);
  const fetchHook = async () => good;
  const double = await startMetacontroller({
    kubeconfig: throughRelay,
    hookUrl: 'http://hook',
    parentResource,
    ...own,
    fetchHook,
  });
  t.teardown(() => double.stop());
  const callsOf = (name: string): number => double.calls.filter(({ parent }) => parent.name === name).length;
  const calledWith = async (name: string): Promise<boolean> => {
    const { body } = await client.get(`${collection}/${name}`);
    const version = textAt(body, 'metadata', 'resourceVersion');
    return phaseOf({ body }) === 'Done' && double.calls.some(({ parent }) => parent.resourceVersion === version);
  };
  for (const name of names) await waitFor(() => calledWith(name), `the last call for ${name}`);
  const before = callsOf('untouched');

  relay.cut();
  must(await client.patch(`${collection}/changed`, { metadata: { annotations: { a: 'b' } } }));
  must(await client.patch(`${collection}/deleted`, { metadata: { finalizers: null } }));
  must(await client.delete(`${collection}/deleted`));
  relay.repair();
  await waitFor(() => calledWith('changed'), 'a call with the changed parent');
  await waitFor(() => callsOf('untouched') > before, 'a call with the parent that is as it was');
  const calls = callsOf('deleted');
  must(await client.patch(`${collection}/changed`, { metadata: { annotations: { a: 'c' } } }));
  await waitFor(() => calledWith('changed'), 'the watch to go on');
  t.equal(callsOf('deleted'), calls, 'no call any more for the parent that is gone');
});

t.test('a version too old ends a watch with an error', async (t) => {
  const { create } = await place(t);
  await create('one');
  const api = await connectAsMetacontroller({ kubeconfig, signal: new AbortController().signal });
  t.teardown(() => api.close());
  const stream = await api.watch(`/apis/${parentResource.apiVersion}/transactions?watch=true&resourceVersion=1`);
  await t.rejects(readEvents(stream).next(), /the watch ended with ERROR: too old resource version/);
});

async function place(t: Test) {
  const { apiVersion } = parentResource;
  const namespace = await freeNamespace(client, 'double', t);
  // Both are needed: a loop also takes parents with other labels if they have its finalizer.
  const own = { name: namespace, matchLabels: { loop: namespace } };
  const collection = `/apis/${apiVersion}/namespaces/${namespace}/transactions`;
  const create = async (name: string): Promise<JsonObject> =>
    must(
      await client.create(collection, { apiVersion, kind: 'Transaction', metadata: { name, labels: own.matchLabels }, spec: {} }),
    );
  return { own, collection, create };
}

function phaseOf({ body }: { readonly body: JsonObject }): Json | undefined {
  return at(body, 'status', 'phase');
}

type Part = Readonly<Record<string, unknown>>;

/** A copy of the kubeconfig in which cluster and user of each entry are edited. */
function relocated(t: Test, edit: (cluster: Part, user: Part) => readonly [Part, Part]): string {
  const config = parse(readFileSync(kubeconfig, 'utf8')) as {
    clusters: { cluster: Part }[];
    users: { user: Part }[];
  };
  for (const entry of config.clusters) entry.cluster = edit(entry.cluster, {})[0];
  for (const entry of config.users) entry.user = edit({}, entry.user)[1];
  const file = join(t.testdir(), 'config.yaml');
  writeFileSync(file, stringify(config));
  return file;
}

/** A relay to the API server that can be cut: then it resets connections and refuses new ones. */
async function startRelay(t: Test, target: string) {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let whole = true;
  const server = createServer((near) => {
    if (!whole) {
      near.destroy();
      return;
    }
    const far = connectSocket(Number(port), hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    whole = false;
    for (const socket of sockets) socket.destroy();
  };
  t.teardown(() => {
    cut();
    server.close();
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // Its certificate is for its usual name.
  const cluster = { server: url, ...(isIP(hostname) === 0 ? { 'tls-server-name': hostname } : {}) };
  const repair = (): void => {
    whole = true;
  };
  return { cluster, cut, repair };
}
