// The address of a deleted Service, which another Service has got before the undo.
import t from 'tap';
import { textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { commit, itemsOf, partial, undo } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const service = { apiVersion: 'v1', kind: 'Service' };
const ports = [{ port: 80 }];

t.test('the undo waits for a person to free it', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const before = must(await client.create(path('services'), { ...service, metadata: { name: 'shop' }, spec: { ports } }));
  const clusterIP = textAt(before, 'spec', 'clusterIP') ?? '';
  await commit(stage, 'gone', [change('Delete', 'shop', undefined, service)]);
  must(await client.create(path('services'), { ...service, metadata: { name: 'other' }, spec: { ports, clusterIP } }));
  const left = await undo(stage, 'gone', partial);
  t.match(left, { phase: 'Failed' });
  t.match(itemsOf(left)[0], { error: { message: new RegExp(clusterIP.replaceAll('.', '\\.')) } });
  t.equal((await client.get(path('services/shop'))).code, 404);
  must(await client.delete(path('services/other')));
  await stage.annotate('gone', { 'tx.janus.io/retry-rollback': 'yes' });
  t.match((await stepToEnd(stage, 'gone')).status, { phase: 'RolledBack' });
  t.match(must(await client.get(path('services/shop'))), { spec: { clusterIP } });
});
