// Each row of the table of deferred dry runs (hooks/transactions/checks/deferred.ts), both ways: with the earlier change it is admitted, and undone
// exactly; without it, it is refused and nothing is applied.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { bothWays } from '../../support/both-ways.ts';
import { must, waitFor } from '../../support/client.ts';
import { commit, itemsOf, undoAll } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' };
const role = { ...rbac, kind: 'Role' };
const binding = { ...rbac, kind: 'RoleBinding' };
const service = { apiVersion: 'v1', kind: 'Service' };
const pod = { apiVersion: 'v1', kind: 'Pod' };
const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };

/** All rights but the one to bind what one does not have. */
const withoutEscalation: readonly JsonObject[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'create', 'update', 'patch', 'delete'] },
  { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['escalate'] },
];

t.test('the engine applies a role and its binding without the right to grant', async (t) => {
  const stage = await startStage(t, { withoutLoop: true, rules: withoutEscalation });
  const { client, path, namespace } = stage;
  const subjects = [{ kind: 'ServiceAccount', name: 'default', namespace }];
  const rules = (resource: string, verbs: readonly string[]): JsonObject => ({
    rules: [{ apiGroups: [''], resources: [resource], verbs }],
  });
  const bound = (name: string): JsonObject => ({
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects,
  });
  const paths = (one: string, other = one): readonly string[] => [
    path(`rbac.authorization.k8s.io/v1/roles/${one}`),
    path(`rbac.authorization.k8s.io/v1/rolebindings/${other}`),
  ];

  await t.test('the dry run of a binding waits for its role', async (t) => {
    await bothWays(t, stage, {
      name: 'new-role',
      earlier: change('Create', 'new', rules('configmaps', ['get']), role),
      later: change('Create', 'new', bound('new'), binding),
      paths: paths('new'),
      note: /^its dry run was refused \(404 NotFound\) and is made again in its turn, after spec\.changes\[0\] \(Role\S+ \S+\/new\)$/,
    });
  });

  for (const type of ['Create', 'Update', 'Patch'] as const)
    await t.test(`a role that holds too much as yet: ${type} of the binding`, async (t) => {
      const name = `strong-${type.toLowerCase()}`;
      const [roles, bindings] = ['roles', 'rolebindings'].map((plural) => path(`rbac.authorization.k8s.io/v1/${plural}`));
      must(await client.create(roles ?? '', { metadata: { name }, ...rules('nodes', ['impersonate']) }));
      if (type !== 'Create') must(await client.create(bindings ?? '', { metadata: { name }, ...bound(name), subjects: [] }));
      await bothWays(t, stage, {
        name,
        earlier: change('Update', name, rules('configmaps', ['get']), role),
        later: change(type, name, bound(name), binding),
        paths: paths(name),
        note: /403 Forbidden/,
      });
    });
});

