// A hook that starts beside Crossplane while no Crossplane runs serves every Transaction. Only package transactions wait.
import t from 'tap';
import { textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { createDeployment } from '../support/crossplane.ts';
import { conditionIn, startPackageWorld, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';

t.setTimeout(600_000);

const world = await startPackageWorld(t, { environment: { JANUS_PACKAGES_CROSSPLANE: 'beside' } });
const { client, source } = world;
const namespace = 'janus-packages';

t.test('package transactions wait until a Crossplane runs, and say so; Transactions do not wait', async (t) => {
  const schema = { type: 'object', properties: { one: { type: 'string' } } };
  await world.publish({ name: 'root', tag: 'v1.0.0', objects: [definitionOf('things', 'root.example.org', schema)] });
  await world.install('early', `${source('root')}:v1.0.0`, { packageName: 'root' });
  const waiting = await waitFor(async () => {
    const status = statusOf(await world.read('early'));
    return conditionIn(status, 'Validated')?.reason === 'WaitingForCrossplane' ? status : undefined;
  }, 'the package transaction to wait for Crossplane');
  t.equal(conditionIn(waiting, 'Validated')?.status, 'Unknown');
  t.match(conditionIn(waiting, 'Validated')?.message, /JANUS_PACKAGES_CROSSPLANE: .* found no Deployment .* install Crossplane/);
  t.match(conditionIn(waiting, 'Synced'), { status: 'False', reason: 'WaitingForCrossplane' });

  const target = { apiVersion: 'v1', kind: 'ConfigMap', name: 'plain' };
  const transactions = `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions`;
  must(
    await client.create(transactions, {
      apiVersion: 'tx.janus.io/v1alpha1',
      kind: 'Transaction',
      metadata: { name: 'plain' },
      spec: { serviceAccountName: namespace, changes: [{ type: 'Create', target, content: { data: { a: '1' } } }] },
    }),
  );
  await waitFor(
    async () => textAt(must(await client.get(`${transactions}/plain`)), 'status', 'phase') === 'Committed',
    'the Transaction to be Committed without a Crossplane',
  );
  t.equal(conditionIn(statusOf(await world.read('early')), 'Validated')?.reason, 'WaitingForCrossplane', 'it still waits');

  await createDeployment(client, '2.3.4');
  t.equal(conditionIn(await world.finished('early'), 'Ready')?.status, 'True');
});
