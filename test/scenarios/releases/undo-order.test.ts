// What an undo creates again may need what it creates later: it is passed over until then (hooks/transactions/outcome/lagging.ts).
import t from 'tap';
import { type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { commit, partial, undo, undoAll } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { stepTo, stepToEnd } from '../../support/stepping.ts';
import { change, portraits } from '../../support/targets.ts';

const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' };
const role = { ...rbac, kind: 'Role' };
const binding = { ...rbac, kind: 'RoleBinding' };
const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };

/** All rights but those to grant what one does not have. */
const withoutEscalation: readonly JsonObject[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'create', 'update', 'patch', 'delete'] },
];

t.test('a ServiceAccount that may not grant rights deletes a Role and its binding', async (t) => {
  const stage = await startStage(t, { withoutLoop: true, rules: withoutEscalation });
  const { client, path, namespace } = stage;
  const pathsOf = (name: string): readonly string[] =>
    ['roles', 'rolebindings'].map((plural) => path(`rbac.authorization.k8s.io/v1/${plural}/${name}`));
  const make = async (name: string): Promise<readonly unknown[]> => {
    const subjects = [{ kind: 'ServiceAccount', name: 'default', namespace }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }];
    must(await client.create(path('rbac.authorization.k8s.io/v1/roles'), { metadata: { name }, rules }));
    must(await client.create(path('rbac.authorization.k8s.io/v1/rolebindings'), { metadata: { name }, roleRef, subjects }));
    return portraits(client, pathsOf(name), true);
  };
  const deletes = (name: string): readonly JsonObject[] => [
    change('Delete', name, undefined, role),
    change('Delete', name, undefined, binding),
  ];

  await t.test('an undo on request restores both', async (t) => {
    const before = await make('both');
    await commit(stage, 'both', deletes('both'));
    t.same(await portraits(client, pathsOf('both')), [undefined, undefined]);
    await stage.annotate('both', { 'tx.janus.io/request-rollback': 'yes' });
    const passed = await stepTo(stage, 'both', 'the binding to be passed over', ({ status }) =>
      /waiting/.test(JSON.stringify(status.items)),
    );
    t.match(
      textAt(passed.status, 'message'),
      /1 change cannot be undone yet: undoing Delete of RoleBinding\S* \S+\/both was refused \(404 NotFound\); it is tried again after spec\.changes\[0\]/,
    );
    t.match((await stepToEnd(stage, 'both')).status, { phase: 'RolledBack' });
    t.same(await portraits(client, pathsOf('both'), true), before);
  });

  await t.test('the undo leaves a binding whose Role is missing, and gives the reason', async (t) => {
    await make('away');
    await commit(stage, 'away', [...deletes('away').slice(1)]);
    const [roles = ''] = pathsOf('away');
    must(await client.delete(roles));
    t.match(await undo(stage, 'away', partial), { phase: 'Failed', message: /undoing Delete of RoleBinding.*was refused/ });
  });
});

t.test('the undo restores an instance that only the earlier schema of its CRD admits', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path, namespace } = stage;
  const [group, plural] = [`${namespace}.example.org`, 'narrowed'];
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const crd = (values: readonly string[]): JsonObject => {
    const spec = { type: 'object', properties: { a: { type: 'string', enum: values } } };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
    const versions = [{ name: 'v1', served: true, storage: true, schema }];
    return { spec: { group, names: { kind: 'Narrowed', plural }, scope: 'Namespaced', versions } };
  };
  const name = `${plural}.${group}`;
  must(await client.create(crds, { ...definition, metadata: { name }, ...crd(['x', 'y']) }));
  t.teardown(() => client.delete(`${crds}/${name}`));
  const kind = { apiVersion: `${group}/v1`, kind: 'Narrowed' };
  const instances = path(`${group}/v1/${plural}`);
  const one = { ...kind, metadata: { name: 'one' }, spec: { a: 'y' } };
  await waitFor(async () => (await client.create(instances, one)).code === 201, 'the instance');
  const paths = [`${crds}/${name}`, `${instances}/one`];
  const before = await portraits(client, paths);
  await commit(stage, 'narrow', [
    change('Patch', name, crd(['x']), definition),
    change('Patch', 'one', { spec: { a: 'x' } }, kind),
  ]);
  await undoAll(stage, 'narrow');
  t.same(await portraits(client, paths), before);
});