t.test('the engine applies a changed CRD and its instances', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path, namespace } = stage;
  const group = `${namespace}.example.org`;
  const widgets = (plural: string): JsonObject => ({ kind: `K${plural}`, plural });
  const version = (name: string, properties: JsonObject, storage: boolean): JsonObject => {
    const spec = { type: 'object', properties };
    return { name, served: true, storage, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } };
  };
  const text = { type: 'string' };
  const before = { a: { ...text, enum: ['x'] } };
  const after = { a: { ...text, enum: ['x', 'y'] }, b: { ...text, default: 'usual' }, c: text };
  const crd = (plural: string, versions: readonly JsonObject[]): JsonObject => ({
    spec: { group, names: widgets(plural), scope: 'Namespaced', versions },
  });
  const kind = (plural: string, version = 'v1'): { apiVersion: string; kind: string } => ({
    apiVersion: `${group}/${version}`,
    kind: `K${plural}`,
  });

  const cases = [
    ['unknown', 'Create', { c: 'new' }, /400 BadRequest/],
    ['unknownput', 'Update', { a: 'x', c: 'new' }, /400 BadRequest/],
    ['unknownset', 'Patch', { c: 'new' }, /500 InvalidContent/],
    ['invalid', 'Create', { a: 'y' }, /422 Invalid/],
    ['invalidset', 'Patch', { a: 'y' }, /422 Invalid/],
  ] as const;
  for (const [plural, type, spec, note] of cases)
    await t.test(`${type} with what only the new schema takes: ${plural}`, async (t) => {
      const name = `${plural}.${group}`;
      const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
      const instances = path(`${group}/v1/${plural}`);
      must(await client.create(crds, { ...definition, metadata: { name }, ...crd(plural, [version('v1', before, true)]) }));
      t.teardown(() => client.delete(`${crds}/${name}`));
      await waitFor(async () => (await client.get(instances)).code === 200, 'the kind to be served');
      if (type !== 'Create')
        await waitFor(
          async () =>
            (await client.create(instances, { ...kind(plural), metadata: { name: 'one' }, spec: { a: 'x' } })).code === 201,
          'the instance',
        );
      await bothWays(t, stage, {
        name: plural,
        earlier: change('Patch', name, crd(plural, [version('v1', after, true)]), definition),
        later: change(type, 'one', { spec }, kind(plural)),
        paths: [`${crds}/${name}`, `${instances}/one`],
        note,
      });
    });

  await t.test('the dry run of an instance waits until its version is served', async (t) => {
    const [plural, name] = ['gained', `gained.${group}`];
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    must(await client.create(crds, { ...definition, metadata: { name }, ...crd(plural, [version('v1', before, true)]) }));
    t.teardown(() => client.delete(`${crds}/${name}`));
    await waitFor(async () => (await client.get(path(`${group}/v1/${plural}`))).code === 200, 'the kind to be served');
    const later = change('Create', 'one', { spec: { a: 'y' } }, kind(plural, 'v2'));
    await stage.transaction('gained-alone', [later]);
    t.match((await stepToEnd(stage, 'gained-alone')).status, {
      phase: 'Failed',
      message: /the API server serves no kind Kgained/,
    });
    const versions = [version('v1', before, true), version('v2', after, false)];
    const status = await commit(stage, 'gained', [change('Update', name, crd(plural, versions), definition), later]);
    t.match(textAt(itemsOf(status)[1], 'note'), /made in its turn, after spec\.changes\[0\]/);
    const made = path(`${group}/v2/${plural}/one`);
    t.equal(textAt(must(await client.get(made)), 'spec', 'a'), 'y');
    await undoAll(stage, 'gained');
    await waitFor(async () => (await client.get(path(`${group}/v2/${plural}`))).code === 404, 'the version to be gone');
    t.equal((await client.get(path(`${group}/v1/${plural}/one`))).code, 404);

    await stage.transaction('unserved', [change('Update', name, crd(plural, versions), definition), { ...later, type: 'Patch' }]);
    t.match((await stepToEnd(stage, 'unserved')).status, {
      phase: 'Failed',
      message: /nothing was applied.*\/one does not exist: a Patch requires it/,
    });
  });
});

