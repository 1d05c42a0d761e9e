// A volume that was there before the claim of a Transaction that was never Committed: Kubernetes deletes it with the claim by its reclaim
// policy, and what others have stored in it.
import t, { type Test } from 'tap';
import { type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { isThere } from '../../support/owned.ts';
import { failAfter, itemsOf } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

/** Who binds volumes. */
const binder = { fieldManager: 'kube-controller-manager' };
const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' };

type Undone = (name: string, policy: string, nameOf?: (uid: string) => string) => Promise<JsonObject>;

function claimsIn(t: Test, stage: Stage): Undone {
  const { client, path, namespace } = stage;
  const resources = { requests: { storage: '1Gi' } };
  const capacity = { storage: '1Gi' };
  const accessModes = ['ReadWriteOnce'];

  const volumeOf = (name: string, uid: string, policy: string): JsonObject => ({
    capacity,
    accessModes,
    hostPath: { path: '/nowhere' },
    persistentVolumeReclaimPolicy: policy,
    claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid },
  });

  /** Has a claim made that is bound as the binder of volumes does it, and everything undone. */
  return (name, policy, nameOf = (uid) => `${namespace}-${name}-${uid.slice(0, 3)}`) => {
    const spec = { accessModes, storageClassName: '', resources };
    return failAfter(stage, name, change('Create', name, { spec }, claim), async () => {
      const where = path(`persistentvolumeclaims/${name}`);
      const uid = textAt(must(await client.get(where)), 'metadata', 'uid') ?? '';
      const volume = { metadata: { name: nameOf(uid) }, spec: volumeOf(name, uid, policy) };
      must(await client.create('/api/v1/persistentvolumes', volume));
      t.teardown(() => client.delete(`/api/v1/persistentvolumes/${nameOf(uid)}`));
      must(await client.patch(where, { spec: { volumeName: nameOf(uid) } }, 'merge', binder));
      must(await client.patch(`${where}/status`, { status: { phase: 'Bound' } }));
    });
  };
}

t.test('the volume behind a claim', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const undone = claimsIn(t, stage);

  await t.test('goes with it: the claim is left, and its message says why', async (t) => {
    const status = await undone('theirs', 'Delete');
    t.match(status, { phase: 'Failed' });
    t.match(itemsOf(status)[0], {
      left: true,
      error: {
        reason: 'NotEmpty',
        message: /these volumes, which existed before: PersistentVolume .*-theirs-.*Retain, then retry the rollback$/,
      },
    });
    const where = path('persistentvolumeclaims/theirs');
    t.ok(await isThere(stage, where));
    const name = textAt(must(await client.get(where)), 'spec', 'volumeName');
    must(await client.patch(`/api/v1/persistentvolumes/${name}`, { spec: { persistentVolumeReclaimPolicy: 'Retain' } }));
    await stage.annotate('theirs', { 'tx.janus.io/retry-rollback': 'yes' });
    t.match((await stepToEnd(stage, 'theirs')).status, { phase: 'RolledBack' });
    await waitFor(async () => (await client.get(where)).code === 404, 'the claim to be gone');
  });

  await t.test('stays without it: the claim is deleted', async (t) => {
    t.match(await undone('kept', 'Retain'), { phase: 'RolledBack' });
  });

  await t.test('was made for it: the claim is deleted', async (t) => {
    t.match(await undone('own', 'Delete', (uid) => `pvc-${uid}`), { phase: 'RolledBack' });
  });
});

t.test('a volume that the ServiceAccount may not read: the claim is deleted, as one whose volume stays', async (t) => {
  const resources = ['persistentvolumeclaims', 'configmaps'];
  const stage = await startStage(t, { rules: [{ apiGroups: [''], resources, verbs: ['*'] }], withoutLoop: true });
  t.match(await claimsIn(t, stage)('unread', 'Delete'), { phase: 'RolledBack' });
  t.notOk(await isThere(stage, stage.path('persistentvolumeclaims/unread')));
});
