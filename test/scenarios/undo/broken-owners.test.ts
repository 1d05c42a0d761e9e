// An object that is to come back has an owner of a kind that cannot be read: that is waited for, and not for long. All else is undone
// meanwhile, and the object comes back, with its owner, once that can be read.
import t from 'tap';
import { at, textAt } from '../../../hooks/objects/json.ts';
import { breakSomeKind } from '../../support/broken-kind.ts';
import { must } from '../../support/client.ts';
import { ownControlPlane } from '../../support/own-control-plane.ts';
import { allowIrreversible, itemsOf, partial } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { stepTo, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

// A kind that cannot be listed is in the way of others' undos.
await ownControlPlane(t);

const blue = { data: { color: 'blue' } };

t.test('an owner that cannot be read', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path, namespace } = stage;
  const broken = await breakSomeKind(stage);
  t.teardown(broken.remove);
  const group = `${namespace}.example.org`;
  const thing = must(await client.get(`/apis/${group}/v1/namespaces/${namespace}/things/one`));
  const owner = { apiVersion: `${group}/v2`, kind: 'Thing', name: 'one', uid: textAt(thing, 'metadata', 'uid') ?? '' };
  must(await client.create(path('configmaps'), { metadata: { name: 'owned', ownerReferences: [owner] }, data: { a: 'b' } }));
  await createConfigMaps(stage, ['before', 'after']);
  const changes = [change('Patch', 'before', blue), change('Delete', 'owned'), change('Patch', 'after', blue)];
  await stage.transaction('undone', changes, { annotations: allowIrreversible, spec: { timeout: '20s' } });
  await stepUntil(stage, 'undone', 'Committed');
  await stepToEnd(stage, 'undone');
  await stage.annotate('undone', { 'tx.janus.io/request-rollback': 'yes', ...partial });

  const waits = new RegExp(`reading an owner, Thing of ${group.replaceAll('.', '\\.')}/v2, of ConfigMap .*/owned failed`);
  await stepTo(stage, 'undone', 'the owner to be named', ({ status }) => waits.test(textAt(status, 'message') ?? ''));
  const { status } = await stepToEnd(stage, 'undone');
  t.match(status, { phase: 'Failed' });
  const message = /owned has an owner, Thing of .* that cannot be read/;
  t.match(itemsOf(status), [{ rolledBack: true }, { left: true, error: { message } }, { rolledBack: true }]);
  t.notMatch(itemsOf(status)[1], { error: { reason: 'RollbackTimeout' } }, 'its time is not used up');

  await broken.repair();
  await stage.annotate('undone', { 'tx.janus.io/retry-rollback': 'yes' });
  t.match((await stepToEnd(stage, 'undone')).status, { phase: 'RolledBack' });
  t.match(at(must(await client.get(path('configmaps/owned'))), 'metadata', 'ownerReferences'), [owner]);
});