t.test('the engine defers dry runs that depend on earlier changes', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path, namespace } = stage;

  await t.test('the engine deletes one Secret and creates another under a full quota', async (t) => {
    must(await client.create(path('secrets'), { metadata: { name: 'old' } }));
    const hard = { 'count/secrets': '1' };
    must(await client.create(path('resourcequotas'), { metadata: { name: 'full' }, spec: { hard } }));
    const used = async (): Promise<unknown> =>
      at(must(await client.get(path('resourcequotas/full'))), 'status', 'used', 'count/secrets');
    await waitFor(async () => (await used()) === '1', 'the quota to be counted');
    await bothWays(t, stage, {
      name: 'swap',
      earlier: change('Delete', 'old', undefined, { kind: 'Secret' }),
      later: change('Create', 'young', {}, { kind: 'Secret' }),
      paths: [path('secrets/old'), path('secrets/young')],
      note: /403 Forbidden/,
    });
  });

  for (const type of ['Create', 'Patch'] as const)
    await t.test(`an update frees the quota that a later write takes: ${type}`, async (t) => {
      const [had, has] = [`frees-${type.toLowerCase()}`, `takes-${type.toLowerCase()}`];
      const external = (isExternal: boolean): JsonObject => ({
        spec: {
          type: isExternal ? 'LoadBalancer' : 'ClusterIP',
          ports: [{ port: 80, protocol: 'TCP' }],
          allocateLoadBalancerNodePorts: isExternal ? false : null,
        },
      });
      for (const [name, isExternal] of [[had, true], ...(type === 'Patch' ? ([[has, false]] as const) : [])] as const)
        must(await client.create(path('services'), { metadata: { name }, ...external(isExternal) }));
      const quota = path(`resourcequotas/${had}`);
      const hard = { 'services.loadbalancers': '1' };
      must(await client.create(path('resourcequotas'), { metadata: { name: had }, spec: { hard } }));
      await waitFor(
        async () => at((await client.get(quota)).body, 'status', 'used', 'services.loadbalancers') === '1',
        'the quota to be counted',
      );
      await bothWays(t, stage, {
        name: had,
        earlier: change('Patch', had, external(false), service),
        later: change(type, has, external(true), service),
        paths: [path(`services/${had}`), path(`services/${has}`)],
        note: /403 Forbidden/,
      });
      must(await client.delete(quota));
      must(await client.delete(path(`services/${had}`)));
    });

  await t.test('the engine applies a Service with a node port that another Service releases', async (t) => {
    const ports = (nodePort?: number): JsonObject => ({
      ports: [{ port: 80, protocol: 'TCP', ...(nodePort === undefined ? {} : { nodePort }) }],
    });
    const made = must(
      await client.create(path('services'), { metadata: { name: 'had' }, spec: { type: 'NodePort', ...ports() } }),
    );
    const [port] = at(made, 'spec', 'ports') as readonly JsonObject[];
    const nodePort = at(port, 'nodePort') as number;
    await bothWays(t, stage, {
      name: 'port',
      earlier: change('Delete', 'had', undefined, service),
      later: change('Create', 'has', { spec: { type: 'NodePort', ...ports(nodePort) } }, service),
      paths: [path('services/has')],
      note: /422 Invalid/,
    });
  });

  for (const [kind, apiVersion, plural, field, content] of [
    ['PriorityClass', 'scheduling.k8s.io/v1', 'priorityclasses', 'priorityClassName', { value: 7 }],
    ['RuntimeClass', 'node.k8s.io/v1', 'runtimeclasses', 'runtimeClassName', { handler: 'runc' }],
  ] as const)
    await t.test(`the engine applies a ${kind} and a Pod that names it`, async (t) => {
      const name = `${namespace}-${kind.toLowerCase()}`;
      const containers = [{ name: 'main', image: 'example.org/main' }];
      await bothWays(t, stage, {
        name: kind.toLowerCase(),
        earlier: change('Create', name, content, { apiVersion, kind }),
        later: change('Create', name, { spec: { containers, [field]: name } }, pod),
        paths: [path(`pods/${name}`), `/apis/${apiVersion}/${plural}/${name}`],
        note: /403 Forbidden/,
      });
    });

  await t.test('pre-flight first refuses a change that a policy denies, whatever changes precede it', async (t) => {
    const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
    const bindings = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';
    const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }];
    const expression = `object.metadata.name != 'unwanted' || object.metadata.namespace != '${namespace}'`;
    const validations = [{ expression, reason: 'Forbidden', message: 'not that name' }];
    must(
      await client.create(policies, {
        metadata: { name: namespace },
        spec: { matchConstraints: { resourceRules }, validations },
      }),
    );
    must(
      await client.create(bindings, {
        metadata: { name: namespace },
        spec: { policyName: namespace, validationActions: ['Deny'] },
      }),
    );
    t.teardown(() => Promise.all([client.delete(`${bindings}/${namespace}`), client.delete(`${policies}/${namespace}`)]));
    const asked = async (): Promise<boolean> =>
      (await client.create(path('configmaps'), { metadata: { name: 'unwanted' } }, { dryRun: 'All' })).code === 403;
    await waitFor(asked, 'the policy to be heard of');
    must(await client.create(path('configmaps'), { metadata: { name: 'goes' } }));
    await stage.transaction('denied', [change('Delete', 'goes'), change('Create', 'unwanted', {})]);
    const { status } = await stepToEnd(stage, 'denied');
    t.match(status, { phase: 'Failed', message: /^nothing was applied: spec\.changes\[1\].*was refused by a dry run/ });
    t.equal((await client.get(path('configmaps/goes'))).code, 200);
  });
});

