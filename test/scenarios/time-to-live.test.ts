// spec.ttlSecondsAfterFinished: a finished Transaction deletes itself, and its snapshot goes with it.
import t from 'tap';
import { at } from '../../hooks/model/json.ts';
import { must, waitFor } from '../support/client.ts';
import { startStage } from '../support/stage.ts';

t.test('a finished Transaction goes after its time, one without a time stays', async (t) => {
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
  await waitFor(() => isGone(stage.path('configmaps/short-rollback')), 'its snapshot to be collected');
  t.equal((await client.get(path('kept'))).code, 200);
  const patched = must(await client.get(stage.path('configmaps/short')));
  t.equal(at(patched, 'data', 'version'), '2', 'what it has applied stays');
  t.notMatch(JSON.stringify(at(patched, 'metadata', 'managedFields')), /janus-short/, 'without our field manager');
});
