// Gates of kinds whose status comes from elsewhere: an address, a volume, a served API. And of what may not be read any more.
import t from 'tap';
import { at, type JsonObject } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { itemsOf } from '../../support/round-trip.ts';
import { account } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';
import { gated, openPlace, verdict } from './place.ts';
import { template } from './scene.ts';

t.test('a Service of type LoadBalancer waits for its address', async (t) => {
  const { stage, isThere, opens } = await openPlace(t);
  const spec = { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80 }] };
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'front' }, spec };
  await stage.transaction('address', [gated('Create', service), change('Create', 'behind', { data: {} })]);
  await opens('address', 0);
  t.match(itemsOf((await step(stage, 'address')).status)[0], { gate: { found: 'status.loadBalancer.ingress is empty' } });
  t.notOk(await isThere('configmaps/behind'));
  const status = { loadBalancer: { ingress: [{ ip: '192.0.2.7' }] } };
  must(await stage.client.patch(stage.path('services/front/status'), { status }, 'merge'));
  t.match(await stepToEnd(stage, 'address'), { phase: 'Committed' });
  t.ok(await isThere('configmaps/behind'));
});

const classes = '/apis/storage.k8s.io/v1/storageclasses';

function claim(storageClassName: string): JsonObject {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName };
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data' }, spec };
}

for (const volumeBindingMode of ['WaitForFirstConsumer', 'Immediate'])
  t.test(`a gate lets a PersistentVolumeClaim before its Pod pass, with a class that binds ${volumeBindingMode}`, async (t) => {
    const { stage, isThere, opens } = await openPlace(t);
    const name = `class-${stage.namespace}`;
    const metadata = { name };
    must(await stage.client.create(classes, { metadata, volumeBindingMode, provisioner: 'example.org/none' }));
    t.teardown(() => stage.client.delete(`${classes}/${name}`));
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
    const pod = { spec: { ...(at(template(), 'spec') as JsonObject), volumes } };
    await stage.transaction('claim', [gated('Create', claim(name)), change('Create', 'user', pod, { kind: 'Pod' })]);
    if (volumeBindingMode === 'Immediate') {
      await opens('claim', 0);
      t.match(itemsOf((await step(stage, 'claim')).status)[0], { gate: { found: /phase is Pending/ } });
      t.notOk(await isThere('pods/user'));
      await stage.annotate('claim', { 'tx.janus.io/request-rollback': 'yes' });
      t.match(await stepToEnd(stage, 'claim'), { phase: 'RolledBack' });
      return;
    }
    const { phase, status } = await stepToEnd(stage, 'claim');
    t.equal(phase, 'Committed');
    t.match(itemsOf(status)[0], { gate: { passed: true } });
    t.ok(await isThere('pods/user'));
  });

t.test('the engine waits for a CustomResourceDefinition before its first object', async (t) => {
  const { stage } = await openPlace(t);
  const group = `${stage.namespace}.example.org`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const names = { plural: 'gizmos', singular: 'gizmo', kind: 'Gizmo', listKind: 'GizmoList' };
  const spec = { group, scope: 'Namespaced', names, versions: [{ name: 'v1', served: true, storage: true, schema }] };
  const apiVersion = 'apiextensions.k8s.io/v1';
  const metadata = { name: `gizmos.${group}` };
  t.teardown(() => stage.client.delete(`/apis/${apiVersion}/customresourcedefinitions/${metadata.name}`));
  await stage.transaction('kind', [
    gated('Create', { apiVersion, kind: 'CustomResourceDefinition', metadata, spec }),
    change('Create', 'first', { size: 1 }, { apiVersion: `${group}/v1`, kind: 'Gizmo' }),
  ]);
  const { phase, status } = await stepToEnd(stage, 'kind');
  t.equal(phase, 'Committed');
  t.match(itemsOf(status)[0], { gate: { passed: true, found: /Established/ } });
  t.equal((await stage.client.get(stage.path(`${group}/v1/gizmos/first`))).code, 200);
});

t.test('the engine undoes all changes if the ServiceAccount may no longer read an object', async (t) => {
  const { stage, isThere, opens } = await openPlace(t);
  const { client, namespace, path } = stage;
  const spec = { type: 'LoadBalancer', ports: [{ port: 80 }] };
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'front' }, spec };
  await stage.transaction('blind', [gated('Create', service)]);
  await opens('blind', 0);
  const own = client.asServiceAccount(namespace, account);
  const mayRead = async (verbs: readonly string[], code: number): Promise<void> => {
    const rules = [{ apiGroups: ['*'], resources: ['*'], verbs }];
    must(await client.patch(`/apis/rbac.authorization.k8s.io/v1/clusterroles/${namespace}`, { rules }, 'merge'));
    await waitFor(async () => (await own.get(path('services/front'))).code === code, `the answer ${code}`);
  };
  await mayRead(['create', 'update', 'patch', 'delete'], 403);
  const { status } = await stepUntil(stage, 'blind', 'RollingBack');
  const message = /front cannot be read to see whether it is ready/;
  t.match(verdict(status, 0), {
    succeeded: { status: 'False', reason: 'Forbidden', message },
    error: { reason: 'Forbidden', message },
  });
  await mayRead(['*'], 200);
  t.match(await stepToEnd(stage, 'blind'), { phase: 'RolledBack' });
  t.notOk(await isThere('services/front'));
});
