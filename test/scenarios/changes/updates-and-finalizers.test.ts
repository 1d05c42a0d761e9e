// A PUT drops what its content does not name. Finalizers and owners are for others to take off: an Update keeps them unless its
// content has a list of its own, and its undo gives back what it took, whatever others have done to the rest.
import t from 'tap';
import { at, isList, type Json, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { commit, itemsOf, portrait, undoAll } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const [cleanUp, second, third] = ['example.org/clean-up', 'example.org/second', 'example.org/third'] as const;

async function ownerOf({ client, path }: Stage, name: string): Promise<JsonObject> {
  const owner = must(await client.create(path('configmaps'), { metadata: { name } }));
  return { apiVersion: 'v1', kind: 'ConfigMap', name, uid: textAt(owner, 'metadata', 'uid') ?? '' };
}

/** Of one tool, with a label of another. */
async function createFinal({ client, path }: Stage, name: string, metadata: JsonObject): Promise<string> {
  const where = path(`configmaps/${name}`);
  const object = { metadata: { name, ...metadata }, data: { a: '1', b: '1' } };
  must(await client.create(path('configmaps'), object, { fieldManager: 'kubectl-create' }));
  const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { tier: 'front' } } };
  must(await client.apply(where, applied, { fieldManager: 'gitops' }));
  return where;
}

/** Puts other finalizers in place of those that are there. */
async function setFinalizers({ client }: Stage, where: string, finalizers: Json): Promise<void> {
  must(await client.patch(where, { metadata: { finalizers } }, 'merge', { fieldManager: 'controller' }));
}

const green = (metadata?: JsonObject): JsonObject => ({ ...(metadata && { metadata }), data: { a: '2' } });

