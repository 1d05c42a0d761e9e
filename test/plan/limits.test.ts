// What no plan can know (docs/plan.md): each plan is accepted, and the commit rolls back, with nothing left of it.
import t, { type Test } from 'tap';
import { plan } from '../../hooks/inspect.ts';
import { at, type JsonObject } from '../../hooks/model/json.ts';
import { must, waitFor } from '../support/client.ts';
import { planParts } from '../support/planning.ts';
import { account, startStage } from '../support/stage.ts';
import { stepToEnd, stepUntil } from '../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../support/targets.ts';

const stage = await startStage(t, { withoutLoop: true });
const { client, namespace, path } = stage;
const parts = planParts(t, stage);
const admission = '/apis/admissionregistration.k8s.io/v1';

/** The plan is accepted, then `between` happens, and the Transaction ends as RolledBack. */
async function rollsBack(
  t: Test,
  name: string,
  changes: readonly JsonObject[],
  between = async (): Promise<void> => undefined,
): Promise<void> {
  const object = {
    ...{ apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata: { name, namespace } },
    spec: { serviceAccountName: account, changes },
  };
  t.match(await plan(parts, object), { verdict: 'accepted', refusal: [], unseen: [] });
  await stage.transaction(name, changes);
  await stepUntil(stage, name, 'Prepared');
  await between();
  const { status } = await stepToEnd(stage, name);
  t.match(status, { phase: 'RolledBack' });
}

t.test('a quota that has room for each change, and not for all', async (t) => {
  must(await client.create(path('resourcequotas'), { metadata: { name: 'secrets' }, spec: { hard: { 'count/secrets': '1' } } }));
  await waitFor(
    async () => at(must(await client.get(path('resourcequotas/secrets'))), 'status', 'used', 'count/secrets') === '0',
    'the quota to be counted',
  );
  const secret = { kind: 'Secret' };
  await rollsBack(t, 'quota', [change('Create', 'one', {}, secret), change('Create', 'two', {}, secret)]);
  t.same(await portraits(client, ['secrets/one', 'secrets/two'].map(path)), [undefined, undefined]);
});

t.test('two changes take what only one may have', async (t) => {
  const spec = { type: 'NodePort', ports: [{ port: 80, nodePort: 30_417 }] };
  const services = ['one', 'two'].map((name) => change('Create', name, { spec }, { kind: 'Service' }));
  await rollsBack(t, 'ports', services);
  t.same(await portraits(client, ['services/one', 'services/two'].map(path)), [undefined, undefined]);
});

t.test('a change makes the API server refuse a later one', async (t) => {
  const limit = { type: 'PersistentVolumeClaim', max: { storage: '1Gi' } };
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } } };
  await rollsBack(t, 'limited', [
    change('Create', 'limits', { spec: { limits: [limit] } }, { kind: 'LimitRange' }),
    change('Create', 'claim', { spec: claim }, { kind: 'PersistentVolumeClaim' }),
  ]);
  const paths = ['limitranges/limits', 'persistentvolumeclaims/claim'];
  t.same(await portraits(client, paths.map(path)), [undefined, undefined]);
});

t.test('a write that is refused only when it is real', async (t) => {
  const name = `real-${namespace}`;
  const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['UPDATE'] };
  const spec = {
    failurePolicy: 'Fail',
    matchConstraints: { resourceRules: [rule] },
    matchConditions: [{ name: 'one', expression: `request.namespace == '${namespace}' && request.name == 'real'` }],
    validations: [{ expression: 'request.dryRun == true', message: 'not now' }],
  };
  await createConfigMaps(stage, ['early', 'real']);
  t.teardown(async () => {
    await client.delete(`${admission}/validatingadmissionpolicybindings/${name}`);
    await client.delete(`${admission}/validatingadmissionpolicies/${name}`);
  });
  must(await client.create(`${admission}/validatingadmissionpolicies`, { metadata: { name }, spec }));
  must(
    await client.create(`${admission}/validatingadmissionpolicybindings`, {
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    }),
  );
  await waitFor(
    async () => (await client.patch(path('configmaps/real'), { data: { probe: '1' } })).code === 422,
    'the policy to be in force',
  );
  const paths = [path('configmaps/early'), path('configmaps/real')];
  const before = await portraits(client, paths);
  await rollsBack(t, 'real', [
    change('Patch', 'early', { data: { color: 'green' } }),
    change('Patch', 'real', { data: { color: 'green' } }),
  ]);
  t.same(await portraits(client, paths), before);
});

t.test('what others do next', async (t) => {
  await createConfigMaps(stage, ['calm', 'raced']);
  const changes = ['calm', 'raced'].map((name) => change('Patch', name, { data: { color: 'green' } }));
  await rollsBack(t, 'raced', changes, async () => {
    must(await client.patch(path('configmaps/raced'), { data: { color: 'red' } }));
  });
  t.match((await client.get(path('configmaps/raced'))).body, { data: { color: 'red' } }, 'and what they did stays');
  t.match((await client.get(path('configmaps/calm'))).body, { data: { color: 'blue' } });
});
