// The engine writes each snapshot once. It never restores from a second, an edited or a foreign snapshot.
import t, { type Test } from 'tap';
import type { Cluster, Write } from '../../../hooks/objects/cluster.ts';
import { at, type JsonObject, textAt, withPath } from '../../../hooks/objects/json.ts';
import { sweepSnapshots } from '../../../hooks/transactions/sweep.ts';
import { createCluster } from '../../../server/kubernetes/cluster.ts';
import { must, waitFor } from '../../support/client.ts';
import { type Engines, openEngines, sealerOf } from '../../support/engine.ts';
import { connectionOf } from '../../support/kubeconfig.ts';
import { snapshotOf, snapshotPath } from '../../support/snapshots.ts';
import { conditionOf, type Stage, startStage } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil, stepUntilGone, storeStatus } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

const green = { data: { color: 'green' } };

/** An engine that freezes at a write, after all checks, and wakes up when the test says so. */
function freezing(isMeant: (write: Write) => boolean): {
  readonly wrap: (cluster: Cluster) => Cluster;
  readonly frozen: Promise<void>;
  readonly wake: () => void;
} {
  const frozen = Promise.withResolvers<void>();
  const awake = Promise.withResolvers<void>();
  return {
    frozen: frozen.promise,
    wake: awake.resolve,
    wrap: (cluster) => ({
      ...cluster,
      send: async (write) => {
        if (!isMeant(write)) return cluster.send(write);
        frozen.resolve();
        await awake.promise;
        return cluster.send(write);
      },
    }),
  };
}

function isSnapshot({ verb, location }: Write): boolean {
  return verb === 'create' && location.resource.kind === 'ConfigMap' && location.name.includes('-rollback-');
}

t.test('an engine freezes at a write and wakes up later', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines: Engines = await openEngines(t, stage);

  await t.test('the API server refuses a second snapshot of an engine that wakes up', async (t) => {
    await createConfigMaps(stage, ['a0', 'a1']);
    await stage.transaction('twice', [change('Patch', 'a0', green), change('Patch', 'a1', green)]);
    await stepUntil(stage, 'twice', 'Preparing');
    const { wrap, frozen, wake } = freezing(isSnapshot);
    const sleeping = engines.start({ wrap }).call('twice');
    await frozen;
    // What it has seen is outdated when it wakes up.
    must(await stage.client.patch(stage.path('configmaps/a0'), { data: { theirs: 'yes' } }));
    await stepUntil(stage, 'twice', 'Prepared');
    const stored = await snapshotOf(stage, 'twice');
    await stepUntil(stage, 'twice', 'Committing');
    wake();
    const late = await sleeping;
    t.same(await snapshotOf(stage, 'twice'), stored, 'the stored snapshot is as it was');
    t.equal((await snapshotsIn(stage, 'twice')).length, 1, 'there is no other');
    await storeStatus(stage, 'twice', late.body);
    await stepToEnd(stage, 'twice');
    await stage.annotate('twice', { 'tx.janus.io/request-rollback': 'yes' });
    t.match((await stepUntil(stage, 'twice', 'RolledBack')).status, { phase: 'RolledBack' });
    await stepToEnd(stage, 'twice');
    t.match(must(await stage.client.get(stage.path('configmaps/a0'))), { data: { color: 'blue', theirs: 'yes' } });
  });

  await t.test('the engine sweeps a snapshot that was stored for a deleted Transaction', async (t) => {
    await createConfigMaps(stage, ['b0']);
    await stage.transaction('gone', [change('Patch', 'b0', green)]);
    await stepUntil(stage, 'gone', 'Preparing');
    const { wrap, frozen, wake } = freezing(isSnapshot);
    const sleeping = engines.start({ wrap }).call('gone');
    await frozen;
    const path = `/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/gone`;
    must(await stage.client.delete(path));
    await stepUntilGone(stage, 'gone');
    wake();
    t.same((await sleeping).body.finalized, false, 'there is nothing to finalize any more');
    t.match(must(await stage.client.get(stage.path('configmaps/b0'))), { data: { color: 'blue' } }, 'it writes no target');
    const cluster = createCluster(connectionOf(stage.engineKubeconfig), { writeTimeout: 10_000 });
    t.teardown(() => cluster.close());
    const sealer = await sealerOf(cluster);
    await waitFor(async () => {
      await sweepSnapshots(cluster, sealer);
      return (await snapshotsIn(stage, 'gone')).length === 0;
    }, 'the snapshot without a Transaction to be swept');
  });

  await t.test('an engine that wakes up after the end writes no target', async (t) => {
    await createConfigMaps(stage, ['c0']);
    const show = (): Promise<readonly unknown[]> => portraits(stage.client, [stage.path('configmaps/c0')]);
    const before = await show();
    await stage.transaction('ended', [change('Patch', 'c0', green)]);
    await stepUntil(stage, 'ended', 'Prepared');
    const { wrap, frozen, wake } = freezing(({ verb }) => verb === 'apply');
    const sleeping = engines.start({ wrap }).call('ended');
    await frozen;
    await stepToEnd(stage, 'ended');
    await stage.annotate('ended', { 'tx.janus.io/request-rollback': 'yes' });
    await stepUntil(stage, 'ended', 'RolledBack');
    await stepToEnd(stage, 'ended');
    wake();
    await sleeping;
    t.same(await show(), before, 'its write was judged against a version that is no more');
  });
});

