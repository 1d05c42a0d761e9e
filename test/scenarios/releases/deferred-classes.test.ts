// Rows of the table of deferred dry runs (hooks/transactions/checks/deferred.ts) of the whole cluster and of Services, both ways; and what the API
// server refuses in no dry run, for which the table has no row.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { bothWays } from '../../support/both-ways.ts';
import { must } from '../../support/client.ts';
import { commit, itemsOf, undoAll } from '../../support/round-trip.ts';
import { everyNth } from '../../support/selection.ts';
import { startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change, portraits } from '../../support/targets.ts';

const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' };
const clusterRole = { ...rbac, kind: 'ClusterRole' };
const service = { apiVersion: 'v1', kind: 'Service' };

/** All rights but the one to bind what one does not have. */
const withoutEscalation: readonly JsonObject[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'create', 'update', 'patch', 'delete'] },
  { apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], verbs: ['escalate'] },
];

t.test('the engine applies a ClusterRole and its bindings without the right to grant', async (t) => {
  const stage = await startStage(t, { withoutLoop: true, rules: withoutEscalation });
  const { client, path, namespace } = stage;
  const all = '/apis/rbac.authorization.k8s.io/v1';
  const rules = (resource: string, verb: string): JsonObject => ({
    rules: [{ apiGroups: [''], resources: [resource], verbs: [verb] }],
  });
  const bindings = {
    ClusterRoleBinding: `${all}/clusterrolebindings`,
    RoleBinding: path('rbac.authorization.k8s.io/v1/rolebindings'),
  };

  for (const kind of ['ClusterRoleBinding', 'RoleBinding'] as const)
    for (const [how, note] of [
      ['not there yet', /404 NotFound/],
      ['too strong as yet', /403 Forbidden/],
    ] as const)
      await t.test(`a ${kind} of one that is ${how}`, async (t) => {
        const name = `${namespace}-${kind.toLowerCase()}-${how.slice(0, 3)}`;
        t.teardown(() => client.delete(`${all}/clusterroles/${name}`));
        t.teardown(() => client.delete(`${bindings[kind]}/${name}`));
        const isNew = how === 'not there yet';
        if (!isNew) must(await client.create(`${all}/clusterroles`, { metadata: { name }, ...rules('nodes', 'impersonate') }));
        const bound = {
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
          subjects: [{ kind: 'ServiceAccount', name: 'default', namespace }],
        };
        await bothWays(t, stage, {
          name: `${kind.toLowerCase()}-${how.slice(0, 3)}`,
          earlier: change(isNew ? 'Create' : 'Update', name, rules('configmaps', 'get'), clusterRole),
          later: change('Create', name, bound, { ...rbac, kind }),
          paths: [`${all}/clusterroles/${name}`, `${bindings[kind]}/${name}`],
          note,
        });
      });
});

t.test('Services', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const port = (nodePort?: number): JsonObject => ({
    ports: [{ port: 80, protocol: 'TCP', ...(nodePort === undefined ? {} : { nodePort }) }],
  });
  const make = async (name: string, type: string): Promise<JsonObject> =>
    must(await client.create(path('services'), { metadata: { name }, spec: { type, ...port() } }));

  for (const type of everyNth(2, ['Update', 'Patch'] as const))
    await t.test(`${type} to a node port that another Service gives up`, async (t) => {
      const [had, has] = [`had-${type.toLowerCase()}`, `has-${type.toLowerCase()}`];
      const [taken] = at(await make(had, 'NodePort'), 'spec', 'ports') as readonly JsonObject[];
      const { clusterIP, clusterIPs } = at(await make(has, 'NodePort'), 'spec') as JsonObject;
      const addresses = type === 'Update' ? { clusterIP: clusterIP ?? '', clusterIPs: clusterIPs ?? [] } : {};
      const spec = { type: 'NodePort', ...addresses, ...port(at(taken, 'nodePort') as number) };
      await bothWays(t, stage, {
        name: `port-${type.toLowerCase()}`,
        earlier: change(
          'Patch',
          had,
          { spec: { type: 'ClusterIP', ports: [{ port: 80, protocol: 'TCP', nodePort: 0 }] } },
          service,
        ),
        later: change(type, has, { spec }, service),
        paths: [path(`services/${had}`), path(`services/${has}`)],
        note: /422 Invalid/,
      });
    });

  await t.test('the API server refuses a taken cluster IP at the write, not in the dry run', async (t) => {
    const { clusterIP, clusterIPs } = at(await make('keeper', 'ClusterIP'), 'spec') as JsonObject;
    const paths = [path('services/keeper'), path('services/taker')];
    const later = change(
      'Create',
      'taker',
      { spec: { clusterIP: clusterIP ?? '', clusterIPs: clusterIPs ?? [], ...port() } },
      service,
    );
    const before = await portraits(client, paths, true);
    await stage.transaction('taken', [later]);
    t.match((await stepToEnd(stage, 'taken')).status, {
      phase: 'RolledBack',
      message: /Create of Service \S+taker was refused: .*spec\.clusterIPs/,
    });
    t.same(await portraits(client, paths, true), before);

    const status = await commit(stage, 'given-up', [change('Delete', 'keeper', undefined, service), later]);
    t.equal(at(itemsOf(status)[1], 'note'), undefined, 'nothing is deferred');
    t.equal(textAt(must(await client.get(path('services/taker'))), 'spec', 'clusterIP'), clusterIP);
    await undoAll(stage, 'given-up');
    t.same(await portraits(client, paths, true), before);
  });
});

t.test('no dry run refuses a change that names a missing object', async (t) => {
  const { client, path } = await startStage(t, { withoutLoop: true });
  const admitted = async (where: string, object: JsonObject): Promise<number> =>
    (await client.create(where, object, { dryRun: 'All' })).code;
  const metadata = { name: 'one' };
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'none' };
  t.equal(await admitted(path('persistentvolumeclaims'), { metadata, spec: claim }), 201, 'a StorageClass');
  const backend = { service: { name: 'web', port: { number: 80 } } };
  const ingress = { ingressClassName: 'none', defaultBackend: backend };
  t.equal(await admitted(path('networking.k8s.io/v1/ingresses'), { metadata, spec: ingress }), 201, 'an IngressClass');
  for (const field of ['serviceAccountName', 'priorityClassName', 'runtimeClassName'])
    t.equal(await admitted(path('apps/v1/deployments'), deployment({ [field]: 'none' })), 201, `${field} in a Pod template`);
  const annotations = { 'kubernetes.io/service-account.name': 'none' };
  const token = { metadata: { ...metadata, annotations }, type: 'kubernetes.io/service-account-token' };
  t.equal(await admitted(path('secrets'), token), 201, 'the ServiceAccount of a token');
  const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';
  t.equal(await admitted(policies, { metadata, spec: { policyName: 'none', validationActions: ['Deny'] } }), 201, 'a policy');
});

function deployment(pod: JsonObject): JsonObject {
  const labels = { app: 'one' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'example.org/main' }], ...pod } };
  return { metadata: { name: 'one' }, spec: { selector: { matchLabels: labels }, template } };
}
