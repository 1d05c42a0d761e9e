// Four objects of 700 kB that no compression makes smaller: their prior and expected states are stored, and come back exactly.
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { at, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { change, portraits } from '../../support/targets.ts';

const names = ['large-0', 'large-1', 'large-2', 'large-3'];

/** 700 kB of text with the information of 525 kB. */
const noise = (): string => randomBytes(525_000).toString('base64');

async function createLarge(stage: Stage): Promise<void> {
  for (const name of names) {
    must(await stage.client.create(stage.path('configmaps'), { metadata: { name }, data: { noise: noise(), color: 'blue' } }));
  }
}

async function snapshotSizes(stage: Stage): Promise<readonly number[]> {
  const { items } = await stage.client.list(stage.path('configmaps'));
  const snapshots = items.filter((item) => (textAt(item, 'metadata', 'name') ?? '').includes('-rollback'));
  return snapshots.map((item) => JSON.stringify(at(item, 'data')).length);
}

const pathsOf = (stage: Stage): readonly string[] => names.map((name) => stage.path(`configmaps/${name}`));

t.test('the engine changes and restores objects of 700 kB', async (t) => {
  const stage = await startStage(t);
  const { client } = stage;
  await createLarge(stage);

  await t.test('an undo restores large objects that were patched, updated and deleted', async (t) => {
    const [patched = '', updated = '', ...deleted] = names;
    const before = await portraits(client, pathsOf(stage), true);
    await stage.transaction('large', [
      change('Patch', patched, { data: { color: 'green' } }),
      change('Update', updated, { data: { color: 'green' } }),
      ...deleted.map((name) => change('Delete', name)),
    ]);
    const status = await stage.finished('large');
    t.match(status, { phase: 'Committed' });
    const sizes = await snapshotSizes(stage);
    t.equal(sizes.length, at(status, 'rollbackRef', 'objects'), 'as many ConfigMaps as the status says');
    t.ok(sizes.length > 1 && sizes.every((size) => size < 1_000_000), `no ConfigMap is too large: ${sizes.join(', ')}`);
    await stage.annotate('large', { 'tx.janus.io/request-rollback': 'yes' });
    await stage.phase('large', 'RolledBack');
    t.same(await portraits(client, pathsOf(stage), true), before);
    await stage.finished('large');
  });

  await t.test('the engine splits states into several ConfigMaps if each fills one', async (t) => {
    const before = await portraits(client, pathsOf(stage));
    const [first = '', ...others] = names;
    await stage.transaction('larger', [
      ...others.map((name) => change('Patch', name, { metadata: { labels: { painted: 'yes' } } })),
      change('Update', first, { data: { noise: noise() } }),
    ]);
    const status = await stage.finished('larger');
    t.match(status, { phase: 'Committed' });
    await stage.annotate('larger', { 'tx.janus.io/request-rollback': 'yes' });
    await stage.phase('larger', 'RolledBack');
    t.same(await portraits(client, pathsOf(stage)), before);
    await stage.finished('larger');
  });
  t.same(await stage.leases(), []);
});
