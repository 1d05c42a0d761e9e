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

const registration = 'admissionregistration.k8s.io/v1';
const denied = refused(422, undefined, { origin: 'policy' });
const uncallable: Failure = { ...refused(500), kind: 'transient', reason: 'InternalError', origin: 'call' };
const rules = (plural: string, operation = '*'): JsonObject => ({
  ...{ apiGroups: [''], apiVersions: ['v1'] },
  ...{ operations: [operation], resources: [plural] },
});
const webhook = (kind: string, type: ChangeType, before: JsonObject, after?: JsonObject): Earlier => ({
  ...write(type, registration, kind, 'judge'),
  states: { before: { webhooks: [before] }, after: after && { webhooks: [after] } },
});
const judging = (type: ChangeType, before: JsonObject): Earlier => webhook('ValidatingWebhookConfiguration', type, before);
const mutating = (before: JsonObject, after: JsonObject): Earlier =>
  webhook('MutatingWebhookConfiguration', 'Patch', before, after);
const only = (namespace: string): JsonObject => ({ matchLabels: { 'kubernetes.io/metadata.name': namespace } });
const among = (operator: string): JsonObject => ({
  matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator, values: ['shop'] }],
});
const policy = (plural: string): Earlier => ({
  ...write('Delete', registration, 'ValidatingAdmissionPolicy', 'wants'),
  states: { before: { spec: { matchConstraints: { resourceRules: [rules(plural)] } } }, after: undefined },
});
const bound = write('Delete', registration, 'ValidatingAdmissionPolicyBinding', 'wants');
const givers = ['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'] as const;
const labels = (type: ChangeType, before: JsonObject, after: JsonObject): Earlier => ({
  ...write(type, 'v1', 'Namespace', 'shop'),
  states: { before: { metadata: { labels: before } }, after: { metadata: { labels: after } } },
});
const quota = write('Patch', 'v1', 'ResourceQuota', 'shop/limits');
const range = write('Delete', 'v1', 'LimitRange', 'shop/limits');
const claim = later(write('Create', 'v1', 'PersistentVolumeClaim', 'shop/p'), {});
const standard: Earlier = { ...priority, type: 'Delete', states: { before: { globalDefault: true }, after: undefined } };
const next = later(write('Create', 'scheduling.k8s.io/v1', 'PriorityClass', 'next'), { globalDefault: true });

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
  ['a quota that counts a Service', service, { ...other, type: 'Patch' }, refused(403, 'has')],
  ['a quota that counts a Service: a new one', { ...service, type: 'Delete' }, other, refused(403, 'has')],
  ['node ports that are taken', service, other, refused(422, 'has', { fields: ports })],
  ['a PriorityClass', priority, pod({ priorityClassName: 'high' }), refused(403, 'p')],
  ['a RuntimeClass', runtime, pod({ runtimeClassName: 'safe' }), refused(403, 'p')],
  ['a ServiceAccount', account, pod({ serviceAccountName: 'robot' }), refused(403, 'p')],
  ['the usual ServiceAccount', { ...account, target: { ...account.target, name: 'default' } }, pod({}), refused(403, 'p')],
  ['a webhook that cannot be called', judging('Delete', { rules: [rules('secrets')] }), secret, uncallable],
  ['a webhook that denies it in its own words', judging('Update', { rules: [rules('*')] }), secret, refused(418)],
  [
    'a webhook for this Namespace',
    judging('Delete', { rules: [rules('*')], namespaceSelector: only('shop') }),
    secret,
    refused(403),
  ],
  [
    'a webhook for some Namespaces',
    judging('Delete', { rules: [rules('*')], namespaceSelector: among('In') }),
    secret,
    uncallable,
  ],
  ['a webhook that is not known', { ...judging('Delete', {}), states: undefined } as unknown as Earlier, secret, uncallable],
  ['a webhook that will add something', mutating({ rules: [] }, { rules: [rules('secrets')] }), secret, denied],
  ['a policy', policy('secrets'), secret, denied],
  ['a binding', bound, secret, denied],
  ...givers.map(
    (kind) =>
      [
        `a ${kind} that adds a field which the schema requires`,
        write('Create', registration, kind, 'gives'),
        widget,
        refused(422, 'one', { reason: 'Invalid', fields: ['spec.a'] }),
      ] as const,
  ),
  ['labels of the Namespace: Pod security', labels('Patch', { a: '1' }, { a: '2' }), pod({}), refused(403, 'p')],
  ['labels of the Namespace: webhooks', labels('Update', { a: '1' }, {}), secret, uncallable],
  ['a ResourceQuota', quota, claim, refused(403, 'p')],
  ['a LimitRange', range, claim, refused(403, 'p')],
  ['a PriorityClass that changes', { ...priority, type: 'Update' }, pod({ priorityClassName: 'high' }), refused(403, 'p')],
  ['the default PriorityClass', standard, next, refused(403, 'next')],
  ['a CRD with another conversion', crd, patched, uncallable],
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
  ['an Update, which frees no place', { ...gone, type: 'Update' }, secret, refused(403, 'young')],
  ['a Service that is new, which frees nothing', { ...service, type: 'Create' }, other, refused(403, 'has')],
  ['a quota of rights', { ...role, type: 'Delete' }, { ...binding, content: roleRef('Role', 'other') }, refused(403, 'all')],
  ['objects without namespace', { ...priority, type: 'Delete' }, later({ ...priority, index: 1 }, {}), refused(403, 'high')],
  ['a node port and more', service, other, refused(422, 'has', { fields: [...ports, 'spec.type'] })],
  ['no field at all', service, other, refused(422, 'has')],
  ['a Service that is new', { ...service, type: 'Create' }, other, refused(422, 'has', { fields: ports })],
  ['another PriorityClass', priority, pod({ priorityClassName: 'low' }), refused(403, 'p')],
  ['a webhook that is new', judging('Create', { rules: [rules('secrets')] }), secret, uncallable],
  ['a webhook for other kinds', judging('Delete', { rules: [rules('pods')] }), secret, uncallable],
  ['a webhook for other operations', judging('Delete', { rules: [rules('*', 'DELETE')] }), secret, uncallable],
  ['a webhook elsewhere', judging('Delete', { rules: [rules('*')], namespaceSelector: only('bank') }), secret, uncallable],
  ['a webhook not here', judging('Delete', { rules: [rules('*')], namespaceSelector: among('NotIn') }), secret, uncallable],
  [
    'a webhook, and no answer',
    judging('Delete', { rules: [rules('*')] }),
    secret,
    { ...uncallable, code: 0, reason: 'ConnectionFailed' },
  ],
  ['a policy for other kinds', policy('pods'), secret, denied],
  ['a policy, and a refusal with fields', policy('secrets'), secret, refused(422, 'young', { fields: ['data'] })],
  ['a policy, and a quota', policy('secrets'), secret, refused(403, 'young')],
  ['another label of the Namespace that stays', labels('Patch', { a: '1', b: '1' }, { a: '1' }), pod({}), refused(403, 'p')],
  [
    'labels of another Namespace',
    { ...labels('Patch', {}, { a: '1' }), target: { ...priority.target, name: 'bank' } },
    pod({}),
    refused(403, 'p'),
  ],
  ['a ResourceQuota elsewhere', { ...quota, target: { ...quota.target, namespace: 'bank' } }, secret, refused(403, 'young')],
  ['a ResourceQuota, and a policy', quota, secret, denied],
  ['a LimitRange, and a kind without limits', range, secret, refused(403, 'young')],
  ['a PriorityClass that is no default', { ...standard, states: { before: {}, after: undefined } }, next, refused(403, 'next')],
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
