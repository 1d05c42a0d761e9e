// What controllers of Kubernetes destroy in answer to a change of fields: such a change is refused, and an undo that would do it leaves
// the object.
import t, { type Test } from 'tap';
import { type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { causeOf, isThere } from '../../support/owned.ts';
import { allowIrreversible, commit, failAfter, itemsOf, partial, undo } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

async function refused(t: Test, stage: Stage, one: JsonObject, why: RegExp): Promise<void> {
  const name = `no-${textAt(one, 'target', 'name')}`;
  await stage.transaction(name, [one]);
  const { status } = await stepToEnd(stage, name);
  t.match(status, { phase: 'Failed', message: why });
  t.equal(causeOf(status), 'Irreversible');
}

function left(t: Test, status: JsonObject, why: RegExp): void {
  t.match(status, { phase: 'Failed' });
  t.match(itemsOf(status)[0], { left: true, error: { reason: 'NotEmpty', message: why } });
}

async function retried(stage: Stage, name: string): Promise<JsonObject> {
  await stage.annotate(name, { 'tx.janus.io/retry-rollback': 'yes' });
  return (await stepToEnd(stage, name)).status;
}

t.test('a StatefulSet deletes claims when it has fewer Pods', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path, namespace } = stage;
  const apps = { apiVersion: 'apps/v1', kind: 'StatefulSet' };
  const set = (name: string): string => path(`apps/v1/statefulsets/${name}`);
  const claim = (name: string, ordinal: number): string => path(`persistentvolumeclaims/data-${name}-${ordinal}`);
  const claimSpec = { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Mi' } } };
  const retention = (whenScaled: string): JsonObject => ({
    spec: { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled } },
  });
  const make = async (name: string, replicas: number): Promise<void> => {
    const template = { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'db', image: 'example.org/db:1' }] } };
    const spec = {
      replicas,
      podManagementPolicy: 'Parallel',
      serviceName: name,
      selector: { matchLabels: { app: name } },
      template,
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claimSpec }],
      ...(retention('Delete').spec as JsonObject),
    };
    must(await client.create(path('apps/v1/statefulsets'), { ...apps, metadata: { name }, spec }));
  };
  /** As the binder of volumes does. */
  const bind = async (name: string, ordinal: number): Promise<void> => {
    await waitFor(() => isThere(stage, claim(name, ordinal)), 'the claim');
    must(await client.patch(claim(name, ordinal), { spec: { volumeName: `${namespace}-${name}` } }));
  };
  const scale = (name: string, replicas: number): JsonObject => change('Patch', name, { spec: { replicas } }, apps);

  await t.test('pre-flight refuses the change because of the claims', async (t) => {
    await make('down', 2);
    await bind('down', 1);
    await refused(t, stage, scale('down', 1), /delete the claims of the Pods that go.*allow-irreversible/);
    t.ok(await isThere(stage, claim('down', 1)));
    await commit(stage, 'allowed', [scale('down', 1)], allowIrreversible);
    await waitFor(async () => !(await isThere(stage, claim('down', 1))), 'the claim to go');
  });

  await t.test('the undo of a Committed change keeps the replicas until the claims are retained', async (t) => {
    await make('up', 1);
    await commit(stage, 'up', [scale('up', 2)]);
    await bind('up', 1);
    left(
      t,
      await undo(stage, 'up', partial),
      /delete the claims.*PersistentVolumeClaim \S*data-up-1\).*set whenScaled to Retain/,
    );
    t.ok(await isThere(stage, claim('up', 1)));
    must(await client.patch(set('up'), retention('Retain')));
    t.match(await retried(stage, 'up'), { phase: 'RolledBack' });
    t.match(must(await client.get(set('up'))), { spec: { replicas: 1 } });
    t.ok(await isThere(stage, claim('up', 1)));
  });

  await t.test('the claims refuse nothing if they are unbound, or if the change never was Committed', async (t) => {
    await make('empty', 1);
    await commit(stage, 'empty', [scale('empty', 2)]);
    await waitFor(() => isThere(stage, claim('empty', 1)), 'the claim');
    t.match(await undo(stage, 'empty'), { phase: 'RolledBack' });
    await make('never', 1);
    t.match(await failAfter(stage, 'never', scale('never', 2), () => bind('never', 1)), { phase: 'RolledBack' });
  });

  await t.test('claims that are older than the Transaction refuse the undo', async (t) => {
    await make('older', 1);
    must(await client.create(path('persistentvolumeclaims'), { metadata: { name: 'data-older-1' }, spec: claimSpec }));
    await bind('older', 1);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    left(t, await failAfter(stage, 'older', scale('older', 2), async () => {}), /PersistentVolume \S+-older/);
    t.ok(await isThere(stage, claim('older', 1)));
  });
});

