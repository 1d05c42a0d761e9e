// What is left when somebody forces the finalizers of a Transaction off: its Leases expire, its snapshot must not keep the
// namespace for ever. Both are swept.
import t from 'tap';
import { at, isList, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { sweepLeases, sweepSnapshots } from '../../../hooks/transactions/sweep.ts';
import { createCluster } from '../../../server/kubernetes/cluster.ts';
import { must, waitFor } from '../../support/client.ts';
import { sealerOf } from '../../support/engine.ts';
import { engineNamespace } from '../../support/install.ts';
import { connectionOf } from '../../support/kubeconfig.ts';
import { snapshotPath } from '../../support/snapshots.ts';
import { startStage } from '../../support/stage.ts';
import { stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

t.test('a Transaction whose finalizers were forced off leaves nothing behind for long', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client } = stage;
  const cluster = createCluster(connectionOf(stage.engineKubeconfig), { writeTimeout: 10_000 });
  t.teardown(() => cluster.close());
  must(await client.create(stage.path('configmaps'), { metadata: { name: 'app' }, data: { version: '1' } }));
  const target = { apiVersion: 'v1', kind: 'ConfigMap', name: 'app' };
  await stage.transaction('forced', [{ type: 'Patch', target, content: { data: { version: '2' } } }]);
  await stepUntil(stage, 'forced', 'Prepared');
  const snapshot = await snapshotPath(stage, 'forced');
  const sealer = await sealerOf(cluster);
  await sweepLeases(cluster, engineNamespace);
  await sweepSnapshots(cluster, sealer);
  t.equal((await stage.leases()).length, 1, 'the Lease of a living Transaction stays');
  t.ok(isList(at(must(await client.get(snapshot)), 'metadata', 'finalizers')), 'the finalizer of its snapshot stays too');

  const path = `/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/forced`;
  must(await client.delete(path));
  await client.patch(path, { metadata: { finalizers: null } });
  await waitFor(async () => (await client.get(path)).code === 404, 'the Transaction to be gone');
  await sweepLeases(cluster, engineNamespace);
  t.equal((await stage.leases()).length, 1, 'a Lease is swept only when it has expired');
  const [name = ''] = await stage.leases();
  const lease = `/apis/coordination.k8s.io/v1/namespaces/${engineNamespace}/leases/${name}`;
  must(await client.patch(lease, { spec: { renewTime: '2020-01-01T00:00:00.000000Z' } }));
  await sweepLeases(cluster, engineNamespace);
  t.same(await stage.leases(), []);
  await sweepSnapshots(cluster, sealer);
  const isGone = async (): Promise<boolean> => (await client.get(snapshot)).code === 404;
  await waitFor(isGone, 'the garbage collector to take the snapshot');
  t.equal(textAt(must(await client.get(stage.path('configmaps/app'))), 'data', 'version'), '1');
});

t.test('the engine deletes a Lease that was created after its Transaction had released its locks', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client } = stage;
  const cluster = createCluster(connectionOf(stage.kubeconfig), { writeTimeout: 10_000 });
  t.teardown(() => cluster.close());
  await createConfigMaps(stage, ['late']);
  await stage.transaction('late', [change('Patch', 'late', { data: { color: 'green' } })], { spec: { lockTimeout: '1h' } });
  await stepUntil(stage, 'late', 'Prepared');
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${engineNamespace}/leases`;
  const [name = ''] = await stage.leases();
  const { metadata, spec } = must(await client.get(`${leases}/${name}`));
  await stepToEnd(stage, 'late');
  t.same(await stage.leases(), []);

  const { labels = {}, annotations = {} } = metadata as JsonObject;
  must(await client.create(leases, { metadata: { name, labels, annotations }, spec: spec ?? {} }));
  await sweepLeases(cluster, engineNamespace);
  t.same(await stage.leases(), [name], 'a call that takes the locks again may be about to report it');
  const renewTime = new Date(Date.now() - 180_000).toISOString().replace('Z', '000Z');
  must(await client.patch(`${leases}/${name}`, { spec: { renewTime } }));
  await sweepLeases(cluster, engineNamespace);
  t.same(await stage.leases(), []);
});