async function snapshotsIn({ client, path, namespace }: Stage, name: string): Promise<readonly JsonObject[]> {
  const { items } = await client.list(path('configmaps'));
  return items.filter((item) => textAt(item, 'metadata', 'annotations', 'tx.janus.io/transaction') === `${namespace}/${name}`);
}

t.test('a user tampers with a snapshot', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });

  await t.test('the API server refuses to edit a snapshot, because it is immutable', async (t) => {
    await createConfigMaps(stage, ['d0']);
    await stage.transaction('edited', [change('Patch', 'd0', green)]);
    await stepUntil(stage, 'edited', 'Prepared');
    const answer = await stage.client.patch(await snapshotPath(stage, 'edited'), { data: { other: 'yes' } });
    t.equal(answer.code, 422);
    await stepToEnd(stage, 'edited');
  });

  await t.test('the engine makes no change and says why if the snapshot was replaced before the changes', async (t) => {
    await createConfigMaps(stage, ['e0', 'e1']);
    const paths = ['e0', 'e1'].map((name) => stage.path(`configmaps/${name}`));
    const before = await portraits(stage.client, paths);
    await stage.transaction('early', [change('Patch', 'e0', green), change('Patch', 'e1', green)]);
    await stepUntil(stage, 'early', 'Prepared');
    await exchange(stage, 'early');
    const { status } = await stepToEnd(stage, 'early');
    await showBroken(t, stage, status);
    t.same(await portraits(stage.client, paths), before);
  });

  await t.test('the engine restores nothing and says so if the snapshot was replaced before the undo', async (t) => {
    await createConfigMaps(stage, ['f0']);
    await stage.transaction('later', [change('Patch', 'f0', green)]);
    await stepToEnd(stage, 'later');
    await exchange(stage, 'later');
    await stage.annotate('later', { 'tx.janus.io/request-rollback': 'yes' });
    t.match((await step(stage, 'later')).status, {
      phase: 'Committed',
      message: /request-rollback="yes" has no effect: snapshot .*later-rollback-\w+ is not the one that was stored/,
    });
    t.match((await stepToEnd(stage, 'later')).status, { phase: 'Committed' });
    t.match(must(await stage.client.get(stage.path('configmaps/f0'))), { data: { color: 'green' } });
  });

  await t.test('the engine leaves a ConfigMap that another writer created under the name of the snapshot', async (t) => {
    await createConfigMaps(stage, ['g0', 'foreign-rollback']);
    const path = stage.path('configmaps/foreign-rollback');
    const before = must(await stage.client.get(path));
    await stage.transaction('foreign', [change('Patch', 'g0', green)]);
    const { status } = await stepToEnd(stage, 'foreign');
    t.match(status, { phase: 'Committed', rollbackRef: { name: /^foreign-rollback-[0-9a-f]{20}$/ } });
    t.same(must(await stage.client.get(path)), before);
  });
});

/** Deletes the snapshot and creates another one under its name, with the contents that this person wants restored. */
async function exchange(stage: Stage, name: string): Promise<void> {
  const path = await snapshotPath(stage, name);
  const stored = must(await stage.client.get(path));
  must(await stage.client.patch(path, { metadata: { finalizers: null } }));
  await stage.client.delete(path);
  const data = at(stored, 'data') as Readonly<Record<string, string>>;
  const forged = Object.fromEntries(Object.entries(data).map(([key, text]) => [key, text.replaceAll('blue', 'black')]));
  const fresh = withPath(stored, ['metadata', 'resourceVersion'], undefined);
  const object = {
    ...withPath(withPath(fresh, ['metadata', 'uid'], undefined), ['metadata', 'managedFields'], undefined),
    data: forged,
  };
  must(await stage.client.create(stage.path('configmaps'), object));
}

async function showBroken(t: Test, stage: Stage, status: JsonObject): Promise<void> {
  t.match(status, {
    phase: 'RolledBack',
    message: /snapshot .*-rollback-\w+ is not the one that was stored: its digest differs/,
  });
  t.equal(conditionOf(status, 'Succeeded'), 'False');
  t.same(await stage.leases(), [], 'no lock is held');
}
