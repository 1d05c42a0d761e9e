// The engine refuses changes that cannot be undone before the first change: objects that become immutable, claims that grow,
// owners whose dependents go with them, and RBAC objects that the ServiceAccount could take away but not put back. All but the
// last can be opted in by annotation.
import t, { type Test } from 'tap';
import { type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { allowIrreversible, commit, partial, undo, undoAll } from '../../support/round-trip.ts';
import { everyNth } from '../../support/selection.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const rbac = 'rbac.authorization.k8s.io/v1';
const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' };

/** Nothing is written, the first change of two included; gives the message. */
async function refusal(t: Test, stage: Stage, name: string, changed: JsonObject): Promise<string> {
  await stage.transaction(name, [change('Create', `${name}-first`, {}), changed]);
  const { status, phase } = await stepToEnd(stage, name);
  t.equal(phase, 'Failed');
  const message = textAt(status, 'message') ?? '';
  t.match(message, /^nothing was applied: spec\.changes\[1\]/);
  t.equal((await stage.client.get(stage.path(`configmaps/${name}-first`))).code, 404);
  return message;
}

t.test('one-way changes', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;

  for (const [kind, plural] of [
    ['ConfigMap', 'configmaps'],
    ['Secret', 'secrets'],
  ] as const)
    for (const type of everyNth(2, ['Update', 'Patch'] as const))
      await t.test(`${type} that makes a ${kind} immutable`, async (t) => {
        const name = `frozen-${kind}-${type}`.toLowerCase();
        must(await client.create(path(plural), { metadata: { name } }));
        const freeze = change(type, name, { immutable: true }, { kind });
        t.match(
          await refusal(t, stage, `${name}-no`, freeze),
          /cannot be undone: it becomes immutable; annotate .*allow-irreversible/,
        );
        await commit(stage, name, [freeze], allowIrreversible);
        t.match(await undo(stage, name, partial), {
          phase: 'Failed',
          message: new RegExp(`undoing ${type} of ${kind} \\S+ was refused`),
        });
      });

  await t.test('one that is created immutable is no such change', async () => {
    await commit(stage, 'born', [change('Create', 'born', { immutable: true, data: { a: '1' } })]);
    await undoAll(stage, 'born');
  });

  await t.test('one that is immutable already may lose a label and get it back', async () => {
    must(await client.create(path('configmaps'), { metadata: { name: 'cold', labels: { a: 'b' } }, immutable: true }));
    await commit(stage, 'cold', [change('Update', 'cold', { immutable: true })]);
    await undoAll(stage, 'cold');
  });

  await t.test('a claim that grows', async (t) => {
    const storageClassName = stage.namespace;
    const classes = '/apis/storage.k8s.io/v1/storageclasses';
    must(
      await client.create(classes, {
        metadata: { name: storageClassName },
        provisioner: 'example.org/none',
        allowVolumeExpansion: true,
      }),
    );
    t.teardown(() => client.delete(`${classes}/${storageClassName}`));
    const storage = (size: string): JsonObject => ({ resources: { requests: { storage: size } } });
    const spec = { accessModes: ['ReadWriteOnce'], storageClassName, volumeName: 'none', ...storage('1Gi') };
    must(await client.create(path('persistentvolumeclaims'), { ...claim, metadata: { name: 'data' }, spec }));
    const bound = { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] };
    must(await client.patch(path('persistentvolumeclaims/data/status'), { status: bound }));
    const grow = change('Patch', 'data', { spec: storage('1.5Gi') }, claim);
    t.match(
      await refusal(t, stage, 'grow-no', grow),
      /PersistentVolumeClaim \S+\/data cannot be undone: a claim can grow but not shrink/,
    );
    const written = change('Patch', 'data', { spec: storage('1024Mi') }, claim);
    await commit(stage, 'same-size', [written]);
    await undoAll(stage, 'same-size');
    await commit(stage, 'grow', [grow], allowIrreversible);
  });

  await t.test('the deletion of an owner', async (t) => {
    const [ports, kind] = [[{ port: 80 }], { apiVersion: 'v1', kind: 'Service' }];
    const owner = must(await client.create(path('services'), { ...kind, metadata: { name: 'owner' }, spec: { ports } }));
    const ownerReferences = [{ ...kind, name: 'owner', uid: textAt(owner, 'metadata', 'uid') ?? '' }];
    must(await client.create(path('configmaps'), { metadata: { name: 'owned', ownerReferences } }));
    const deletion = change('Delete', 'owner', undefined, kind);
    const message = await refusal(t, stage, 'owner-no', deletion);
    t.match(message, /cannot be undone: Kubernetes would also delete the objects that it owns \(ConfigMap owned\)/);
    must(await client.delete(path('configmaps/owned')));
    await commit(stage, 'owner', [deletion]);
    await undoAll(stage, 'owner');
  });
});

t.test('RBAC objects that the ServiceAccount may take away but not put back', async (t) => {
  const all = { verbs: ['*'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings', 'clusterroles'] };
  const own = { verbs: ['*'], apiGroups: [''], resources: ['configmaps'] };
  const withoutEscalation = { ...all, verbs: ['get', 'list', 'create', 'update', 'patch', 'delete'] };
  const stage = await startStage(t, { withoutLoop: true, rules: [withoutEscalation, own] });
  const { client, path, namespace } = stage;
  const rule = (resource: string): JsonObject => ({ apiGroups: [''], resources: [resource], verbs: ['get'] });
  const strong = { rules: [rule('configmaps'), rule('secrets')] };
  const weak = { rules: [rule('configmaps')] };
  must(await client.create(path(`${rbac}/roles`), { metadata: { name: 'edge:strong' }, ...strong }));
  must(await client.create(path(`${rbac}/roles`), { metadata: { name: 'edge:weak' }, ...weak }));
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'edge:strong' };
  const subjects = [{ kind: 'ServiceAccount', name: 'default', namespace }];
  must(await client.create(path(`${rbac}/rolebindings`), { metadata: { name: 'edge:bound' }, roleRef, subjects }));
  const role = { kind: 'Role', apiVersion: rbac };
  const binding = { kind: 'RoleBinding', apiVersion: rbac };

  for (const [what, changed] of [
    ['delete-role', change('Delete', 'edge:strong', undefined, role)],
    ['update-role', change('Update', 'edge:strong', weak, role)],
    ['patch-role', change('Patch', 'edge:strong', weak, role)],
    ['delete-binding', change('Delete', 'edge:bound', undefined, binding)],
    ['update-binding', change('Update', 'edge:bound', { roleRef, subjects: [] }, binding)],
  ] as const)
    await t.test(what, async (t) => {
      t.match(await refusal(t, stage, what, changed), /edge:\w+ could not be restored by the ServiceAccount: /);
    });

  await t.test('an account may remove and restore rights that it has itself', async () => {
    await commit(stage, 'weak', [change('Delete', 'edge:weak', undefined, role)]);
    await undoAll(stage, 'weak');
  });
});
