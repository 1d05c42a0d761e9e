// The table of refusals that an earlier change removes: pairs of changes, answers, and similar cases that do not count.
import t from 'tap';
import type { Failure } from '../../../../hooks/objects/failure.ts';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import { groupOf } from '../../../../hooks/objects/reference.ts';
import { deferredNote, type Earlier, type Later, removerOf } from '../../../../hooks/transactions/checks/deferred.ts';
import type { ChangeType } from '../../../../hooks/transactions/model/change.ts';

const rbac = 'rbac.authorization.k8s.io/v1';

function write(type: ChangeType, apiVersion: string, kind: string, named: string): Earlier {
  const [name = '', namespace] = named.split('/').reverse();
  const target = { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) };
  return { index: 0, type, target, resource: { group: groupOf(apiVersion), kind, plural: `${kind.toLowerCase()}s` } };
}

function later(earlier: Earlier, content?: JsonObject, prior?: JsonObject): Later {
  return { ...earlier, index: 1, content, ...(prior === undefined ? {} : { prior }) };
}

function refused(code: number, subject?: string, more: Partial<Failure> = {}): Failure {
  const kind = code === 404 ? 'absent' : 'refused';
  const plain = { kind, code, reason: 'Forbidden', message: '', fields: [], definitive: true } as const;
  return { ...plain, ...(subject === undefined ? {} : { subject }), ...more };
}