t.test('an Update changes finalizers and owners only if it names them', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const finalizersOf = async (where: string): Promise<Json | undefined> =>
    at(must(await client.get(where)), 'metadata', 'finalizers');
  const ownersOf = async (where: string): Promise<Json | undefined> =>
    at(must(await client.get(where)), 'metadata', 'ownerReferences');
  // What keeps a namespace from going.
  t.teardown(async () => {
    for (const { metadata } of (await client.list(path('configmaps'))).items) {
      const mayStay = isList(at(metadata, 'finalizers')) && !textAt(metadata, 'name')?.includes('-rollback');
      if (mayStay) await client.patch(path(`configmaps/${textAt(metadata, 'name')}`), { metadata: { finalizers: null } });
    }
  });

  await t.test('an Update that does not name them keeps them, and its undo keeps them too', async (t) => {
    const owners = [await ownerOf(stage, 'keeper')];
    const where = await createFinal(stage, 'kept', { finalizers: [cleanUp, second], ownerReferences: owners });
    const before = await portrait(stage, where);
    await commit(stage, 'kept', [change('Update', 'kept', green({ labels: { team: 'ours' } }))]);
    const updated = must(await client.get(where));
    t.match(updated, { metadata: { finalizers: [cleanUp, second], ownerReferences: owners, labels: { team: 'ours' } } });
    t.same(
      [at(updated, 'data'), at(updated, 'metadata', 'labels')],
      [{ a: '2' }, { team: 'ours' }],
      'all else is as content says',
    );
    await undoAll(stage, 'kept');
    t.same(await portrait(stage, where), before);
  });

  await t.test('finalizers and owners of other writers cause no conflict, and the undo leaves them', async (t) => {
    const where = await createFinal(stage, 'moving', { finalizers: [cleanUp] });
    await stage.transaction('moving', [change('Create', 'beside', { data: { a: 'b' } }), change('Update', 'moving', green())]);
    await stepUntil(stage, 'moving', 'Committing');
    const owners = [await ownerOf(stage, 'adopter')];
    await setFinalizers(stage, where, [second]);
    must(await client.patch(where, { metadata: { ownerReferences: owners } }, 'merge', { fieldManager: 'controller' }));
    const between = await portrait(stage, where);
    t.equal((await stepToEnd(stage, 'moving')).phase, 'Committed');
    t.same([await finalizersOf(where), await ownersOf(where)], [[second], owners]);
    await undoAll(stage, 'moving');
    t.same(await portrait(stage, where), between, 'undone, with what the controller did in between');

    await commit(stage, 'moving-on', [change('Update', 'moving', green())]);
    await setFinalizers(stage, where, [second, third]);
    await undoAll(stage, 'moving-on');
    t.same(await finalizersOf(where), [second, third], 'added since the change');
    await commit(stage, 'moving-off', [change('Update', 'moving', green())]);
    await setFinalizers(stage, where, null);
    await undoAll(stage, 'moving-off');
    t.equal(await finalizersOf(where), undefined, 'taken off since the change: it does not come back');
  });

  await t.test('an Update that names them replaces them, even by an empty list, and its undo restores them', async (t) => {
    for (const [index, list] of [[third], [], null].entries()) {
      const name = `named-${index}`;
      const owners = [await ownerOf(stage, `owner-${index}`)];
      const where = await createFinal(stage, name, { finalizers: [cleanUp, second], ownerReferences: owners });
      const before = await portrait(stage, where);
      await commit(stage, name, [change('Update', name, green({ finalizers: list, ownerReferences: [] }))]);
      t.same([(await finalizersOf(where)) ?? [], await ownersOf(where)], [list ?? [], undefined]);
      await undoAll(stage, name);
      t.same(await portrait(stage, where), before, `after ${JSON.stringify(list)}`);
    }
  });

  await t.test('an Update that names them conflicts with a writer that has changed them since the snapshot', async (t) => {
    const where = await createFinal(stage, 'disputed', { finalizers: [cleanUp] });
    const changes = [
      change('Create', 'aside', { data: { a: 'b' } }),
      change('Update', 'disputed', green({ finalizers: [cleanUp] })),
    ];
    await stage.transaction('disputed', changes);
    await stepUntil(stage, 'disputed', 'Committing');
    await setFinalizers(stage, where, [cleanUp, second]);
    t.match(await stepToEnd(stage, 'disputed'), {
      phase: 'RolledBack',
      status: { message: /finalizers\["example\.org\/second"\]/ },
    });
    t.same(await finalizersOf(where), [cleanUp, second]);
  });

  await t.test('the undo of an Update that names them keeps those that other writers have added since', async (t) => {
    const where = await createFinal(stage, 'joined', { finalizers: [cleanUp] });
    await commit(stage, 'joined', [change('Update', 'joined', green({ finalizers: [second] }))]);
    await setFinalizers(stage, where, [second, third]);
    await undoAll(stage, 'joined');
    t.same(new Set((await finalizersOf(where)) as readonly string[]), new Set([cleanUp, third]));
  });

  await t.test('the undo omits a missing owner, because the garbage collector would delete the object', async (t) => {
    const [alive, gone] = [await ownerOf(stage, 'stays'), await ownerOf(stage, 'goes')];
    const shared = await createFinal(stage, 'shared', { ownerReferences: [gone, alive] });
    const single = await createFinal(stage, 'single', { ownerReferences: [gone] });
    const updates = ['shared', 'single'].map((name) => change('Update', name, green({ ownerReferences: [] })));
    await commit(stage, 'disowning', updates);
    must(await client.delete(path('configmaps/goes')));
    const status = await undoAll(stage, 'disowning');
    const note = `owner references dropped, their owners no longer exist: ${gone.uid}`;
    t.same(
      itemsOf(status).map((item) => at(item, 'note')),
      [note, note],
    );
    t.same([await ownersOf(shared), await ownersOf(single)], [[alive], undefined]);
    t.match(must(await client.get(single)), { data: { a: '1', b: '1' } }, 'all else is back');
  });

  await t.test('an Update of a volume claim keeps the finalizer of the API server', async (t) => {
    const spec = { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources: { requests: { storage: '1Gi' } } };
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
    const where = path('persistentvolumeclaims/data');
    must(await client.create(path('persistentvolumeclaims'), { ...claim, metadata: { name: 'data' }, spec }));
    t.same(await finalizersOf(where), ['kubernetes.io/pvc-protection']);
    const before = await portrait(stage, where);
    const content = { metadata: { labels: { a: 'b' } }, spec: { ...spec, volumeMode: 'Filesystem' } };
    await commit(stage, 'claim', [change('Update', 'data', content, claim)]);
    t.same(await finalizersOf(where), ['kubernetes.io/pvc-protection']);
    await undoAll(stage, 'claim');
    t.same(await portrait(stage, where), before);
    must(await client.patch(where, { metadata: { finalizers: null } }));
  });
});
