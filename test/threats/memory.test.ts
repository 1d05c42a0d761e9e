// Somebody with `edit` in one namespace makes objects that take ten times as much memory as bytes, and Transactions over them. Two hooks
// with the heap of the image answer the calls.
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { at } from '../../hooks/objects/json.ts';
import { must } from '../support/client.ts';
import { get } from '../support/hook-process.ts';
import { type Replicas, startReplicas } from '../support/replicas.ts';
import { inAllOnly } from '../support/selection.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { change } from '../support/targets.ts';

const keys = Object.fromEntries(Array.from({ length: 15_000 }, (_, index) => [`k${index}`, '']));

/** Together they are more than one Transaction may hold in memory. */
const names = Array.from({ length: 12 }, (_, index) => `many-${index}`);

t.test('the engine handles objects of 15 000 keys in bounded memory', async (t) => {
  let hooks: Replicas | undefined;
  const stage = await startStage(t, {
    hooks: async (kubeconfig) => {
      hooks = await startReplicas(t, kubeconfig);
      return hooks.address;
    },
  });
  const { client, path } = stage;
  for (const name of names) must(await client.create(path('configmaps'), { metadata: { name }, data: { color: 'blue' } }));
  const grow = async (): Promise<void> => {
    for (const name of names) must(await client.patch(path(`configmaps/${name}`), { data: keys }));
  };
  const areAlive = async (): Promise<void> => {
    for (const { process, url } of hooks?.replicas ?? []) {
      t.equal(process.exitCode, null);
      t.equal((await get(`${url}/healthz`)).code, 200);
    }
  };
  const patches = (gate: object, some = names) =>
    some.map((name) => ({ ...change('Patch', name, { data: { color: 'green' } }), ...gate }));
  const never = { gate: { at: 'AtEnd', timeout: '20s', ready: { field: { path: '.data.done', value: 'yes' } } } };

  await t.test('the gates time out for objects that grow during the wait, and the engine undoes them', async (t) => {
    await stage.transaction('gated', patches(never));
    await stage.phase('gated', 'Committing');
    await grow();
    const status = await stage.finished('gated', patient);
    t.match(status, { phase: 'RolledBack' });
    await showColor(t, stage, 'blue');
    await areAlive();
  });

  await t.test('a Transaction with the most objects allowed commits, and a request undoes it whole', inAllOnly, async (t) => {
    await stage.transaction('few', patches({}, names.slice(0, 3)));
    t.match(await stage.finished('few', patient), { phase: 'Committed' });
    await stage.annotate('few', { 'tx.janus.io/request-rollback': 'yes' });
    t.match(await stage.phase('few', 'RolledBack', patient), { phase: 'RolledBack' });
    await showColor(t, stage, 'blue');
    await areAlive();
  });

  await t.test(
    'pre-flight refuses too many such objects with their sizes, and the hook still serves others and probes',
    async (t) => {
      await stage.transaction('large', patches({}));
      const over = new AbortController();
      const codes = probe(() => hooks?.replicas ?? [], over.signal);
      await stage.transaction('small', [change('Create', 'small', { data: {} })]);
      t.match(await stage.finished('small', patient), { phase: 'Committed' });
      await stage.annotate('small', { 'tx.janus.io/request-rollback': 'yes' });
      t.match(await stage.phase('small', 'RolledBack', patient), { phase: 'RolledBack' });
      const status = await stage.finished('large', patient);
      t.match(status, { phase: 'Failed' });
      over.abort();
      t.same(new Set(await codes), new Set([200]));
      const conditions = JSON.stringify(at(status, 'conditions'));
      t.match(conditions, /SnapshotTooLarge/);
      t.match(
        conditions,
        /of 12 targets take \d+ bytes as JSON and \d+ bytes in memory.*the largest: ConfigMap \S+many-\d+ \d+ bytes/,
      );
      await showColor(t, stage, 'blue');
      await areAlive();
    },
  );
});

/** The codes of the probes of all replicas, one after the other, until it is over. */
async function probe(replicas: () => Replicas['replicas'], over: AbortSignal): Promise<readonly number[]> {
  const codes: number[] = [];
  while (!over.aborted) {
    for (const { url } of replicas()) codes.push((await get(`${url}/healthz`)).code);
    await sleep(100); // as a kubelet does, only more often
  }
  return codes;
}

/** The API server takes about a second for each write of so many fields. */
const patient = { timeoutMs: 300_000 };

async function showColor(t: Pick<Tap, 'equal'>, { client, path }: Stage, color: string): Promise<void> {
  for (const name of names) t.equal(at(must(await client.get(path(`configmaps/${name}`))), 'data', 'color'), color);
}

type Tap = typeof t;