t.test('a change concerns a volume that is bound to no claim', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, namespace } = stage;
  const volumes = '/api/v1/persistentvolumes';
  const parts = { apiVersion: 'v1', kind: 'PersistentVolume' };
  const policy = (persistentVolumeReclaimPolicy: string): JsonObject => ({ spec: { persistentVolumeReclaimPolicy } });
  const make = async (name: string, persistentVolumeReclaimPolicy: string): Promise<string> => {
    const full = `${namespace}-${name}`;
    const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/nowhere' } };
    must(await client.create(volumes, { metadata: { name: full }, spec: { ...spec, persistentVolumeReclaimPolicy } }));
    t.teardown(() => client.delete(`${volumes}/${full}`));
    return full;
  };
  /** As the binder of volumes does once the claim is gone. */
  const release = async (name: string): Promise<void> => {
    must(await client.patch(`${volumes}/${name}/status`, { status: { phase: 'Released' } }));
  };
  const policyOf = async (name: string): Promise<string | undefined> =>
    textAt(must(await client.get(`${volumes}/${name}`)), 'spec', 'persistentVolumeReclaimPolicy');

  await t.test('pre-flight refuses another reclaim policy for the volume', async (t) => {
    const name = await make('kept', 'Retain');
    await release(name);
    await refused(t, stage, change('Patch', name, policy('Delete'), parts), /would delete the volume/);
    t.equal(await policyOf(name), 'Retain');
  });

  await t.test('the undo keeps the new policy if the claim was deleted since', async (t) => {
    const name = await make('gone', 'Delete');
    await commit(stage, 'gone', [change('Patch', name, policy('Retain'), parts)]);
    await release(name);
    left(t, await undo(stage, 'gone', partial), /would delete the volume/);
    t.equal(await policyOf(name), 'Retain');
  });
});

t.test('a change binds a volume to another claim', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, namespace } = stage;
  const volumes = '/api/v1/persistentvolumes';
  const parts = { apiVersion: 'v1', kind: 'PersistentVolume' };
  const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: 'old', uid: `${namespace}-uid` };
  const make = async (name: string, persistentVolumeReclaimPolicy: string): Promise<string> => {
    const full = `${namespace}-${name}`;
    const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/nowhere' } };
    const volume = { metadata: { name: full }, spec: { ...spec, claimRef, persistentVolumeReclaimPolicy } };
    must(await client.create(volumes, volume));
    t.teardown(() => client.delete(`${volumes}/${full}`));
    return full;
  };
  const renamed = (name: string): JsonObject => change('Patch', name, { spec: { claimRef: { name: 'new' } } }, parts);

  await t.test('pre-flight refuses the change of claimRef if Kubernetes would delete the volume', async (t) => {
    await refused(t, stage, renamed(await make('deleted', 'Delete')), /if no claim has that name and uid: its claimRef changes/);
    const retained = await make('retained', 'Retain');
    await commit(stage, 'retained', [renamed(retained)]);
    t.match(await undo(stage, 'retained'), { phase: 'RolledBack' });
  });

  await t.test('the undo keeps the claim if Kubernetes would delete the volume', async (t) => {
    const name = await make('moved', 'Retain');
    await commit(stage, 'moved', [renamed(name)]);
    must(await client.patch(`${volumes}/${name}`, { spec: { persistentVolumeReclaimPolicy: 'Delete' } }));
    left(t, await undo(stage, 'moved', partial), /its claimRef changes, and its policy is Delete/);
    t.equal(textAt(must(await client.get(`${volumes}/${name}`)), 'spec', 'claimRef', 'name'), 'new');
  });
});

t.test('a token Secret keeps its ServiceAccount', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const ofAccount = (name: string): JsonObject => ({ metadata: { annotations: { 'kubernetes.io/service-account.name': name } } });
  for (const name of ['robot', 'other']) must(await client.create(path('serviceaccounts'), { metadata: { name } }));
  const type = 'kubernetes.io/service-account-token';
  must(
    await client.create(path('secrets'), { type, metadata: { name: 'token', ...(ofAccount('robot').metadata as JsonObject) } }),
  );
  const token = async (): Promise<string | undefined> => textAt((await client.get(path('secrets/token'))).body, 'data', 'token');
  await waitFor(async () => (await token()) !== undefined, 'the token');
  const before = await token();
  const secret = { apiVersion: 'v1', kind: 'Secret' };
  await refused(t, stage, change('Patch', 'token', ofAccount('other'), secret), /would be of another ServiceAccount; annotate/);
  await commit(stage, 'label', [change('Patch', 'token', { metadata: { labels: { seen: 'yes' } } }, secret)]);
  t.equal(await token(), before);
  await commit(stage, 'allowed', [change('Patch', 'token', ofAccount('other'), secret)], allowIrreversible);
  await waitFor(async () => (await token()) !== before, 'Kubernetes to delete the token');
});
