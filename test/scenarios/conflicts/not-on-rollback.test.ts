// What others have done since may look like a rollback conflict and be none: our value is not there any more, or nobody is
// wronged when it goes.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { commit, undoAll } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

const theirs = { fieldManager: 'their-tool' };
const blue: JsonObject = { color: 'blue', size: 'small' };
const green = { data: { color: 'green', size: 'large' } };

t.test('some changes of other writers are no rollback conflict', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;

  for (const type of ['Update', 'Patch'] as const)
    await t.test(`an applied path that another writer set to its former value after ${type} is no conflict`, async (t) => {
      const name = `former-${type}`.toLowerCase();
      await createConfigMaps(stage, [name], blue);
      await commit(stage, name, [change(type, name, green)]);
      must(await client.patch(path(`configmaps/${name}`), { data: { color: 'blue' } }, 'merge', theirs));
      await undoAll(stage, name);
      t.match(must(await client.get(path(`configmaps/${name}`))), { data: { color: 'blue', size: 'small' } });
    });

  for (const type of ['Update', 'Patch'] as const)
    await t.test(`the undo of ${type} has nothing to do if a user removed the added fields`, async (t) => {
      const name = `removed-${type}`.toLowerCase();
      await createConfigMaps(stage, [name], blue);
      await commit(stage, name, [change(type, name, { data: { ...blue, applied: 'yes', extra: 'ours' } })]);
      must(await client.patch(path(`configmaps/${name}`), { data: { extra: null } }, 'merge', theirs));
      await undoAll(stage, name);
      t.same(must(await client.get(path(`configmaps/${name}`))).data, { ...blue, applied: 'yes' });
    });

  await t.test('annotations and finalizers of other writers on a created object are no conflict', async (t) => {
    await commit(stage, 'marked', [change('Create', 'marked', green)]);
    must(
      await client.patch(path('configmaps/marked'), { metadata: { annotations: { seen: 'by-a-controller' } } }, 'merge', theirs),
    );
    await undoAll(stage, 'marked');
    t.equal((await client.get(path('configmaps/marked'))).code, 404);
  });

  await t.test('an object that a user recreated with its former content after Delete is no conflict', async (t) => {
    await createConfigMaps(stage, ['same'], blue);
    const { data, metadata } = must(await client.get(path('configmaps/same')));
    await commit(stage, 'same', [change('Delete', 'same')]);
    const again = { metadata: { name: 'same', labels: at(metadata, 'labels') ?? {} }, data: data ?? {} };
    const uid = textAt(must(await client.create(path('configmaps'), again, theirs)), 'metadata', 'uid');
    await undoAll(stage, 'same');
    t.equal(textAt(must(await client.get(path('configmaps/same'))), 'metadata', 'uid'), uid, 'theirs is left alone');
  });
});
