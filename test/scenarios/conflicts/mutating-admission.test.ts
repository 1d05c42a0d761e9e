// A policy that stamps every write makes something else of a change than its dry run had promised, and of what others write too.
// The stamp belongs to no manager: it causes no conflict, neither before a change nor at its undo, nor after a crash between a write and
// the status that would have recorded it.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { commit, itemsOf, managerNames, partial, portrait, showAtRest, undo, undoAll } from '../../support/round-trip.ts';
import { everyNth } from '../../support/selection.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { mutatingPolicies, stampWritesOf, withoutStamp } from '../../support/stamping.ts';
import { step, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

const green = { data: { color: 'green', size: 'large' } };
const theirs = { fieldManager: 'their-tool' };
const suffix = '-stamped';

type Type = 'Create' | 'Update' | 'Patch';
const types: readonly Type[] = ['Create', 'Update', 'Patch'];

async function stampOf({ client, path }: Stage, name: string): Promise<string | undefined> {
  return textAt((await client.get(path(`configmaps/${name}`))).body, 'data', 'stamp');
}

/** The object as it is now; nothing if the change creates it. */
async function show(stage: Stage, name: string, plural = 'configmaps'): Promise<unknown> {
  const path = stage.path(`${plural}/${name}`);
  return (await stage.client.get(path)).code === 404 ? undefined : withoutStamp(await portrait(stage, path));
}

async function setUp(stage: Stage, type: Type, what: string): Promise<{ readonly name: string; readonly before: unknown }> {
  const name = `${what}-${type}${suffix}`.toLowerCase();
  if (type !== 'Create') await createConfigMaps(stage, [name]);
  return { name, before: await show(stage, name) };
}

t.test('an admission policy stamps values at every write', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  if ((await client.get(mutatingPolicies)).code === 404) {
    await t.test('stamped', { skip: `this Kubernetes does not serve ${mutatingPolicies}` }, () => undefined);
    return;
  }
  await stampWritesOf(stage, suffix, t);

  for (const type of everyNth(2, types)) {
    await t.test(`${type}, committed and undone`, async (t) => {
      const { name, before } = await setUp(stage, type, 'plain');
      const status = await commit(stage, name, [change(type, name, green)]);
      t.match(textAt(itemsOf(status)[0], 'drift'), /"f:stamp"/, 'what differs from the dry run is remembered');
      const [item] = itemsOf(await undoAll(stage, name));
      if (type !== 'Create') t.match(item, { note: /an admission policy changed what the undo wrote: data\.stamp$/ });
      t.same(await show(stage, name), before);
    });

    await t.test(`${type}, the answer to its write lost`, async (t) => {
      const { name, before } = await setUp(stage, type, 'lost');
      await stage.transaction(name, [change(type, name, green)]);
      await stepUntil(stage, name, 'Prepared');
      await stage.call(name);
      const stamp = await stampOf(stage, name);
      t.match(await step(stage, name), { phase: 'Committed' }, 'it is recognised');
      t.equal(await stampOf(stage, name), stamp, 'and not made again');
      await stepToEnd(stage, name);
      await undoAll(stage, name);
      t.same(await show(stage, name), before);
    });

    await t.test(`${type}, and others write something else since`, async (t) => {
      const { name } = await setUp(stage, type, 'shared');
      await commit(stage, name, [change(type, name, green)]);
      must(await client.patch(path(`configmaps/${name}`), { metadata: { annotations: { seen: 'yes' } } }, 'merge', theirs));
      await undoAll(stage, name);
      if (type === 'Create') return t.equal(await stampOf(stage, name), undefined);
      const found = must(await client.get(path(`configmaps/${name}`)));
      t.match(found, { metadata: { annotations: { seen: 'yes' } }, data: { color: 'blue', applied: 'yes' } });
      return t.same(managerNames(found).toSorted(), ['gitops', 'kubectl-create', 'their-tool']);
    });
  }

  for (const type of ['Update', 'Patch', 'Delete'] as const)
    await t.test(`${type}, and others write an annotation between the snapshot and it`, async (t) => {
      const name = `between-${type}${suffix}`.toLowerCase();
      await createConfigMaps(stage, [name]);
      await stage.transaction(name, [change(type, name, type === 'Delete' ? undefined : green)]);
      await stepUntil(stage, name, 'Prepared');
      const stamp = await stampOf(stage, name);
      must(await client.patch(path(`configmaps/${name}`), { metadata: { annotations: { seen: 'yes' } } }, 'merge', theirs));
      t.not(await stampOf(stage, name), stamp);
      t.match(await stepToEnd(stage, name), { phase: 'Committed' });
    });

  await t.test('an applied path that another writer overwrites is still a conflict', async (t) => {
    const { name } = await setUp(stage, 'Patch', 'taken');
    await commit(stage, name, [change('Patch', name, green)]);
    must(await client.patch(path(`configmaps/${name}`), { data: { color: 'red' } }, 'merge', theirs));
    const status = await undo(stage, name, partial);
    t.match(status, { phase: 'Failed', message: /data\.color \(by their-tool\)/ });
    t.notMatch(textAt(status, 'message'), /data\.stamp/);
    await showAtRest(t, stage, name);
  });

  await t.test('a stamp that another manager has claimed is a conflict too', async (t) => {
    const { name } = await setUp(stage, 'Update', 'claimed');
    await commit(stage, name, [change('Update', name, green)]);
    const object: JsonObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { stamp: 'mine' } };
    must(await client.apply(path(`configmaps/${name}`), object, theirs));
    const status = await undo(stage, name, partial);
    t.match(status, { phase: 'Failed', message: /data\.stamp \(by their-tool\)/ });
    t.equal(at(itemsOf(status)[0], 'rolledBack'), undefined);
  });
});

t.test('the engine recognizes its Service although its node ports differ from those of the dry run', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const service = { apiVersion: 'v1', kind: 'Service' };
  const spec = (...ports: readonly number[]): JsonObject => ({
    spec: { type: 'NodePort', selector: { app: 'web' }, ports: ports.map((port) => ({ name: `p${port}`, port })) },
  });

  for (const type of types)
    await t.test(`${type}, the answer to its write lost`, async (t) => {
      const name = `lost-${type}`.toLowerCase();
      if (type !== 'Create') must(await client.create(path('services'), { ...service, metadata: { name }, ...spec(80) }));
      const before = await show(stage, name, 'services');
      await stage.transaction(name, [change(type, name, spec(80, 81), service)]);
      await stepUntil(stage, name, 'Prepared');
      await stage.call(name);
      t.match(await stepToEnd(stage, name), { phase: 'Committed' }, 'it is recognised');
      await undoAll(stage, name);
      t.same(await show(stage, name, 'services'), before);
    });
});
