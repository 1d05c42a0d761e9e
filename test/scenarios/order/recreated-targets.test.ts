// Other Transactions recognize an object that an undo recreated, but not an object that a person recreated.
import t from 'tap';
import { at, isList, isObject, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { fieldManagers } from '../../../hooks/transactions/model/transaction.ts';
import { must } from '../../support/client.ts';
import { commit, itemsOf, managerNames, partial, portrait, undo, undoAll } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd, stepUntilGone } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const green = { data: { color: 'green' } };

async function managerIn(stage: Stage, name: string): Promise<string> {
  const uid = textAt(await stage.read(name), 'metadata', 'uid') ?? '';
  return fieldManagers({ name, uid }).forward;
}

async function retry(stage: Stage, name: string): Promise<string> {
  await stage.annotate(name, { 'tx.janus.io/retry-rollback': 'yes' });
  return (await stepToEnd(stage, name)).phase;
}

async function remove(stage: Stage, name: string): Promise<void> {
  must(await stage.client.delete(`/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/${name}`));
  await stepUntilGone(stage, name);
}

t.test('an undo recreates objects of other Transactions', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const make = async (name: string): Promise<string> => {
    const object = { metadata: { name }, data: { color: 'blue', size: 'small' } };
    must(await client.create(path('configmaps'), object, { fieldManager: 'gitops' }));
    return path(`configmaps/${name}`);
  };

  await t.test('the undo of a Create deletes the recreated object', async (t) => {
    const where = path('configmaps/made');
    await commit(stage, 'made', [change('Create', 'made', green)]);
    const first = textAt(must(await client.get(where)), 'metadata', 'uid');
    await commit(stage, 'made-gone', [change('Delete', 'made')]);
    await undoAll(stage, 'made-gone');
    const back = must(await client.get(where));
    t.not(textAt(back, 'metadata', 'uid'), first, 'it is another object to the API server');
    t.ok(managerNames(back).includes(await managerIn(stage, 'made')));
    await undoAll(stage, 'made');
    t.equal((await client.get(where)).code, 404);
  });

  await t.test('the engine recognizes an object without fields by its entry', async (t) => {
    await commit(stage, 'empty', [change('Create', 'empty', {})]);
    await commit(stage, 'empty-gone', [change('Delete', 'empty')]);
    await undoAll(stage, 'empty-gone');
    await undoAll(stage, 'empty');
    t.equal((await client.get(path('configmaps/empty'))).code, 404);
  });

  await t.test('the engine leaves an object that a person recreated from a backup', async (t) => {
    const where = path('configmaps/backup');
    await commit(stage, 'backup', [change('Create', 'backup', green)]);
    must(await client.delete(where));
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'backup' }, ...green };
    must(await client.apply(where, object, { fieldManager: 'kubectl' }));
    const status = await undoAll(stage, 'backup');
    t.match(itemsOf(status), [{ note: /created by someone else; it was not changed/ }]);
    t.equal((await client.get(where)).code, 200);
  });

  await t.test('the engine keeps an object that a person recreated with our entry', async (t) => {
    const where = path('configmaps/forged');
    await commit(stage, 'forged', [change('Create', 'forged', green)]);
    must(await client.delete(where));
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'forged' }, ...green };
    must(await client.apply(where, object, { fieldManager: 'kubectl' }));
    must(await client.apply(where, object, { fieldManager: await managerIn(stage, 'forged') }));
    const status = await undo(stage, 'forged', partial);
    t.match(itemsOf(status), [{ left: true, error: { reason: 'ForeignContent', message: /data\.color \(by kubectl\)/ } }]);
    t.equal((await client.get(where)).code, 200);
  });

  for (const type of ['Patch', 'Update'] as const) {
    await t.test(`the engine undoes ${type} on a recreated object`, async (t) => {
      const name = type.toLowerCase();
      const where = await make(name);
      const before = await portrait(stage, where, true);
      await commit(stage, name, [change(type, name, green)]);
      await commit(stage, `${name}-gone`, [change('Delete', name)]);
      await undoAll(stage, `${name}-gone`);
      await undoAll(stage, name);
      t.same(await portrait(stage, where, true), before, 'owners included');
    });
  }

  await t.test('the engine undoes an Update that only removed fields and left no entry', async (t) => {
    const where = await make('shrunk');
    const before = await portrait(stage, where, true);
    await commit(stage, 'shrunk', [change('Update', 'shrunk', { data: { color: 'blue' } })]);
    await commit(stage, 'shrunk-gone', [change('Delete', 'shrunk')]);
    await undoAll(stage, 'shrunk-gone');
    await undoAll(stage, 'shrunk');
    t.same(await portrait(stage, where, true), before);
  });

  await t.test('the undo of a deletion keeps an object that a later Transaction created again', async (t) => {
    const where = await make('kept');
    const before = await portrait(stage, where, true);
    await commit(stage, 'kept', [change('Delete', 'kept')]);
    await commit(stage, 'kept-new', [change('Create', 'kept', { data: { color: 'blue', size: 'small' } })]);
    t.match(await undo(stage, 'kept', partial), { phase: 'Failed', items: [{ error: { reason: 'LaterTransaction' } }] });
    await undoAll(stage, 'kept-new');
    t.equal((await client.get(where)).code, 404);
    t.equal(await retry(stage, 'kept'), 'RolledBack');
    t.same(await portrait(stage, where, true), before);
  });

  await t.test('the engine names the Transaction that deleted an object, among several pages of them', async (t) => {
    const where = await make('crowd');
    const before = await portrait(stage, where, true);
    await Promise.all(
      Array.from({ length: 45 }, (_, number) =>
        stage.transaction(`crowd-${number}`, [change('Patch', `nothing-${number}`, green)]),
      ),
    );
    await commit(stage, 'crowd', [change('Patch', 'crowd', green)]);
    await commit(stage, 'zz-last', [change('Delete', 'crowd')]);
    const status = await undo(stage, 'crowd', partial);
    const manager = await managerIn(stage, 'zz-last');
    const items = at(status, 'items');
    const message = textAt(isList(items) ? items[0] : undefined, 'error', 'message') ?? '';
    t.ok(message.includes(`deleted by Transaction ${stage.namespace}/zz-last (${manager})`), message);
    await undoAll(stage, 'zz-last');
    t.equal(await retry(stage, 'crowd'), 'RolledBack');
    t.same(await portrait(stage, where, true), before);
  });

  await t.test('a deleted Transaction blocks no undo, and gets nothing back', async (t) => {
    const where = await make('settled');
    await commit(stage, 'settled', [change('Patch', 'settled', green)]);
    const manager = await managerIn(stage, 'settled');
    await commit(stage, 'settled-two', [change('Patch', 'settled', { data: { color: 'red' } })]);
    await commit(stage, 'settled-gone', [change('Delete', 'settled')]);
    await remove(stage, 'settled');
    await undoAll(stage, 'settled-gone');
    await undoAll(stage, 'settled-two');
    const object = must(await client.get(where)) as JsonObject;
    t.match(at(object, 'data'), { color: 'green', size: 'small' });
    t.notOk(managerNames(object).includes(manager), 'its manager went with it');
    t.ok(isObject(object));
  });
});
