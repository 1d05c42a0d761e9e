// What was deleted is made again as it was: labels, annotations, finalizers, owners that are still there, managedFields. What is
// on its way out is waited for; the status names each part that cannot come back.
import t from 'tap';
import { at, type JsonObject, textAt, withPath } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { commit, itemsOf, managerNames, partial, portrait, undo, undoAll } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

async function createOwner({ client, path }: Stage, name: string): Promise<JsonObject> {
  const owner = must(await client.create(path('configmaps'), { metadata: { name } }));
  return { apiVersion: 'v1', kind: 'ConfigMap', name, uid: textAt(owner, 'metadata', 'uid') ?? '', blockOwnerDeletion: false };
}

/** Made by one tool, a label applied by another, an annotation written by a third. */
async function createLoaded({ client, path }: Stage, name: string, metadata: JsonObject): Promise<string> {
  const where = path(`configmaps/${name}`);
  const object = { metadata: { name, labels: { team: 'shop' }, ...metadata }, data: { a: '1' }, binaryData: { b: 'AAE=' } };
  must(await client.create(path('configmaps'), object, { fieldManager: 'kubectl-create' }));
  const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { tier: 'front' } } };
  must(await client.apply(where, applied, { fieldManager: 'gitops' }));
  const annotations = { 'example.org/long': 'x'.repeat(5000), 'example.org/empty': '' };
  must(await client.patch(where, { metadata: { annotations } }, 'merge', { fieldManager: 'annotator' }));
  return where;
}

async function removeFinalizers({ client }: Stage, path: string): Promise<void> {
  must(await client.patch(path, { metadata: { finalizers: null } }));
  await waitFor(async () => (await client.get(path)).code === 404, `${path} to be gone`);
}

/**
 * The namespace controller lists every namespaced kind of the cluster before it lets a Namespace go, and retries after up to 60 s.
 * A kind that another test broke (broken-kind.ts) holds it up for as long, so the guard is far above that.
 */
async function waitUntilNamespaceGone({ client }: Stage, name: string): Promise<void> {
  const isGone = async (): Promise<boolean> => {
    const { code, body } = await client.get(`/api/v1/namespaces/${name}`);
    if (code === 404) return true;
    throw new Error(JSON.stringify(at(body, 'status', 'conditions')));
  };
  await waitFor(isGone, `the Namespace ${name} to be gone`, { timeoutMs: 400_000 });
}

