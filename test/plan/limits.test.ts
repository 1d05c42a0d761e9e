// What no plan can know (docs/plan.md): each plan is accepted, and the commit rolls back, with nothing left of it.
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { plan } from '../../hooks/transactions/inspect.ts';
import { must, waitFor } from '../support/client.ts';
import { planParts } from '../support/planning.ts';
import { itemsOf } from '../support/round-trip.ts';
import { account, startStage } from '../support/stage.ts';
import { stepTo, stepToEnd, stepUntil } from '../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../support/targets.ts';

const stage = await startStage(t, { withoutLoop: true });
const { client, namespace, path } = stage;
const parts = planParts(t, stage);
const admission = '/apis/admissionregistration.k8s.io/v1';
const rbac = 'rbac.authorization.k8s.io';

interface Course {
  /** Called once the engine has come as far as this; `Prepared` unless a test says otherwise. */
  readonly between?: () => Promise<void>;
  /** The change that is applied then. */
  readonly after?: number;
  readonly account?: string;
}

/** The plan is accepted, then `between` happens; returns the end of the Transaction. */
async function planned(t: Test, name: string, changes: readonly JsonObject[], course: Course = {}): Promise<JsonObject> {
  const { between, after, account: serviceAccountName = account } = course;
  const object = {
    ...{ apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata: { name, namespace } },
    spec: { serviceAccountName, changes },
  };
  t.match(await plan(parts, object), { verdict: 'accepted', refusal: [], unseen: [] });
  await stage.transaction(name, changes, { spec: { serviceAccountName } });
  if (after === undefined) await stepUntil(stage, name, 'Prepared');
  else
    await stepTo(stage, name, `change ${after} to be applied`, ({ status }) => at(itemsOf(status)[after], 'state') === 'Applied');
  await between?.();
  return (await stepToEnd(stage, name)).status;
}

/** It ends as RolledBack. */
async function rollsBack(t: Test, name: string, changes: readonly JsonObject[], course: Course = {}): Promise<void> {
  t.match(await planned(t, name, changes, course), { phase: 'RolledBack' });
}

/** Until the API server refuses to create it, by a dry run. What an earlier change says counts a moment after it is applied. */
async function untilRefused(where: string, object: JsonObject): Promise<void> {
  const answered = async (): Promise<boolean> => (await client.create(where, object, { dryRun: 'All' })).code >= 400;
  await waitFor(answered, `${where} to be refused`);
}

/** A ServiceAccount that has these rights by a Role of its name. */
async function narrowAccount(name: string, rules: readonly JsonObject[]): Promise<void> {
  must(await client.create(path('serviceaccounts'), { metadata: { name } }));
  must(await client.create(path(`${rbac}/v1/roles`), { metadata: { name }, rules }));
  await bind(name, { apiGroup: rbac, kind: 'Role', name }, name);
}

async function bind(name: string, roleRef: JsonObject, to: string): Promise<void> {
  const subjects = [{ kind: 'ServiceAccount', name: to, namespace }];
  must(await client.create(path(`${rbac}/v1/rolebindings`), { metadata: { name }, roleRef, subjects }));
}

/** Rights take effect a moment after they are written. */
async function untilAllowed(name: string, isAllowed: boolean, where: string): Promise<void> {
  const asAccount = client.asServiceAccount(namespace, name);
  const answered = async (): Promise<boolean> => ((await asAccount.get(path(where))).code !== 403) === isAllowed;
  await waitFor(answered, `the rights of ${name} to take effect`);
}

t.test('a quota has room for each change, but not for all', async (t) => {
  must(await client.create(path('resourcequotas'), { metadata: { name: 'secrets' }, spec: { hard: { 'count/secrets': '1' } } }));
  await waitFor(
    async () => at(must(await client.get(path('resourcequotas/secrets'))), 'status', 'used', 'count/secrets') === '0',
    'the quota to be counted',
  );
  const secret = { kind: 'Secret' };
  await rollsBack(t, 'quota', [change('Create', 'one', {}, secret), change('Create', 'two', {}, secret)]);
  t.same(await portraits(client, ['secrets/one', 'secrets/two'].map(path)), [undefined, undefined]);
});

