// What was there before an object that is created here, and was adopted by it, is not what its controllers made: the undo leaves it.
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { ownersOf } from '../../../hooks/transactions/hazards/read-owners.ts';
import { must, waitFor } from '../../support/client.ts';
import { hangOn, isThere } from '../../support/owned.ts';
import { failAfter, itemsOf } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { change } from '../../support/targets.ts';

const deployment = { apiVersion: 'apps/v1', kind: 'Deployment' };
const statefulSet = { apiVersion: 'apps/v1', kind: 'StatefulSet' };

/** Ms until an object is older than the next one by their times, which are whole seconds. */
const aged = 3_000;

/** The garbage collector learns of every kind that other tests create; on a busy machine that takes minutes. */
const collected = { timeoutMs: 300_000 };

function podsOf(name: string): JsonObject {
  const labels = { app: name };
  const containers = [{ name: 'app', image: 'example.org/app' }];
  return { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
}

function untilOwned({ client, path }: Stage, where: string, kind: string): () => Promise<void> {
  const isOwned = async (): Promise<boolean> => {
    const found = await client.get(path(where));
    return found.code === 200 && ownersOf(found.body).some((owner) => textAt(owner, 'kind') === kind);
  };
  return async () => void (await waitFor(isOwned, `${where} to be adopted`));
}

function showKept(t: Test, status: JsonObject, named: RegExp): void {
  t.match(status, { phase: 'Failed' });
  t.match(itemsOf(status)[0], { left: true, error: { reason: 'NotEmpty', message: named } });
}

t.test('the undo keeps a created object that has adopted older objects', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;

  await t.test('the undo keeps a Deployment that adopted the ReplicaSets of its predecessor', async (t) => {
    const spec = podsOf('web');
    must(await client.create(path('apps/v1/deployments'), { ...deployment, metadata: { name: 'web' }, spec }));
    const selected = { labelSelector: 'app=web' };
    const set = await waitFor(async () => (await client.list(path('apps/v1/replicasets'), selected)).items[0], 'the ReplicaSet');
    const where = `apps/v1/replicasets/${textAt(set, 'metadata', 'name')}`;
    must(await client.delete(path('apps/v1/deployments/web'), { propagationPolicy: 'Orphan' }));
    const isGone = async (): Promise<boolean> => (await client.get(path('apps/v1/deployments/web'))).code === 404;
    await waitFor(isGone, 'the Deployment to go without its ReplicaSet', collected);
    await pause(aged);
    const created = change('Create', 'web', { spec }, deployment);
    const status = await failAfter(stage, 'web', created, untilOwned(stage, where, 'Deployment'));
    showKept(t, status, /others' objects would be deleted with it: ReplicaSet web-/);
    t.ok(await isThere(stage, path('apps/v1/deployments/web')), 'the Deployment is there');
    t.ok(await isThere(stage, path(where)), 'the ReplicaSet exists too');
  });

  await t.test('the undo keeps a StatefulSet that would delete older claims', async (t) => {
    const claim = 'persistentvolumeclaims/data-db-0';
    const requests = { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Mi' } } };
    must(await client.create(path('persistentvolumeclaims'), { metadata: { name: 'data-db-0' }, spec: requests }));
    must(await client.patch(path(claim), { spec: { volumeName: 'theirs' } }));
    await pause(aged);
    const spec = {
      ...podsOf('db'),
      serviceName: 'db',
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: requests }],
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
    };
    const created = change('Create', 'db', { spec }, statefulSet);
    const status = await failAfter(stage, 'db', created, untilOwned(stage, claim, 'StatefulSet'));
    showKept(t, status, /others' objects would be deleted with it: PersistentVolumeClaim data-db-0/);
    t.ok(await isThere(stage, path('apps/v1/statefulsets/db')), 'the StatefulSet is there');
    t.ok(await isThere(stage, path(claim)), 'the claim exists too');
  });

  await t.test('the undo deletes dependents that are not older than the object', async (t) => {
    const made = change('Create', 'maker', { data: { a: 'b' } });
    const status = await failAfter(stage, 'maker', made, async () => {
      const maker = must(await client.get(path('configmaps/maker')));
      await hangOn(stage, 'made', maker, { controller: true });
    });
    t.match(status, { phase: 'RolledBack' });
  });
});
