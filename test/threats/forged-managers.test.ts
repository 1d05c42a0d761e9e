// Names of field managers are free text: a writer of an object can put any number of them into it.
import t from 'tap';
import { at, isList, type JsonObject, withPath } from '../../hooks/objects/json.ts';
import { must } from '../support/client.ts';
import { commit, undoAll } from '../support/round-trip.ts';
import { startStage } from '../support/stage.ts';
import { change, createConfigMaps } from '../support/targets.ts';

const green = { data: { color: 'green' } };

t.test('the engine handles field managers that look like Transactions', async (t) => {
  let lists = 0;
  const stage = await startStage(t, {
    withoutLoop: true,
    wrap: (cluster) => ({
      ...cluster,
      listMetadata: (resource, ...rest) => {
        if (resource.kind === 'Transaction') lists += 1;
        return cluster.listMetadata(resource, ...rest);
      },
    }),
  });
  const path = stage.path('configmaps/forged');
  const fieldsV1 = { 'f:metadata': { 'f:labels': { 'f:team': {} } } };
  const forge = async (names: readonly string[]): Promise<void> => {
    const live = must(await stage.client.get(path));
    const found = at(live, 'metadata', 'managedFields');
    const forged = names.map(
      (manager): JsonObject => ({ manager, operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 }),
    );
    must(
      await stage.client.update(
        path,
        withPath(live, ['metadata', 'managedFields'], [...(isList(found) ? found : []), ...forged]),
      ),
    );
  };
  await createConfigMaps(stage, ['forged']);

  await t.test('the engine makes few requests for such managers, however many exist', async (t) => {
    await commit(stage, 'many', [change('Patch', 'forged', green)]);
    await forge(Array.from({ length: 300 }, (_, index) => `janus-tx-${index}-00000000`));
    await undoAll(stage, 'many');
    t.ok(lists < 10, `${lists} lists of Transactions`);
  });

  await t.test('the engine makes no request for names that no Transaction can have', async (t) => {
    await commit(stage, 'odd', [change('Patch', 'forged', green)]);
    await forge(['janus-a,b=!(c-00000000']);
    await undoAll(stage, 'odd');
    t.match(must(await stage.client.get(path)), { data: { color: 'blue' } });
  });
});