t.test('two changes take one node port', async (t) => {
  const spec = { type: 'NodePort', ports: [{ port: 80, nodePort: 30_417 }] };
  const services = ['one', 'two'].map((name) => change('Create', name, { spec }, { kind: 'Service' }));
  await rollsBack(t, 'ports', services);
  t.same(await portraits(client, ['services/one', 'services/two'].map(path)), [undefined, undefined]);
});

t.test('two changes take one cluster IP', async (t) => {
  const service = must(await client.get('/api/v1/namespaces/default/services/kubernetes'));
  // The API server gives low addresses to those alone that name them.
  const clusterIP = (textAt(service, 'spec', 'clusterIP') ?? '').replace(/\d+$/, '12');
  const spec = { clusterIP, ports: [{ port: 80 }] };
  const services = ['first', 'second'].map((name) => change('Create', name, { spec }, { kind: 'Service' }));
  await rollsBack(t, 'addresses', services);
  t.same(await portraits(client, ['services/first', 'services/second'].map(path)), [undefined, undefined]);
});

t.test('a change sets a limit for a later one', async (t) => {
  const limit = { type: 'PersistentVolumeClaim', max: { storage: '1Gi' } };
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } } };
  await rollsBack(t, 'limited', [
    change('Create', 'limits', { spec: { limits: [limit] } }, { kind: 'LimitRange' }),
    change('Create', 'claim', { spec: claim }, { kind: 'PersistentVolumeClaim' }),
  ]);
  const paths = ['limitranges/limits', 'persistentvolumeclaims/claim'];
  t.same(await portraits(client, paths.map(path)), [undefined, undefined]);
});

t.test('a change sets a quota for a later one', async (t) => {
  const place = { namespace: `${namespace}-quota` };
  const where = `/api/v1/namespaces/${place.namespace}`;
  must(await client.create('/api/v1/namespaces', { metadata: { name: place.namespace } }));
  t.teardown(() => client.delete(where));
  const changes = [
    change('Create', 'none', { spec: { hard: { 'count/secrets': '0' } } }, { kind: 'ResourceQuota', ...place }),
    change('Create', 'late', {}, { kind: 'Secret', ...place }),
  ];
  const between = () => untilRefused(`${where}/secrets`, { metadata: { name: 'probe' } });
  await rollsBack(t, 'quota-to-come', changes, { after: 0, between });
  t.same(await portraits(client, [`${where}/resourcequotas/none`, `${where}/secrets/late`]), [undefined, undefined]);
});

t.test('a change sets a policy for a later one', async (t) => {
  const name = `to-come-${namespace}`;
  const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] };
  const spec = {
    failurePolicy: 'Fail',
    matchConstraints: {
      resourceRules: [rule],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    },
    matchConditions: [{ name: 'one', expression: `request.name == 'barred'` }],
    validations: [{ expression: 'false', message: 'not here' }],
  };
  const kind = (of: string): JsonObject & { apiVersion: string; kind: string } => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `ValidatingAdmissionPolicy${of}`,
  });
  const changes = [
    change('Create', name, { spec }, kind('')),
    change('Create', name, { spec: { policyName: name, validationActions: ['Deny'] } }, kind('Binding')),
    change('Create', 'barred', {}),
  ];
  const between = () => untilRefused(path('configmaps'), { metadata: { name: 'barred' } });
  await rollsBack(t, 'policy-to-come', changes, { after: 1, between });
  const policies = ['validatingadmissionpolicybindings', 'validatingadmissionpolicies'].map((of) => `${admission}/${of}/${name}`);
  t.same(await portraits(client, [...policies, path('configmaps/barred')]), [undefined, undefined, undefined]);
});

