// A value that another writer has set again through the subresource `scale` belongs to that writer, even if it is unchanged.
import t from 'tap';
import { at, type JsonObject } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { commit, itemsOf, partial, undo } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const kind = { apiVersion: 'apps/v1', kind: 'Deployment' };

t.test('replicas that another writer has set since are a conflict', async (t) => {
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

  await commit(stage, 'more', [change('Patch', 'web', { spec: { replicas: 3 } }, kind)]);
  await scale(5);
  await scale(3);
  const status = await undo(stage, 'more', partial);
  t.match(itemsOf(status)[0], {
    left: true,
    error: { reason: 'RollbackConflict', message: /spec\.replicas \(by their-tool\)/ },
  });
  t.equal(at(must(await client.get(where)), 'spec', 'replicas'), 3);

  await t.test('the engine sees the write also if the replicas had no owner: the API server then names none', async (t) => {
    const release = async (name: string, own: JsonObject): Promise<void> => {
      const content = { ...kind, metadata: { name: 'line' }, spec: { selector: { matchLabels: labels }, template, ...own } };
      await stage.transaction(name, [{ type: 'Apply', content }], { spec: { fieldManager: 'shop' } });
      t.equal((await stepToEnd(stage, name)).phase, 'Committed');
    };
    await release('release-1', { replicas: 2 });
    await release('release-2', {});
    must(await client.patch(`${path('apps/v1/deployments/line')}/scale`, { spec: { replicas: 4 } }, 'merge'));
    const status = await undo(stage, 'release-2');
    t.match(status, {
      phase: 'Committed',
      undo: { reason: 'UndoRefused', items: [{ fields: [{ path: 'spec.replicas', now: '4' }] }] },
    });
    t.equal(at(must(await client.get(path('apps/v1/deployments/line'))), 'spec', 'replicas'), 4);
  });
});
