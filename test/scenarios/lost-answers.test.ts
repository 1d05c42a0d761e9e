// A call takes locks and its answer is lost: nothing in the status names them. However the Transaction ends, they are given back.
import t from 'tap';
import { must } from '../support/client.ts';
import { account, startStage } from '../support/stage.ts';
import { stepToEnd } from '../support/stepping.ts';
import { change, createConfigMaps } from '../support/targets.ts';

const changes = ['a', 'b'].map((name) => change('Patch', name, { data: { color: 'green' } }));

t.test('locks of a call whose answer was lost are given back, however the Transaction ends', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  await createConfigMaps(stage, ['a', 'b']);
  await stage.transaction('stopped', changes);
  await stage.call('stopped');
  await stage.annotate('stopped', { 'tx.janus.io/request-rollback': 'yes' });
  t.match((await stepToEnd(stage, 'stopped')).status, { phase: 'Failed' });
  t.same(await stage.leases(), [], 'stopped on request');

  await stage.transaction('refused', changes);
  await stage.call('refused');
  must(await stage.client.delete(stage.path(`serviceaccounts/${account}`)));
  t.match((await stepToEnd(stage, 'refused')).status, { phase: 'Failed' });
  t.same(await stage.leases(), [], 'refused by a check that had passed before');
});
