// Callers who mean harm, against the hook as a process: it answers others meanwhile, and its memory stays where it was.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { Agent, request as call } from 'undici';
import { freeNamespace, waitFor } from '../support/client.ts';
import { get, hookEnvironment, memoryOf, post, ready, startHookProcess } from '../support/hook-process.ts';
import { callHeaders } from '../support/hook-token.ts';
import { connectToCluster, installManifests } from '../support/install.ts';
import { kubeconfigOfSuite } from './kubernetes/real.ts';
import { request } from './parts.ts';

const client = connectToCluster();
t.teardown(() => client.close());
await installManifests(client);
const namespace = await freeNamespace(client, 'flood', t);
const mebibyte = 1024 * 1024;
const environment = { ...hookEnvironment(t, kubeconfigOfSuite(), namespace), JANUS_BODY_LIMIT: String(16 * mebibyte) };
const hook = startHookProcess(t, environment);
const address = await ready(await hook.address());
const port = Number(new URL(address).port);

/** A call about a Transaction that is not there takes the hook a request to the API server. Gives how long it took. */
async function healthy(): Promise<number> {
  const begin = performance.now();
  const answer = await post(`${address}/sync`, request);
  await answer.body.dump();
  if (answer.statusCode !== 200) throw new Error(`expected a call to be answered, found ${answer.statusCode}`);
  if ((await get(`${address}/healthz`)).code !== 200) throw new Error('expected the hook to be alive');
  return performance.now() - begin;
}

for (let count = 0; count < 20; count += 1) await healthy();
const memoryBefore = memoryOf(hook.process) ?? 0;

/** MiB that garbage collection may be behind: a few bodies at the limit. */
const slack = 200;

async function isUnharmed(t: Test): Promise<void> {
  const took = await healthy();
  const now = memoryOf(hook.process) ?? 0;
  t.ok(
    now < memoryBefore + slack,
    `${Math.round(now)} MiB after ${Math.round(memoryBefore)} MiB; a call took ${Math.round(took)} ms`,
  );
}

