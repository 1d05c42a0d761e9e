// A Pod and the ServiceAccount that it names, in one Transaction: on an API server of its own, as that of the suite admits every Pod.
import t from 'tap';
import { bothWays } from '../../support/both-ways.ts';
import { must, waitFor } from '../../support/client.ts';
import { ownControlPlane } from '../../support/own-control-plane.ts';
import { commit, undoAll } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const pod = { apiVersion: 'v1', kind: 'Pod' };
const account = { apiVersion: 'v1', kind: 'ServiceAccount' };
const containers = [{ name: 'main', image: 'example.org/main' }];

t.test('the engine defers dry runs that need a ServiceAccount', async (t) => {
  await ownControlPlane(t, { serviceAccountAdmission: true });
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const isThere = async (name: string): Promise<boolean> => (await client.get(path(`serviceaccounts/${name}`))).code === 200;
  await waitFor(() => isThere('default'), 'the ServiceAccount of the namespace');

  await t.test('the dry run of a Pod waits for the ServiceAccount that the Pod names', async (t) => {
    await bothWays(t, stage, {
      name: 'named',
      earlier: change('Create', 'runner', {}, account),
      later: change('Create', 'web', { spec: { serviceAccountName: 'runner', containers } }, pod),
      paths: [path('serviceaccounts/runner'), path('pods/web')],
      note: /^its dry run was refused \(403 Forbidden\) and is made again in its turn, after spec\.changes\[0\]/,
    });
  });

  await t.test('the dry run does not wait for another ServiceAccount, or one of another namespace', async (t) => {
    const later = change('Create', 'web', { spec: { serviceAccountName: 'absent', containers } }, pod);
    const elsewhere = change('Create', 'absent', {}, { ...account, namespace: 'default' });
    for (const [name, earlier] of [
      ['another', change('Create', 'runner', {}, account)],
      ['elsewhere', elsewhere],
    ] as const) {
      await stage.transaction(name, [earlier, later]);
      t.match((await stepToEnd(stage, name)).status, { phase: 'Failed', message: /^nothing was applied: spec\.changes\[1\]/ });
    }
    t.notOk(await isThere('runner'));
  });

  await t.test('the engine deletes the Pod before its ServiceAccount, and restores it after the ServiceAccount', async (t) => {
    must(await client.create(path('serviceaccounts'), { metadata: { name: 'kept' } }));
    const spec = { serviceAccountName: 'kept', containers, terminationGracePeriodSeconds: 0 };
    must(await client.create(path('pods'), { metadata: { name: 'kept' }, spec }));
    const deletes = [change('Delete', 'kept', undefined, account), change('Delete', 'kept', undefined, pod)];
    await commit(stage, 'both-go', deletes, { 'tx.janus.io/allow-irreversible': 'true' });
    t.equal((await client.get(path('pods/kept'))).code, 404);
    await undoAll(stage, 'both-go');
    t.equal((await client.get(path('pods/kept'))).code, 200);
    t.ok(await isThere('kept'));
  });
});