t.test('the undo recreates a deleted object', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;

  await t.test('the undo restores labels, annotations, an existing owner and managedFields', async (t) => {
    const where = await createLoaded(stage, 'loaded', { ownerReferences: [await createOwner(stage, 'alive')] });
    const before = await portrait(stage, where, true);
    await commit(stage, 'loaded', [change('Delete', 'loaded')]);
    t.equal((await client.get(where)).code, 404);
    const status = await undoAll(stage, 'loaded');
    t.same(await portrait(stage, where, true), before);
    t.notOk(at(itemsOf(status)[0], 'note'), 'the status has no note');
  });

  await t.test('the undo waits for an object that a finalizer keeps, and restores it with its finalizer', async (t) => {
    const where = await createLoaded(stage, 'kept', { finalizers: ['example.org/clean-up', 'example.org/second'] });
    t.teardown(() => client.patch(where, { metadata: { finalizers: null } }));
    const before = await portrait(stage, where, true);
    await commit(stage, 'kept', [change('Create', 'beside', { data: { a: 'b' } }), change('Delete', 'kept')]);
    const leaving = must(await client.get(where));
    t.ok(at(leaving, 'metadata', 'deletionTimestamp'), 'it counts as deleted');
    await stage.annotate('kept', { 'tx.janus.io/request-rollback': 'yes' });
    await step(stage, 'kept');
    const waiting = await step(stage, 'kept');
    t.match(waiting, {
      phase: 'RollingBack',
      status: {
        message:
          /kept is being deleted; waiting until it is gone: finalizers keep it \(example\.org\/clean-up, example\.org\/second\)/,
      },
    });
    t.ok(waiting.resyncAfterSeconds > 0);
    await step(stage, 'kept');
    t.equal(textAt(must(await client.get(where)), 'metadata', 'uid'), textAt(leaving, 'metadata', 'uid'));
    await removeFinalizers(stage, where);
    t.match(await stepToEnd(stage, 'kept'), { phase: 'RolledBack' });
    t.same(await portrait(stage, where, true), before, 'finalizers included');
  });

  await t.test('the undo omits an owner that no longer exists, and a note says so', async (t) => {
    const [alive, gone] = [await createOwner(stage, 'stays'), await createOwner(stage, 'goes')];
    const where = await createLoaded(stage, 'orphan', { ownerReferences: [gone, alive] });
    const before = await portrait(stage, where, true);
    await commit(stage, 'orphan', [change('Delete', 'orphan')]);
    must(await client.delete(path('configmaps/goes')));
    const status = await undoAll(stage, 'orphan');
    t.match(
      textAt(itemsOf(status)[0], 'note'),
      new RegExp(`owner references dropped, their owners no longer exist: .*${textAt(gone, 'uid')}`),
    );
    const found = must(await client.get(where));
    t.match(at(found, 'metadata', 'ownerReferences'), [alive]);
    const expected = withPath(before as JsonObject, ['metadata', 'ownerReferences'], [alive]);
    const { managedFields: _theirs, ...rest } = expected;
    t.match(await portrait(stage, where, true), rest);
    t.same(managerNames(found).toSorted(), ['annotator', 'gitops', 'kubectl-create']);
  });

  await t.test('the undo omits an owner that a user recreated under its name', async (t) => {
    const where = await createLoaded(stage, 'adopted', { ownerReferences: [await createOwner(stage, 'renewed')] });
    await commit(stage, 'adopted', [change('Delete', 'adopted')]);
    must(await client.delete(path('configmaps/renewed')));
    await createOwner(stage, 'renewed');
    const status = await undoAll(stage, 'adopted');
    t.match(textAt(itemsOf(status)[0], 'note'), /owner references dropped/);
    t.equal(at(must(await client.get(where)), 'metadata', 'ownerReferences'), undefined);
  });

  await t.test('the undo waits for an object that a user recreated and deletes again', async (t) => {
    const where = await createLoaded(stage, 'theirs', {});
    const before = await portrait(stage, where, true);
    await commit(stage, 'theirs', [change('Delete', 'theirs')]);
    must(
      await client.create(path('configmaps'), {
        metadata: { name: 'theirs', finalizers: ['example.org/slow'] },
        data: { a: 'theirs' },
      }),
    );
    must(await client.delete(where));
    await stage.annotate('theirs', { 'tx.janus.io/request-rollback': 'yes' });
    await step(stage, 'theirs');
    const { phase } = await step(stage, 'theirs');
    t.equal(phase, 'RollingBack', 'a terminating object is no conflict');
    await removeFinalizers(stage, where);
    t.match(await stepToEnd(stage, 'theirs'), { phase: 'RolledBack' });
    t.same(await portrait(stage, where, true), before);
  });

  await t.test('the undo recreates an immutable object, and the undo of its Create deletes it', async (t) => {
    must(await client.create(path('configmaps'), { metadata: { name: 'frozen' }, immutable: true, data: { a: '1' } }));
    const before = await portrait(stage, path('configmaps/frozen'), true);
    await commit(stage, 'frozen', [change('Delete', 'frozen')]);
    await undoAll(stage, 'frozen');
    t.same(await portrait(stage, path('configmaps/frozen'), true), before);
  });

  await t.test('the engine stores an annotation that is newer than the snapshot, and the undo restores it', async (t) => {
    const where = await createLoaded(stage, 'noted', {});
    await stage.transaction('noted', [change('Delete', 'noted')]);
    await stepUntil(stage, 'noted', 'Prepared');
    must(await client.patch(where, { metadata: { annotations: { 'example.org/late': '1', 'example.org/empty': null } } }));
    const before = (await portrait(stage, where, true)) as JsonObject;
    const amended = await step(stage, 'noted');
    t.equal(amended.phase, 'Prepared', 'nothing is deleted by the call that stores');
    t.equal((await client.get(where)).code, 200);
    t.match(textAt(itemsOf(amended.status)[0], 'drift'), /example.org\/late/);
    t.match(await step(stage, 'noted'), { phase: 'Committed' });
    t.equal((await client.get(where)).code, 404);
    await undoAll(stage, 'noted');
    const { managedFields: _owners, ...content } = before;
    t.match(await portrait(stage, where, true), content);
    t.equal(at(must(await client.get(where)), 'metadata', 'annotations', 'example.org/empty'), undefined);
  });

  await t.test('an object with more annotations than the status can hold is a conflict: the engine keeps it', async (t) => {
    const where = await createLoaded(stage, 'wordy', {});
    await stage.transaction('wordy', [change('Delete', 'wordy')]);
    await stepUntil(stage, 'wordy', 'Prepared');
    must(await client.patch(where, { metadata: { annotations: { 'example.org/late': 'x'.repeat(2000) } } }));
    const before = await portrait(stage, where);
    t.match(await stepToEnd(stage, 'wordy'), {
      phase: 'RolledBack',
      status: { message: /metadata.annotations\[example.org\/late\]/ },
    });
    t.same(await portrait(stage, where), before);
  });

  await t.test('the status says so if the Namespace no longer exists', async (t) => {
    const elsewhere = `${stage.namespace}-elsewhere`;
    must(await client.create('/api/v1/namespaces', { metadata: { name: elsewhere } }));
    must(await client.create(`/api/v1/namespaces/${elsewhere}/configmaps`, { metadata: { name: 'lost' } }));
    await commit(stage, 'lost', [change('Delete', 'lost', undefined, { namespace: elsewhere })]);
    must(await client.delete(`/api/v1/namespaces/${elsewhere}`));
    await waitUntilNamespaceGone(stage, elsewhere);
    t.match(await undo(stage, 'lost', partial), {
      phase: 'Failed',
      message: /undoing Delete of ConfigMap \S+-elsewhere\/lost was refused: NotFound/,
    });
  });
});
