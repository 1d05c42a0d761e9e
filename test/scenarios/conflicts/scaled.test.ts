// A value that another writer has set again through the subresource `scale` belongs to that writer, even if it is unchanged: it stays in
// an undo, which names it.
import t from 'tap';
import { at, type JsonObject } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { commit, failAfter, itemsOf, undoAll } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const kind = { apiVersion: 'apps/v1', kind: 'Deployment' };

t.test('replicas that another writer has set since stay', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const where = path('apps/v1/deployments/web');
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'example.org/web' }] } };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  must(await client.create(path('apps/v1/deployments'), { ...kind, metadata: { name: 'web' }, spec }));
  const scale = async (replicas: number): Promise<void> => {
    must(await client.patch(`${where}/scale`, { spec: { replicas } }, 'merge', { fieldManager: 'their-tool' }));
  };
  const replicasOf = async (name: string) => at(must(await client.get(path(`apps/v1/deployments/${name}`))), 'spec', 'replicas');

  await t.test('a requested undo restores all but them', async (t) => {
    await commit(stage, 'more', [change('Patch', 'web', { spec: { replicas: 3, minReadySeconds: 7 } }, kind)]);
    await scale(5);
    await scale(3);
    const status = await undoAll(stage, 'more');
    t.match(itemsOf(status)[0], { rolledBack: true, note: 'spec.replicas stays 3 (scaled by their-tool)' });
    t.equal(await replicasOf('web'), 3);
    t.equal(at(must(await client.get(where)), 'spec', 'minReadySeconds'), undefined);
    t.notMatch(JSON.stringify(must(await client.get(where))), /janus/);
  });

  await t.test('a rollback does, too, if the change set nothing else', async (t) => {
    await scale(2);
    const status = await failAfter(stage, 'fails', change('Patch', 'web', { spec: { replicas: 9 } }, kind), () => scale(6));
    t.match(status, { phase: 'RolledBack' });
    t.equal(await replicasOf('web'), 6);
  });

  await t.test('the number stays also if the replicas had no owner: the API server then names none', async (t) => {
    const release = async (name: string, own: JsonObject): Promise<void> => {
      const content = { ...kind, metadata: { name: 'line' }, spec: { selector: { matchLabels: labels }, template, ...own } };
      await stage.transaction(name, [{ type: 'Apply', content }], { spec: { fieldManager: 'shop' } });
      t.equal((await stepToEnd(stage, name)).phase, 'Committed');
    };
    await release('release-1', { replicas: 2 });
    await release('release-2', {});
    must(await client.patch(`${path('apps/v1/deployments/line')}/scale`, { spec: { replicas: 4 } }, 'merge'));
    const status = await undoAll(stage, 'release-2');
    t.match(itemsOf(status)[0], { note: 'spec.replicas stays 4 (scaled by unknown)' });
    t.equal(await replicasOf('line'), 4);
  });
});