t.test('the engine obeys the deferred dry run', async (t) => {
  const stage = await startStage(t, { withoutLoop: true, rules: withoutEscalation });
  const { client, path, namespace } = stage;
  const subjects = [{ kind: 'ServiceAccount', name: 'default', namespace }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'late' };

  await t.test('the engine rolls back if the deferred dry run is refused, and does not send the change', async (t) => {
    const invalid = [{ kind: 'Nonsense', name: 'default' }];
    const changes = [
      change('Create', 'late', { rules: [] }, role),
      change('Create', 'late', { roleRef, subjects: invalid }, binding),
    ];
    await stage.transaction('invalid', changes);
    const { status } = await stepToEnd(stage, 'invalid');
    t.match(status, { phase: 'RolledBack', message: /RoleBinding/ });
    t.equal((await client.get(path('rbac.authorization.k8s.io/v1/roles/late'))).code, 404);
    const sent = stage.reports.filter(({ name }) => name === 'invalid').flatMap(({ audit }) => audit);
    t.notOk(
      sent.some(({ resource }) => resource.startsWith('rolebindings')),
      'the dry run showed it, and no write was tried',
    );
  });

  await t.test('the engine does not send a change that its deferred dry run shows to be irreversible', async (t) => {
    const [group, plural] = [`${namespace}.example.org`, 'frozen'];
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const instances = path(`${group}/v1/${plural}`);
    const crd = (a: readonly string[], more: JsonObject): JsonObject => {
      const spec = { type: 'object', properties: { a: { type: 'string', enum: a } } };
      const schema = { openAPIV3Schema: { type: 'object', properties: { spec, ...more } } };
      const versions = [{ name: 'v1', served: true, storage: true, schema }];
      return { spec: { group, names: { kind: 'Frozen', plural }, scope: 'Namespaced', versions } };
    };
    const name = `${plural}.${group}`;
    must(await client.create(crds, { ...definition, metadata: { name }, ...crd(['x'], {}) }));
    t.teardown(() => client.delete(`${crds}/${name}`));
    const kind = { apiVersion: `${group}/v1`, kind: 'Frozen' };
    const one = { ...kind, metadata: { name: 'one' }, spec: { a: 'x' } };
    await waitFor(async () => (await client.create(instances, one)).code === 201, 'the instance');
    const frozen = crd(['x', 'y'], { immutable: { type: 'boolean', default: true } });
    await stage.transaction('frozen', [
      change('Patch', name, frozen, definition),
      change('Patch', 'one', { spec: { a: 'y' } }, kind),
    ]);
    const { status } = await stepToEnd(stage, 'frozen');
    t.match(status, { phase: 'RolledBack', message: /cannot be undone: it becomes immutable/ });
    t.equal(textAt(must(await client.get(`${instances}/one`)), 'spec', 'a'), 'x');
  });

  await t.test('the engine sends a change whose deferred dry run is admitted', async () => {
    const changes = [change('Create', 'late', { rules: [] }, role), change('Create', 'late', { roleRef, subjects }, binding)];
    await commit(stage, 'valid', changes);
    await undoAll(stage, 'valid');
  });
});