const roleRef = (kind: string, name: string): JsonObject => ({ roleRef: { kind, name } });
const role = write('Create', rbac, 'Role', 'shop/reader');
const clusterRole = write('Update', rbac, 'ClusterRole', 'reader');
const binding = later(write('Create', rbac, 'RoleBinding', 'shop/all'), roleRef('Role', 'reader'));
const crd = write('Patch', 'apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'widgets.example.org');
const widget = later(write('Create', 'example.org/v1', 'Widget', 'shop/one'), {});
const patched = { ...widget, type: 'Patch' } as const;
const gone = write('Delete', 'v1', 'Secret', 'shop/old');
const secret = later(write('Create', 'v1', 'Secret', 'shop/young'), {});
const service = write('Update', 'v1', 'Service', 'shop/had');
const other = later(write('Create', 'v1', 'Service', 'shop/has'), {});
const pod = (spec: JsonObject): Later => later(write('Create', 'v1', 'Pod', 'shop/p'), { spec });
const priority = write('Create', 'scheduling.k8s.io/v1', 'PriorityClass', 'high');
const runtime = write('Create', 'node.k8s.io/v1', 'RuntimeClass', 'safe');
const account = write('Create', 'v1', 'ServiceAccount', 'shop/robot');
const ports = ['spec.ports[0].nodePort', 'spec.ports[12].nodePort'];

const covered: readonly (readonly [string, Earlier, Later, Failure])[] = [
  ['a role that is missing', role, binding, refused(404, 'reader')],
  ['a role that holds too much', role, binding, refused(403, 'all')],
  ['a ClusterRole', clusterRole, { ...binding, content: roleRef('ClusterRole', 'reader') }, refused(403, 'all')],
  [
    'the role of the binding that is there',
    role,
    { ...binding, content: {}, prior: roleRef('Role', 'reader') },
    refused(403, 'all'),
  ],
  ['a field that is unknown', crd, widget, refused(400, undefined, { reason: 'BadRequest' })],
  ['a field that is invalid', crd, widget, refused(422, 'one', { fields: ['spec.a'] })],
  ['a field that apply does not know', crd, patched, refused(500, undefined, { reason: 'InvalidContent' })],
  ['a full quota', gone, secret, refused(403, 'young')],
  ['node ports that are taken', service, other, refused(422, 'has', { fields: ports })],
  ['a PriorityClass', priority, pod({ priorityClassName: 'high' }), refused(403, 'p')],
  ['a RuntimeClass', runtime, pod({ runtimeClassName: 'safe' }), refused(403, 'p')],
  ['a ServiceAccount', account, pod({ serviceAccountName: 'robot' }), refused(403, 'p')],
  ['the usual ServiceAccount', { ...account, target: { ...account.target, name: 'default' } }, pod({}), refused(403, 'p')],
];

const near: readonly (readonly [string, Earlier, Later, Failure])[] = [
  ['another role', role, { ...binding, content: roleRef('Role', 'writer') }, refused(403, 'all')],
  ['a ClusterRole of that name', role, { ...binding, content: roleRef('ClusterRole', 'reader') }, refused(403, 'all')],
  ['a role elsewhere', { ...role, target: { ...role.target, namespace: 'bank' } }, binding, refused(403, 'all')],
  ['a role that goes', { ...role, type: 'Delete' }, binding, refused(404, 'reader')],
  ['something else that is missing', role, binding, refused(404, 'shop')],
  ['a policy, which names no object', role, binding, refused(403)],
  [
    'another CRD',
    { ...crd, target: { ...crd.target, name: 'gadgets.example.org' } },
    widget,
    refused(422, 'one', { fields: ['a'] }),
  ],
  ['a CRD that goes', { ...crd, type: 'Delete' }, widget, refused(422, 'one', { fields: ['a'] })],
  ['a policy, which names no field', crd, widget, refused(422, 'one')],
  ['a right that is missing', crd, widget, refused(403, 'one')],
  ['an apply that fails otherwise', crd, patched, refused(500, undefined, { reason: 'InternalError' })],
  ['a Create in words of an apply', crd, widget, refused(500, undefined, { reason: 'InvalidContent' })],
  ['a Delete of another kind', { ...gone, resource: { ...gone.resource, kind: 'ConfigMap' } }, secret, refused(403, 'young')],
  ['a Delete elsewhere', { ...gone, target: { ...gone.target, namespace: 'bank' } }, secret, refused(403, 'young')],
  ['an Update, which takes no place', gone, { ...secret, type: 'Update' }, refused(403, 'young')],
  ['a quota of rights', { ...role, type: 'Delete' }, { ...binding, content: roleRef('Role', 'other') }, refused(403, 'all')],
  ['objects without namespace', { ...priority, type: 'Delete' }, later({ ...priority, index: 1 }, {}), refused(403, 'high')],
  ['a node port and more', service, other, refused(422, 'has', { fields: [...ports, 'spec.type'] })],
  ['no field at all', service, other, refused(422, 'has')],
  ['a Service that is new', { ...service, type: 'Create' }, other, refused(422, 'has', { fields: ports })],
  ['another PriorityClass', priority, pod({ priorityClassName: 'low' }), refused(403, 'p')],
  ['a PriorityClass that changes', { ...priority, type: 'Update' }, pod({ priorityClassName: 'high' }), refused(403, 'p')],
  ['another RuntimeClass', runtime, pod({ runtimeClassName: 'fast' }), refused(403, 'p')],
  ['another ServiceAccount', account, pod({}), refused(403, 'p')],
];

for (const [what, earlier, refusedOne, failure] of covered)
  t.test(`taken away: ${what}`, async (t) => {
    t.equal(removerOf(failure, refusedOne, [gone, earlier].slice(earlier === gone ? 1 : 0)), earlier);
    t.equal(removerOf(failure, refusedOne, []), undefined, 'only where something comes before');
  });

for (const [what, earlier, refusedOne, failure] of near)
  t.test(`not taken away: ${what}`, async (t) => t.equal(removerOf(failure, refusedOne, [earlier]), undefined));

t.test('the message of the item', async (t) => {
  const reason = 'NotFound';
  t.equal(
    deferredNote(refused(404, 'reader', { reason }), role),
    'its dry run was refused (404 NotFound) and is made again in its turn, after spec.changes[0] (Role.rbac.authorization.k8s.io shop/reader)',
  );
});
