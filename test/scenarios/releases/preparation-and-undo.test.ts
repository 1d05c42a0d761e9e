// What pre-flight and an undo know beside the pairs: policies on names of roles, objects on their way out, names of locks.
import t from 'tap';
import { type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { lockName } from '../../../hooks/objects/reference.ts';
import { must, waitFor } from '../../support/client.ts';
import { engineNamespace } from '../../support/install.ts';
import { commit, partial, undo, undoAll } from '../../support/round-trip.ts';
import { conditionOf, startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const leases = `/apis/coordination.k8s.io/v1/namespaces/${engineNamespace}/leases`;

t.test('pre-flight and an undo judge special cases', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path, namespace } = stage;

  await t.test('pre-flight tries to recreate a Role under its own name, because a policy may require the name', async (t) => {
    const group = '/apis/admissionregistration.k8s.io/v1';
    const [policies, bindings] = [`${group}/validatingadmissionpolicies`, `${group}/validatingadmissionpolicybindings`];
    const rule = { apiGroups: ['rbac.authorization.k8s.io'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['roles'] };
    const expression = `object.metadata.name.startsWith('shop-') || object.metadata.namespace != '${namespace}'`;
    const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression }] };
    must(await client.create(policies, { metadata: { name: namespace }, spec }));
    must(
      await client.create(bindings, {
        metadata: { name: namespace },
        spec: { policyName: namespace, validationActions: ['Deny'] },
      }),
    );
    t.teardown(() => Promise.all([client.delete(`${bindings}/${namespace}`), client.delete(`${policies}/${namespace}`)]));
    const roles = path('rbac.authorization.k8s.io/v1/roles');
    const isHeard = async (): Promise<boolean> =>
      (await client.create(roles, { metadata: { name: 'unwanted' } }, { dryRun: 'All' })).code === 422;
    await waitFor(isHeard, 'the policy to be heard of');
    must(await client.create(roles, { metadata: { name: 'shop-reader' } }));
    const parts = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' };
    await commit(stage, 'named', [change('Update', 'shop-reader', { rules: [] }, parts)]);
    await undoAll(stage, 'named');
  });

  await t.test('a Create over an object that is being deleted fails at once with Terminating', async (t) => {
    const finalizers = ['example.org/keeps'];
    must(await client.create(path('configmaps'), { metadata: { name: 'leaving', finalizers } }));
    must(await client.delete(path('configmaps/leaving')));
    t.teardown(() => client.patch(path('configmaps/leaving'), { metadata: { finalizers: null } }));
    await stage.transaction('over', [change('Create', 'leaving', {})]);
    t.match((await stepToEnd(stage, 'over')).status, { phase: 'Failed', message: /is being deleted: wait until it is gone/ });
  });

  await t.test('the undo of an Update restores all but a finalizer if the object is being deleted', async (t) => {
    const finalizers = ['example.org/first', 'example.org/second'];
    must(await client.create(path('configmaps'), { metadata: { name: 'going', finalizers }, data: { color: 'blue' } }));
    const content = { metadata: { finalizers: ['example.org/second'] }, data: { color: 'green' } };
    await commit(stage, 'going', [change('Update', 'going', content)]);
    must(await client.delete(path('configmaps/going')));
    t.teardown(() => client.patch(path('configmaps/going'), { metadata: { finalizers: null } }));
    await undoAll(stage, 'going');
    t.match(must(await client.get(path('configmaps/going'))), {
      data: { color: 'blue' },
      metadata: { finalizers: ['example.org/second'] },
    });
  });

  await t.test('the condition Succeeded says why a requested undo failed', async (t) => {
    must(await client.create(path('configmaps'), { metadata: { name: 'taken' }, data: { color: 'blue' } }));
    await commit(stage, 'taken', [change('Patch', 'taken', { data: { color: 'green' } })]);
    must(await client.patch(path('configmaps/taken'), { data: { color: 'violet' } }));
    const status = await undo(stage, 'taken', partial);
    t.match(status, { phase: 'Failed' });
    t.equal(conditionOf(status, 'Succeeded'), 'False');
    const [succeeded] = (status.conditions as readonly JsonObject[]).filter(({ type }) => type === 'Succeeded');
    t.equal(textAt(succeeded, 'reason'), 'RollbackConflict');
  });

  await t.test('the status names another object under the name of a lock, and the engine does not wait for it', async (t) => {
    const target = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'twin' };
    const name = lockName(target);
    const annotations = { 'tx.janus.io/identity': '|ConfigMap|elsewhere|twin' };
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    const spec = { holderIdentity: 'elsewhere/other/uid', leaseDurationSeconds: 3_600, renewTime };
    must(await client.create(leases, { metadata: { name, annotations }, spec }));
    t.teardown(() => client.delete(`${leases}/${name}`));
    await stage.transaction('twin', [change('Create', 'twin', {})]);
    const { status } = await stepToEnd(stage, 'twin');
    t.match(status, {
      phase: 'Failed',
      message: /is that of another object, \|ConfigMap\|elsewhere\|twin, which Transaction elsewhere\/other has/,
    });
  });
});
