// `kubectl delete --cascade=orphan` of a Transaction: its snapshot is nothing that anybody wants to keep.
import t from 'tap';
import { must, waitFor } from '../../support/client.ts';
import { snapshotParts } from '../../support/snapshots.ts';
import { startStage } from '../../support/stage.ts';
import { stepUntil, stepUntilGone } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

t.test('a Transaction that is deleted with its dependents orphaned leaves no snapshot', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  await createConfigMaps(stage, ['a']);
  await stage.transaction('orphaning', [change('Patch', 'a', { data: { color: 'green' } })]);
  await stepUntil(stage, 'orphaning', 'Committed');
  const path = `/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/orphaning`;
  must(await stage.client.delete(path, { propagationPolicy: 'Orphan' }));
  await stepUntilGone(stage, 'orphaning');
  const gone = async (): Promise<boolean> => (await snapshotParts(stage, 'orphaning')).length === 0;
  await t.resolves(waitFor(gone, 'the snapshot to go'));
});
