// Whoever has recorded the calls of Metacontroller, token included, can send them again: while a Transaction runs it ends as it
// would have, and once it is at rest nothing is written.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { get, post } from '../../support/hook-process.ts';
import { noting } from '../../support/noted-writes.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

interface Recorded {
  readonly path: string;
  readonly body: string;
}

interface Recorder {
  readonly url: string;
  readonly calls: readonly Recorded[];
  /** Where the calls go on to; the stage starts later than its recorder. */
  hookUrl: string;
}

/** Stands between the loop and the hook. `meanwhile` comes after each call, before its answer goes back. */
async function startRecorder(t: Test, meanwhile: (recorder: Recorder) => Promise<void> = async () => {}): Promise<Recorder> {
  const calls: Recorded[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const [path, body] = [incoming.url ?? '', await text(incoming)];
    calls.push({ path, body });
    const answer = await post(`${recorder.hookUrl}${path}`, body);
    const answered = await answer.body.text();
    await meanwhile(recorder);
    const again = answer.headers['retry-after'];
    if (again !== undefined) outgoing.setHeader('retry-after', again);
    outgoing.writeHead(answer.statusCode, { 'content-type': 'application/json' }).end(answered);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const recorder = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls, hookUrl: '' };
  return recorder;
}

async function sendAgain({ hookUrl }: Recorder, calls: readonly Recorded[]): Promise<readonly number[]> {
  const codes: number[] = [];
  for (const { path, body } of calls) {
    const answer = await post(`${hookUrl}${path}`, body);
    await answer.body.dump();
    codes.push(answer.statusCode);
  }
  return codes;
}

const green = { data: { color: 'green' } };

async function begin(stage: Stage, name: string): Promise<void> {
  await createConfigMaps(stage, [`${name}-a`, `${name}-b`]);
  await stage.transaction(name, [
    change('Patch', `${name}-a`, green),
    change('Delete', `${name}-b`),
    change('Create', `${name}-c`, green),
  ]);
}

/** Versions of everything in the namespace, so that one write would be seen whoever made it. */
async function versions({ client, namespace }: Stage): Promise<readonly string[]> {
  const core = `/api/v1/namespaces/${namespace}`;
  const paths = [`${core}/configmaps`, `${core}/secrets`, `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions`];
  const lists = await Promise.all(paths.map((path) => client.list(path)));
  return lists.flatMap(({ items }) =>
    items.map((item) => `${textAt(item, 'metadata', 'name')} ${textAt(item, 'metadata', 'resourceVersion')}`),
  );
}

t.test('the engine makes no write when all calls of a finished run are sent again', async (t) => {
  const writes: string[] = [];
  const recorder = await startRecorder(t);
  const stage = await startStage(t, { wrap: noting(writes), loop: { hookUrl: recorder.url } });
  recorder.hookUrl = stage.hookUrl;
  for (const name of ['stays', 'returns', 'goes']) await begin(stage, name);
  await stage.transaction('fails', [change('Patch', 'missing', green)]);
  for (const name of ['stays', 'returns', 'goes']) t.match(await stage.finished(name), { phase: 'Committed' });
  t.match(await stage.finished('fails'), { phase: 'Failed' });
  await stage.annotate('returns', { 'tx.janus.io/request-rollback': '1' });
  await stage.phase('returns', 'RolledBack');
  t.match(await stage.finished('returns'), { phase: 'RolledBack' });
  const path = `/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/goes`;
  must(await stage.client.delete(path));
  await waitFor(async () => (await stage.client.get(path)).code === 404, 'the Transaction to go');
  await stage.transaction('goes', [change('Patch', 'goes-a', { data: { color: 'red' } })]);
  t.match(await stage.finished('goes'), { phase: 'Committed' }, 'a later Transaction with this name');

  const calls = [...recorder.calls];
  const before = await versions(stage);
  writes.length = 0;
  t.ok(calls.length >= 20, `${calls.length} calls`);
  for (const order of [calls, calls.toReversed()]) {
    const codes = await sendAgain(recorder, order);
    t.same([...new Set(codes)], [200]);
  }
  await Promise.all(calls.map((call) => sendAgain(recorder, [call])));
  t.same(writes, [], 'nothing is written');
  t.same(await versions(stage), before);
  t.equal((await get(`${stage.hookUrl}/healthz`)).code, 200);
});

t.test('a run in which calls are repeated makes the writes of a run without repeats', async (t) => {
  const writes: string[] = [];
  let isPestered = false;
  const recorder = await startRecorder(t, async (own) => {
    if (isPestered) await sendAgain(own, own.calls);
  });
  const stage = await startStage(t, { wrap: noting(writes), loop: { hookUrl: recorder.url } });
  recorder.hookUrl = stage.hookUrl;
  const run = async (name: string): Promise<readonly string[]> => {
    writes.length = 0;
    await begin(stage, name);
    t.match(await stage.finished(name), { phase: 'Committed' });
    await stage.annotate(name, { 'tx.janus.io/request-rollback': '1' });
    await stage.phase(name, 'RolledBack');
    await stage.finished(name);
    t.match(must(await stage.client.get(stage.path(`configmaps/${name}-a`))), { data: { color: 'blue' } });
    t.equal((await stage.client.get(stage.path(`configmaps/${name}-c`))).code, 404);
    return writes
      .filter((write) => write.includes(` configmaps ${name}-`))
      .map((write) => write.replace(name, '').replace(/-[0-9a-f]{20}$/, ''));
  };
  const calm = await run('calm');
  isPestered = true;
  t.same(await run('pestered'), calm, calm.join());
});
