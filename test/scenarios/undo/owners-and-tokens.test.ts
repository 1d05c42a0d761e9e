// What Kubernetes would delete again is not given to an object, or the Transaction is refused: owners that are not there, or that may
// not be read, and the token of a ServiceAccount that is another one now.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { causeOf, isThere, ownerOf } from '../../support/owned.ts';
import { commit, itemsOf, undoAll } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { stepTo, stepToEnd } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

const nobody = { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: '12345678-1234-1234-1234-123456789012' };
const blue = { data: { color: 'blue' } };

/** The garbage collector has come by: it has deleted each object whose only owner is missing. */
async function collectGarbage({ client, path }: Stage, name: string): Promise<void> {
  must(await client.create(path('configmaps'), { metadata: { name, ownerReferences: [nobody] } }));
  await waitFor(async () => (await client.get(path(`configmaps/${name}`))).code === 404, 'the garbage collector');
}

t.test('a token Secret that was deleted before its ServiceAccount comes back, as the token of the new one', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const type = 'kubernetes.io/service-account-token';
  const annotations = { 'kubernetes.io/service-account.name': 'robot', theirs: 'yes' };
  const account = (): Promise<JsonObject> => client.get(path('serviceaccounts/robot')).then(must);
  const token = async (): Promise<JsonObject> => (await client.get(path('secrets/token'))).body;
  const isOf = (secret: JsonObject, owner: JsonObject): boolean =>
    at(secret, 'data', 'token') !== undefined &&
    at(secret, 'metadata', 'annotations', 'kubernetes.io/service-account.uid') === at(owner, 'metadata', 'uid');
  must(await client.create(path('serviceaccounts'), { metadata: { name: 'robot' } }));
  const data = { theirs: 'eWVz' };
  must(await client.create(path('secrets'), { metadata: { name: 'token', annotations }, type, data }));
  const old = await account();
  await waitFor(async () => isOf(await token(), old), 'the token');
  const before = await token();
  const tokenOnly = change('Delete', 'token', undefined, { kind: 'Secret' });

  await t.test('the undo of the ServiceAccount alone keeps the token', async (t) => {
    await commit(stage, 'alone', [tokenOnly]);
    await undoAll(stage, 'alone');
    t.same(at(await token(), 'data'), at(before, 'data'));
  });

  await t.test('the undo of both recreates the token', async (t) => {
    await commit(stage, 'both', [tokenOnly, change('Delete', 'robot', undefined, { kind: 'ServiceAccount' })]);
    const status = await undoAll(stage, 'both');
    t.match(itemsOf(status)[0], { note: /it gets a new token: its ServiceAccount was recreated or cannot be read$/ });
    const now = await account();
    t.not(at(now, 'metadata', 'uid'), at(old, 'metadata', 'uid'));
    await waitFor(async () => isOf(await token(), now), 'the new token');
    t.match(await token(), { metadata: { annotations: { theirs: 'yes' } }, data });
    t.not(at(await token(), 'data', 'token'), at(before, 'data', 'token'));
  });

  await t.test('the undo waits while the ServiceAccount does not exist', async (t) => {
    await createConfigMaps(stage, ['beside'], { color: 'green' });
    await commit(stage, 'waiting', [tokenOnly, change('Patch', 'beside', blue)]);
    must(await client.delete(path('serviceaccounts/robot')));
    await waitFor(async () => (await client.get(path('serviceaccounts/robot'))).code === 404, 'it to be gone');
    await stage.annotate('waiting', { 'tx.janus.io/request-rollback': 'yes' });
    const waits = /token of a ServiceAccount that does not exist/;
    await stepTo(stage, 'waiting', 'it to be waited for', ({ status }) => waits.test(textAt(status, 'message') ?? ''));
    t.match(must(await client.get(path('configmaps/beside'))), blue, 'nothing is undone meanwhile');
    t.match((await stage.read('waiting')).status, { phase: 'Committed' });
    must(await client.create(path('serviceaccounts'), { metadata: { name: 'robot' } }));
    t.match((await stepToEnd(stage, 'waiting')).status, { phase: 'RolledBack' });
    await waitFor(async () => isOf(await token(), await account()), 'the token of the next one');
  });
});