const head = (headers: Readonly<Record<string, string>>): string =>
  `POST /sync HTTP/1.1\r\nhost: a\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;

interface Said {
  readonly socket: Socket;
  readonly closed: Promise<unknown>;
  readonly heard: () => string;
}

function open(): Said {
  const socket = connect(port, '127.0.0.1');
  let heard = '';
  socket.on('data', (bytes) => {
    heard += String(bytes);
  });
  socket.on('error', () => undefined); // a reset is one way to be refused
  const closed = new Promise((resolve) => socket.once('close', resolve));
  return { socket, closed, heard: () => heard };
}

/** Sends megabytes until all are sent or the other side has had enough. */
async function pour({ socket, closed }: Said, megabytes: number, frame: Frame): Promise<void> {
  const bytes = Buffer.alloc(mebibyte, ' ');
  for (let sent = 0; sent < megabytes && !socket.destroyed; sent += 1)
    for (const part of frame(bytes)) {
      const isFull = !socket.write(part);
      if (isFull) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
    }
}

type Frame = (bytes: Buffer) => readonly (Buffer | string)[];

const chunk: Frame = (bytes) => [`${bytes.length.toString(16)}\r\n`, bytes, '\r\n'];
const { authorization: _, ...withoutToken } = callHeaders;

t.test('the hook survives requests of 100 MB', async (t) => {
  const length = { 'content-length': String(100 * mebibyte) };
  const chunked = { 'transfer-encoding': 'chunked' };
  for (const [reason, headers, frame, code] of [
    ['without a token', { ...withoutToken, ...length }, (bytes: Buffer) => [bytes], 401],
    ['without a token, of unknown length', { ...withoutToken, ...chunked }, chunk, 401],
    ['from a caller', { ...callHeaders, ...length }, (bytes: Buffer) => [bytes], 413],
    ['from a caller, of a length unsaid', { ...callHeaders, ...chunked }, chunk, 413],
  ] as const) {
    const said = open();
    said.socket.write(head(headers));
    const poured = pour(said, 100, frame);
    await Promise.race([poured, said.closed]);
    if (said.heard() !== '') t.match(said.heard(), new RegExp(`^HTTP/1.1 ${code} `), reason);
    said.socket.destroy();
    await poured;
    await healthy();
  }
  await isUnharmed(t);
});

t.test('the hook survives three bodies at once that are small on the wire and large in memory', async (t) => {
  const keys = Array.from({ length: 1_000_000 }, (_, index) => `"${index.toString(36)}":1`).join();
  for (const [reason, body, code] of [
    ['a million levels', '['.repeat(1_000_000), 413],
    ['a million levels of objects', '{"a":'.repeat(1_000_000), 413],
    ['a million keys', `{${keys}}`, 413],
    ['three million empty objects', `[${'{},'.repeat(3_000_000)}{}]`, 413],
    [
      'inherited keys',
      JSON.stringify(request).replace('{"phase"', '{"__proto__":{"polluted":1},"constructor":{"prototype":{}},"phase"'),
      200,
    ],
  ] as const) {
    const answers = await Promise.all(Array.from({ length: 3 }, () => post(`${address}/sync`, body)));
    t.same(
      answers.map(({ statusCode }) => statusCode),
      [code, code, code],
      reason,
    );
    for (const answer of answers) await answer.body.dump();
  }
  await isUnharmed(t);
});

t.test('the hook closes a connection within seconds if its bytes trickle in, for any caller', async (t) => {
  const length = { 'content-length': '1000000' };
  const slow = Array.from({ length: 50 }, open);
  for (const [index, { socket }] of slow.entries())
    socket.write(index % 2 === 0 ? 'POST /sync HTTP/1.1\r\nx: ' : head({ ...callHeaders, ...length }));
  const trickle = setInterval(() => {
    for (const { socket } of slow) if (!socket.destroyed) socket.write('x');
  }, 1_000);
  const begin = performance.now();
  let answered = 0;
  const all = Promise.all(slow.map(({ closed }) => closed)).finally(() => clearInterval(trickle));
  for (let open = true; open; answered += 1) {
    await healthy();
    open = await Promise.race([all.then(() => false), new Promise<boolean>((resolve) => setTimeout(resolve, 500, true))]);
  }
  t.ok(answered > 0, `${answered} calls were answered in the ${Math.round((performance.now() - begin) / 1000)} s that it took`);
  t.ok(
    slow.every(({ heard }) => heard().startsWith('HTTP/1.1 408 ')),
    'each caller gets the reason',
  );
  await isUnharmed(t);
});

t.test('three thousand silent connections block neither callers nor probes', async (t) => {
  const known = new Agent({ connections: 1 });
  t.teardown(() => known.close());
  const callAgain = async (): Promise<number> => {
    const answer = await call(`${address}/sync`, {
      dispatcher: known,
      method: 'POST',
      headers: callHeaders,
      body: JSON.stringify(request),
    });
    await answer.body.dump();
    return answer.statusCode;
  };
  let connections = 0;
  known.on('connect', () => {
    connections += 1;
  });
  t.equal(await callAgain(), 200);
  const crowd: Said[] = [];
  for (let count = 0; count < 30; count += 1) {
    crowd.push(...Array.from({ length: 100 }, open));
    await Promise.all(crowd.slice(-100).map(({ socket }) => (socket.connecting ? once(socket, 'connect') : undefined)));
    if (count % 10 === 9) await healthy();
    // So that it does not stand idle for as long as a connection may, however slow the machine is.
    if (count % 5 === 4) t.equal(await callAgain(), 200);
  }
  const isOpen = ({ socket }: Said): boolean => !socket.destroyed;
  await waitFor(() => crowd.filter(isOpen).length <= 1_000, 'connections above the limit to be closed');
  t.equal(await callAgain(), 200);
  t.equal(connections, 1, 'the connection of a caller is kept');
  await isUnharmed(t);
  for (const { socket } of crowd) socket.destroy();
});
