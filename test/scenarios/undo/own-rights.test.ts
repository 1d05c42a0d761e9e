// A Transaction that takes rights from its own ServiceAccount is refused if its undo needs them: the undo would end as Forbidden, and
// leave everything applied.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { allowIrreversible, commit, undoAll } from '../../support/round-trip.ts';
import { account, type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

const apiVersion = 'rbac.authorization.k8s.io/v1';
const group = 'rbac.authorization.k8s.io';
const editing = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }];
const written = ['get', 'list', 'create', 'update', 'patch', 'delete'];
const limited: readonly JsonObject[] = [
  { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
  { apiGroups: [group], resources: ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'], verbs: written },
];

/** The Role `editor` and its binding, which give the ServiceAccount the right to write ConfigMaps. */
async function createEditor({ client, path, namespace }: Stage): Promise<void> {
  const metadata = { name: 'editor' };
  must(await client.create(path(`${apiVersion}/roles`), { apiVersion, kind: 'Role', metadata, rules: editing }));
  const subjects = [{ kind: 'ServiceAccount', name: account, namespace }];
  const roleRef = { apiGroup: group, kind: 'Role', name: 'editor' };
  must(await client.create(path(`${apiVersion}/rolebindings`), { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects }));
}

const red = { data: { color: 'red' } };
const patch = change('Patch', 'a', red);
const unbind = change('Delete', 'editor', undefined, { apiVersion, kind: 'RoleBinding' });
const empty = change('Patch', 'editor', { rules: [] }, { apiVersion, kind: 'Role' });
const noSubject = change('Patch', 'editor', { subjects: [] }, { apiVersion, kind: 'RoleBinding' });

t.test('changes that take the rights of their own undo', async (t) => {
  const stage = await startStage(t, { withoutLoop: true, rules: limited });
  await createConfigMaps(stage, ['a']);
  await createEditor(stage);
  const rows = { unbound: [patch, unbind], 'before-it': [noSubject, patch], emptied: [patch, empty] };
  for (const [name, changes] of Object.entries(rows))
    await t.test(`${name}: refused before the first change, with the Role and the right`, async (t) => {
      await stage.transaction(name, changes);
      const { status, phase } = await stepToEnd(stage, name);
      t.equal(phase, 'Failed');
      const message = textAt(status, 'message') ?? '';
      t.match(message, /(Role|RoleBinding)\S* \S+\/editor gives ServiceAccount \S+\/deployer the right to \S+ configmaps/);
      t.match(message, 'tx.janus.io/allow-irreversible=true');
      t.equal(at(must(await stage.client.get(stage.path('configmaps/a'))), 'data', 'color'), 'blue');
    });
  await t.test('the annotation allows it', async () => {
    await commit(stage, 'allowed', [patch, unbind], allowIrreversible);
  });
});

t.test('a ServiceAccount with other Roles releases such changes, and undoes them', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  await createConfigMaps(stage, ['a']);
  await createEditor(stage);
  await commit(stage, 'held', [patch, unbind, empty]);
  await undoAll(stage, 'held');
  t.equal((await stage.client.get(stage.path(`${apiVersion}/rolebindings/editor`))).code, 200);
});