t.test('a change names an owner that does not exist', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  await createConfigMaps(stage, ['target', 'owner', 'owned']);
  const owned = { metadata: { ownerReferences: [nobody] } };
  const updated = { ...blue, ...owned };

  await t.test('pre-flight refuses an owner that is being deleted', async (t) => {
    must(await client.create(path('configmaps'), { metadata: { name: 'leaving', finalizers: ['example.org/held'] } }));
    const leaving = must(await client.get(path('configmaps/leaving')));
    must(await client.delete(path('configmaps/leaving')));
    t.teardown(() => client.patch(path('configmaps/leaving'), { metadata: { finalizers: null } }));
    await stage.transaction('leaving', [change('Patch', 'target', { metadata: { ownerReferences: [ownerOf(leaving)] } })]);
    const { status } = await stepToEnd(stage, 'leaving');
    t.match(status, { phase: 'Failed', message: /is given ConfigMap leaving \(uid .*\) as owner, which will not exist/ });
    t.equal(causeOf(status), 'Invalid');
  });

  for (const [name, one] of [
    ['patch', change('Patch', 'target', owned)],
    ['update', change('Update', 'target', updated)],
    ['create', change('Create', 'made', updated)],
  ] as const)
    await t.test(`pre-flight refuses the owner in a change of type ${name}`, async (t) => {
      await stage.transaction(name, [one]);
      const { status } = await stepToEnd(stage, name);
      const message =
        /nothing was applied: .*is given ConfigMap nobody \(uid 12345678-.*\) as owner, which will not exist: .*remove/;
      t.match(status, { phase: 'Failed', message });
      t.equal(causeOf(status), 'Invalid');
      await collectGarbage(stage, `garbage-${name}`);
      t.ok(await isThere(stage, path('configmaps/target')));
    });

  await t.test('pre-flight refuses an owner that an earlier change of this Transaction deletes', async (t) => {
    const owner = must(await client.get(path('configmaps/owner')));
    const given = { metadata: { ownerReferences: [ownerOf({ apiVersion: 'v1', kind: 'ConfigMap', ...owner })] } };
    await stage.transaction('deleted', [change('Delete', 'owner'), change('Patch', 'target', given)]);
    t.match((await stepToEnd(stage, 'deleted')).status, { phase: 'Failed', message: /changes\[1\].*is given ConfigMap owner/ });
    await commit(stage, 'given', [change('Patch', 'target', given)]);
    await undoAll(stage, 'given');
    t.equal(at(must(await client.get(path('configmaps/target'))), 'metadata', 'ownerReferences'), undefined);
  });
});

t.test('the ServiceAccount may not read an owner', async (t) => {
  const verbs = ['get', 'list', 'create', 'update', 'patch', 'delete'];
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs }];
  const stage = await startStage(t, { withoutLoop: true, rules });
  const { client, path } = stage;
  const owner = must(await client.create(path('secrets'), { metadata: { name: 'owner' } }));
  const ownerReferences = [ownerOf({ apiVersion: 'v1', kind: 'Secret', ...owner })];
  must(await client.create(path('configmaps'), { metadata: { name: 'child', ownerReferences }, ...blue }));

  await t.test('pre-flight refuses to set an owner that the ServiceAccount may not read', async (t) => {
    await createConfigMaps(stage, ['target']);
    await stage.transaction('given', [change('Patch', 'target', { metadata: { ownerReferences } })]);
    const { status } = await stepToEnd(stage, 'given');
    t.match(status, {
      phase: 'Failed',
      message: /is given Secret owner \(uid .*\) as owner, which ServiceAccount .* may not read/,
    });
    t.equal(causeOf(status), 'Forbidden');
  });

  await t.test('the undo omits an owner that it cannot read, because the owner may be gone', async (t) => {
    await commit(stage, 'child', [change('Delete', 'child')]);
    must(await client.delete(path('secrets/owner')));
    const status = await undoAll(stage, 'child');
    t.match(itemsOf(status)[0], {
      note: /references dropped, their owners cannot be read, and may no longer exist: /,
    });
    await collectGarbage(stage, 'garbage');
    t.match(must(await client.get(path('configmaps/child'))), blue);
  });
});
