// Which rights the undo of a Transaction would lack, as tables of Roles and bindings of ServiceAccount shop/deployer.
import t from 'tap';
import type { AccessQuestion } from '../../../../hooks/objects/cluster.ts';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import { boundRole, type RoleChange, takenRight } from '../../../../hooks/transactions/hazards/own-rights.ts';

const account = { namespace: 'shop', name: 'deployer' };
const apiVersion = 'rbac.authorization.k8s.io/v1';
const deployer = { kind: 'ServiceAccount', name: 'deployer', namespace: 'shop' };

/** `update configmaps`: one rule for each. */
function role(name: string, ...rules: readonly string[]): JsonObject {
  const all = rules.map((rule) => {
    const [verb = '', resource = ''] = rule.split(' ');
    const apiGroups = resource === '*' ? ['*'] : [/role/.test(resource) ? 'rbac.authorization.k8s.io' : ''];
    return { verbs: verb.split(','), apiGroups, resources: resource.split(',') };
  });
  return { apiVersion, kind: 'Role', metadata: { name, namespace: 'shop' }, rules: all };
}

function binding(name: string, to = name, subjects: readonly JsonObject[] = [deployer]): JsonObject {
  return {
    apiVersion,
    kind: 'RoleBinding',
    metadata: { name, namespace: 'shop' },
    roleRef: { kind: 'Role', name: to },
    subjects,
  };
}

function changed(index: number, prior: JsonObject | undefined, expected: JsonObject | undefined): RoleChange {
  const { kind, metadata } = (prior ?? expected) as { kind: string; metadata: { name: string } };
  return { index, target: { apiVersion, kind, name: metadata.name, namespace: 'shop' }, prior, expected };
}

const rbac = 'rbac.authorization.k8s.io';
const ask = (verb: string, resource: string, name: string): AccessQuestion => {
  return { verb, group: /role/.test(resource) ? rbac : '', resource, namespace: 'shop', name };
};
const config = (index: number) => ({ index, questions: [ask('update', 'configmaps', 'app')] });
const restoring = (index: number, resource: string) => ({
  index,
  questions: [{ verb: 'update', group: rbac, resource, namespace: 'shop' }],
});

const edit = role('edit', 'update configmaps');
const all = role('all', '* *');
const admin = role('admin', 'update,bind,escalate roles,rolebindings');

function taken(objects: readonly JsonObject[], changes: readonly RoleChange[], needs: Parameters<typeof takenRight>[3]) {
  const bindings = objects.filter(({ kind }) => kind === 'RoleBinding');
  const roles = objects.filter(({ kind }) => kind === 'Role');
  const key = (one: JsonObject): string => `Role|shop|${(one.metadata as { name: string }).name}`;
  const found = takenRight(account, { bindings, roles: new Map(roles.map((one) => [key(one), one])) }, changes, needs);
  return found && `${found.index} takes ${found.question.verb} ${found.question.resource} from ${found.neededBy}`;
}

const none = binding('edit', 'edit', []);

t.test('a right that a later change takes is lost for the undo of the change itself, or of what comes after it', async (t) => {
  const given = [edit, binding('edit')];
  const noRules = role('edit');
  t.equal(taken(given, [changed(1, edit, noRules)], [config(0)]), '1 takes update configmaps from 0', 'not restored by the undo');
  t.equal(taken(given, [changed(0, edit, undefined)], [config(1)]), '0 takes update configmaps from 1', 'undone before it');
  t.equal(taken(given, [changed(0, binding('edit'), none)], [config(1)]), '0 takes update configmaps from 1', 'a subject less');
  t.equal(taken(given, [changed(0, binding('edit'), undefined)], [config(1)]), '0 takes update configmaps from 1', 'unbound');
  t.equal(taken(given, [changed(0, edit, edit)], [config(1)]), undefined, 'unchanged');
  t.equal(taken([edit, none], [changed(0, edit, undefined)], [config(1)]), undefined, 'it never gave the right');
});

t.test('another Role that stays keeps the right', async (t) => {
  for (const other of [all, role('more', 'get,update *'), role('more', 'update configmaps')]) {
    const name = (other.metadata as { name: string }).name;
    const given = [edit, binding('edit'), other, binding(name)];
    t.equal(taken(given, [changed(0, edit, undefined)], [config(1)]), undefined, JSON.stringify(other.rules));
  }
});

t.test('an RBAC object that the undo restores first gives its rights back, if the ServiceAccount may restore it', async (t) => {
  const own = changed(1, edit, role('edit'));
  const needs = [config(0), restoring(1, 'roles')];
  t.equal(taken([edit, binding('edit'), admin, binding('admin')], [own], needs), undefined, 'escalate allows it');
  const writer = role('writer', 'update roles');
  const text = '1 takes update configmaps from 1';
  t.equal(taken([edit, binding('edit'), writer, binding('writer')], [own], needs), text, 'it must hold what it restores');
  t.equal(taken([all, binding('all')], [changed(0, all, role('all'))], [restoring(0, 'roles')]), '0 takes update roles from 0');
  t.equal(
    taken([all, binding('all')], [changed(0, binding('all'), undefined)], [restoring(0, 'rolebindings')]),
    '0 takes update rolebindings from 0',
  );
});

t.test('a Role that the Transaction creates before gives rights, too', async (t) => {
  const next = role('next', 'update configmaps');
  const changes = [changed(0, undefined, next), changed(1, undefined, binding('next')), changed(2, edit, undefined)];
  t.equal(taken([edit, binding('edit')], changes, [config(3)]), undefined);
  t.equal(taken([edit, binding('edit')], changes.slice(2), [config(3)]), '2 takes update configmaps from 3');
});

t.test('a binding is of the ServiceAccount by its name, as a user, or by a group', async (t) => {
  const subjects: readonly JsonObject[] = [
    deployer,
    { kind: 'User', name: 'system:serviceaccount:shop:deployer' },
    ...['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'].map((name) => ({ kind: 'Group', name })),
  ];
  for (const subject of subjects) t.equal(boundRole(binding('edit', 'edit', [subject]), account), 'Role|shop|edit');
  const others = [
    { ...deployer, namespace: 'other' },
    { kind: 'Group', name: 'system:serviceaccounts:other' },
    { kind: 'User', name: 'deployer' },
  ];
  for (const subject of others) t.equal(boundRole(binding('edit', 'edit', [subject]), account), undefined);
});
