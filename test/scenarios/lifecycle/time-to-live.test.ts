// spec.ttlSecondsAfterFinished: a finished Transaction deletes itself, and its snapshot goes with it.
import t from 'tap';
import { at } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { snapshotParts } from '../../support/snapshots.ts';
import { startStage } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil, stepUntilGone } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

t.test('the engine deletes a finished Transaction after its time, and keeps one without a time', async (t) => {
  const stage = await startStage(t);
  const { client } = stage;
  for (const name of ['short', 'kept']) {
    must(await client.create(stage.path('configmaps'), { metadata: { name }, data: { version: '1' } }));
  }
  const patch = (name: string) => [
    { type: 'Patch', target: { apiVersion: 'v1', kind: 'ConfigMap', name }, content: { data: { version: '2' } } },
  ];
  await stage.transaction('kept', patch('kept'));
  await stage.finished('kept');
  await stage.transaction('short', patch('short'), { spec: { ttlSecondsAfterFinished: 1 } });
  const path = (name: string) => `/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/${name}`;
  const isGone = async (of: string): Promise<boolean> => (await client.get(of)).code === 404;
  await waitFor(() => isGone(path('short')), 'the Transaction to delete itself');
  await waitFor(async () => (await snapshotParts(stage, 'short')).length === 0, 'its snapshot to be collected');
  t.equal((await client.get(path('kept'))).code, 200);
  const patched = must(await client.get(stage.path('configmaps/short')));
  t.equal(at(patched, 'data', 'version'), '2', 'what it has applied stays');
  t.notMatch(JSON.stringify(at(patched, 'metadata', 'managedFields')), /janus-short/, 'without our field manager');
});

t.test('a Transaction stays while its undo is incomplete, because its snapshot is the only copy', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client } = stage;
  const ttl = { spec: { ttlSecondsAfterFinished: 1 } };
  const precious = stage.path('configmaps/precious');
  await createConfigMaps(stage, ['precious', 'other'], { worth: 'much' });
  const before = await portraits(client, [precious], true);
  const patch = change('Patch', 'other', { data: { worth: 'less' } });
  await stage.transaction('left', [change('Delete', 'precious'), patch], ttl);
  await stepUntil(stage, 'left', 'Committing');
  must(await client.create(stage.path('configmaps'), { metadata: { name: 'precious' }, data: { worth: 'nothing' } }));
  await stage.annotate('left', { 'tx.janus.io/request-rollback': '1' });
  const { status } = await stepUntil(stage, 'left', 'Failed');
  t.match(status, { message: /retry-rollback.*spec\.ttlSecondsAfterFinished does not delete it.*only copy/ });
  await stepToEnd(stage, 'left');
  // One that has ended later is deleted: the time of the first is over as well.
  await stage.transaction('later', [patch], ttl);
  await stepUntilGone(stage, 'later');
  t.match(await step(stage, 'left'), { phase: 'Failed', gone: false, resyncAfterSeconds: 0 }, 'nothing is planned for it');
  t.notOk(at(await stage.read('left'), 'metadata', 'deletionTimestamp'), 'nor is it being deleted');
  must(await client.delete(precious));
  await stage.annotate('left', { 'tx.janus.io/retry-rollback': '1' });
  await stepUntil(stage, 'left', 'RolledBack');
  t.same(await portraits(client, [precious], true), before, 'the only copy has come back');
  t.ok((await stepUntilGone(stage, 'left')).gone, 'with nothing left it goes after its time');
});
