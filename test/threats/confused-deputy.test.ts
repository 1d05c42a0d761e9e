// ConfigMaps that claim to be parts of a snapshot: a label, an annotation and a finalizer are anybody's to write. The engine deletes,
// updates and sweeps what lies under a name that its key gives, and nothing else.
import t from 'tap';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { textAt } from '../../hooks/objects/json.ts';
import { sweepSnapshots } from '../../hooks/transactions/sweep.ts';
import { createCluster } from '../../server/kubernetes/cluster.ts';
import { must, waitFor } from '../support/client.ts';
import { sealerOf } from '../support/engine.ts';
import { connectionOf } from '../support/kubeconfig.ts';
import { snapshotNamesOf, snapshotParts } from '../support/snapshots.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { stepToEnd, stepUntil, stepUntilGone } from '../support/stepping.ts';
import { change, createConfigMaps } from '../support/targets.ts';

const finalizers = ['tx.janus.io/snapshot'];

/** Somebody's ConfigMaps, each with all that a part of a snapshot has but its name. */
async function claim(stage: Stage, name: string): Promise<readonly string[]> {
  const uid = textAt(await stage.read(name), 'metadata', 'uid') ?? '';
  const [own = ''] = await snapshotNamesOf(stage, name);
  const names = [
    `${name}-settings`,
    `${name}-rollback`,
    `${name}-rollback-1`,
    `${name}-${uid.slice(0, 8)}-rollback`,
    `${name}-rollback-${'0'.repeat(20)}`,
    `${own}-64`,
    `${own}-1-1`,
    `${own}x`,
    `x${own}`,
  ];
  const metadata = {
    labels: { 'app.kubernetes.io/managed-by': 'janus', 'tx.janus.io/transaction-uid': uid },
    annotations: { 'tx.janus.io/transaction': `${stage.namespace}/${name}`, 'tx.janus.io/parts': '1' },
    finalizers,
  };
  for (const one of names)
    must(
      await stage.client.create(stage.path('configmaps'), { metadata: { ...metadata, name: one }, data: { precious: 'yes' } }),
    );
  return names;
}

async function read({ client, path }: Stage, names: readonly string[]): Promise<readonly JsonObject[]> {
  return Promise.all(names.map(async (name) => must(await client.get(path(`configmaps/${name}`)))));
}

const transactionPath = ({ namespace }: Stage, name: string): string =>
  `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions/${name}`;

t.test('a label does not make a ConfigMap of a user a snapshot', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  await createConfigMaps(stage, ['a', 'b', 'c']);

  await t.test('the engine keeps the ConfigMap when the Transaction is deleted', async (t) => {
    await stage.transaction('labelled', [change('Patch', 'a', { data: { color: 'green' } })]);
    await stepUntil(stage, 'labelled', 'Prepared');
    const [own = ''] = await snapshotNamesOf(stage, 'labelled');
    const names = await claim(stage, 'labelled');
    const before = await read(stage, names);
    await stepToEnd(stage, 'labelled');
    must(await stage.client.delete(transactionPath(stage, 'labelled')));
    await stepUntilGone(stage, 'labelled');
    t.equal((await stage.client.get(stage.path(`configmaps/${own}`))).code, 404, 'ours is gone');
    t.same(await read(stage, names), before, 'theirs are as they were');
  });

  await t.test('the engine keeps the ConfigMap when it sweeps leftovers', async (t) => {
    const cluster = createCluster(connectionOf(stage.engineKubeconfig), { writeTimeout: 10_000 });
    t.teardown(() => cluster.close());
    const sealer = await sealerOf(cluster);
    await stage.transaction('forced', [change('Patch', 'b', { data: { color: 'red' } })]);
    await stepUntil(stage, 'forced', 'Prepared');
    const [own = ''] = await snapshotNamesOf(stage, 'forced');
    const names = await claim(stage, 'forced');
    const before = await read(stage, names);
    must(await stage.client.delete(transactionPath(stage, 'forced')));
    await stage.client.patch(transactionPath(stage, 'forced'), { metadata: { finalizers: null } });
    await waitFor(async () => (await stage.client.get(transactionPath(stage, 'forced'))).code === 404, 'the Transaction to go');
    t.ok((await sweepSnapshots(cluster, sealer)) >= 1, 'ours is swept');
    await waitFor(async () => (await stage.client.get(stage.path(`configmaps/${own}`))).code === 404, 'ours to be collected');
    t.same(await read(stage, names), before, 'theirs are as they were');
  });

  await t.test('a deletion does not wait for ConfigMaps that claim to be parts, however many exist', async (t) => {
    await stage.transaction('many', [change('Patch', 'c', { data: { color: 'white' } })]);
    await stepUntil(stage, 'many', 'Prepared');
    const uid = textAt(await stage.read('many'), 'metadata', 'uid') ?? '';
    const labels = { 'tx.janus.io/transaction-uid': uid };
    const claims = Array.from({ length: 520 }, (_, index) => `a-${String(index).padStart(3, '0')}`);
    const create = (name: string) => stage.client.create(stage.path('configmaps'), { metadata: { name, labels } });
    for (const answer of await Promise.all(claims.map(create))) must(answer);
    await stepToEnd(stage, 'many');
    must(await stage.client.delete(transactionPath(stage, 'many')));
    await stepUntilGone(stage, 'many');
    t.same(await snapshotParts(stage, 'many'), [], 'ours is gone');
  });
});