t.test('the API server refuses a write, but not its dry run', async (t) => {
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

t.test('another client writes after the plan', async (t) => {
  await createConfigMaps(stage, ['calm', 'raced']);
  const changes = ['calm', 'raced'].map((name) => change('Patch', name, { data: { color: 'green' } }));
  const between = async () => void must(await client.patch(path('configmaps/raced'), { data: { color: 'red' } }));
  await rollsBack(t, 'raced', changes, { between });
  t.match((await client.get(path('configmaps/raced'))).body, { data: { color: 'red' } }, 'and what they did stays');
  t.match((await client.get(path('configmaps/calm'))).body, { data: { color: 'blue' } });
});

t.test('another client deletes after the plan', async (t) => {
  await createConfigMaps(stage, ['left', 'gone']);
  const changes = ['left', 'gone'].map((name) => change('Patch', name, { data: { color: 'green' } }));
  await rollsBack(t, 'gone', changes, { between: async () => void must(await client.delete(path('configmaps/gone'))) });
  t.match((await client.get(path('configmaps/left'))).body, { data: { color: 'blue' } });
});

const onMaps = { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'patch', 'update'] };
const onSecrets = { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create', 'delete'] };

t.test('an administrator removes rights after the plan', async (t) => {
  await createConfigMaps(stage, ['granted']);
  await narrowAccount('waning', [onMaps, onSecrets]);
  await untilAllowed('waning', true, 'secrets/denied');
  const changes = [change('Patch', 'granted', { data: { color: 'green' } }), change('Create', 'denied', {}, { kind: 'Secret' })];
  const between = async (): Promise<void> => {
    must(await client.patch(path(`${rbac}/v1/roles/waning`), { rules: [onMaps] }));
    await untilAllowed('waning', false, 'secrets/denied');
  };
  await rollsBack(t, 'waning', changes, { account: 'waning', between });
  t.match((await client.get(path('configmaps/granted'))).body, { data: { color: 'blue' } });
});

t.test('a Transaction waits and applies nothing while another one holds a lock', async (t) => {
  await createConfigMaps(stage, ['locked']);
  const wanted = (color: string) => [change('Patch', 'locked', { data: { color } })];
  const spec = { serviceAccountName: account, changes: wanted('green'), lockWait: '0s' };
  const object = { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata: { name: 'late', namespace }, spec };
  t.match(await plan(parts, object), { verdict: 'accepted', locks: [] });
  await stage.transaction('holder', wanted('red'));
  await stepUntil(stage, 'holder', 'Prepared');
  await stage.transaction('late', wanted('green'), { spec: { lockWait: '0s' } });
  t.match((await stepToEnd(stage, 'late')).status, { phase: 'Failed', message: /^nothing was applied: / });
  t.match((await stepToEnd(stage, 'holder')).status, { phase: 'Committed' });
  t.match((await client.get(path('configmaps/locked'))).body, { data: { color: 'red' } });
});

t.test('a gate does not pass', async (t) => {
  await createConfigMaps(stage, ['gated']);
  const gate = { ready: { condition: { type: 'Available' } }, timeout: '1s' };
  await rollsBack(t, 'gated', [{ ...change('Patch', 'gated', { data: { color: 'green' } }), gate }]);
  t.match((await client.get(path('configmaps/gated'))).body, { data: { color: 'blue' } });
});

t.test('the API server refuses a deferred change in its turn', async (t) => {
  const place = `${namespace}-deferred`;
  t.teardown(() => client.delete(`/api/v1/namespaces/${place}`));
  await rollsBack(t, 'deferred', [
    change('Create', place, {}, { kind: 'Namespace' }),
    change('Create', 'unfit', { metadata: { labels: { team: 'no label!' } } }, { namespace: place }),
  ]);
});

t.test('a change takes rights from the ServiceAccount itself', async (t) => {
  const name = 'waster';
  const onRoles = { apiGroups: [rbac], resources: ['roles'], verbs: ['get', 'patch', 'update'] };
  await createConfigMaps(stage, ['early-one', 'late-one']);
  await narrowAccount(name, [onMaps, onRoles]);
  await untilAllowed(name, true, 'configmaps/early-one');
  const green = { data: { color: 'green' } };
  const changes = [
    change('Patch', 'early-one', green),
    change('Patch', name, { rules: [] }, { apiVersion: `${rbac}/v1`, kind: 'Role' }),
    change('Patch', 'late-one', green),
  ];
  const between = () => untilAllowed(name, false, 'configmaps/early-one');
  t.match(await planned(t, name, changes, { account: name, after: 1, between }), { phase: 'Failed' }, 'the undo lacks them, too');
  await bind('again', { apiGroup: rbac, kind: 'ClusterRole', name: namespace }, name);
  await untilAllowed(name, true, 'configmaps/early-one');
  await stage.annotate(name, { 'tx.janus.io/retry-rollback': 'once' });
  await stepTo(stage, name, 'the undo to be done', ({ phase }) => phase === 'RolledBack');
  for (const one of ['early-one', 'late-one'])
    t.match((await client.get(path(`configmaps/${one}`))).body, { data: { color: 'blue' } }, one);
  t.match((await client.get(path(`${rbac}/v1/roles/${name}`))).body, { rules: [onMaps, onRoles] });
});
