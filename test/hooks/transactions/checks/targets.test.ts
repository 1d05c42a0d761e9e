// From targets as written to objects, and the ones that are refused.
import t from 'tap';
import type { AccessQuestion, Resource } from '../../../../hooks/objects/cluster.ts';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import { resourceFromChanged, resourceFromCreated } from '../../../../hooks/transactions/checks/defined.ts';
import { byName, gapFaults, merged, needsOf, needsOfGates } from '../../../../hooks/transactions/checks/permissions.ts';
import { namespaceCreator, type Resolved, targetFaults, targetOf } from '../../../../hooks/transactions/checks/targets.ts';
import type { ChangeType } from '../../../../hooks/transactions/model/change.ts';
import { listed, table } from '../../../support/table.ts';
import { change, transactionOf } from '../../../support/transactions.ts';

const engineNamespace = 'janus-system';
const verbs = ['get', 'list', 'create', 'update', 'patch', 'delete'];

/** Kinds as discovery tells of them: `group plural`, namespaced unless it ends with `!`; `?` has no verbs but create. */
const served = table<'kind' | 'resource'>(`
kind                           | resource
ConfigMap                      | configmaps
Secret                         | secrets
Namespace                      | namespaces!
ServiceAccount                 | serviceaccounts
TokenReview                    | authentication.k8s.io tokenreviews!?
Lease                          | coordination.k8s.io leases
ClusterRole                    | rbac.authorization.k8s.io clusterroles!
Role                           | rbac.authorization.k8s.io roles
CustomResourceDefinition       | apiextensions.k8s.io customresourcedefinitions!
APIService                     | apiregistration.k8s.io apiservices!
ValidatingAdmissionPolicy      | admissionregistration.k8s.io validatingadmissionpolicies!
Event                          | events.k8s.io events
Widget                         | example.org widgets
`);

function resourceOf(kind: string): Resource {
  const text = served.find((row) => row.kind === kind)?.resource ?? '';
  const [, group = '', plural = '', scope, odd] = /^(?:([\w.]+) )?(\w+)(!)?(\?)?$/.exec(text) ?? [];
  return {
    group,
    version: 'v1',
    plural,
    kind,
    namespaced: scope === undefined,
    verbs: odd === undefined ? verbs : ['create'],
    statusSubresource: false,
  };
}

const transaction = transactionOf();

/** `ConfigMap app` or `ConfigMap elsewhere/app`. */
function resolved(index: number, text: string, more: JsonObject = {}, type: ChangeType = 'Patch'): Resolved {
  const [kind = '', place = ''] = text.split(' ');
  const resource = resourceOf(kind);
  const [namespace, name] = place.includes('/') ? place.split('/') : [undefined, place];
  const apiVersion = resource.group === '' ? 'v1' : `${resource.group}/v1`;
  const target = { apiVersion, kind, name: name ?? '', ...(namespace === undefined ? {} : { namespace }) };
  const [decoded] = transactionOf({ changes: [change(type, '', { target, ...more })] }).changes;
  if (decoded === undefined) throw new Error('no change');
  return { index, change: decoded, resource, target: targetOf(decoded, resource, transaction) };
}

const targets = table<'target' | 'verdict'>(`
target                                            | verdict
ConfigMap app                                     |
ConfigMap elsewhere/app                           |
ConfigMap janus-system/app                        | Refused
Lease janus-system/janus-lock-x                   | Refused
Lease shop/leader                                 |
Secret janus-system/janus-sealing-key             | Refused
Namespace other                                   |
Namespace shop                                    | Refused
Namespace janus-system                            | Refused
ServiceAccount deployer                           | Refused
ServiceAccount other                              |
ServiceAccount elsewhere/deployer                 |
CustomResourceDefinition transactions.tx.janus.io | Refused
CustomResourceDefinition compositecontrollers.metacontroller.k8s.io | Refused
CustomResourceDefinition widgets.example.org      |
APIService v1alpha1.tx.janus.io                   | Refused
APIService v1.metacontroller.k8s.io               | Refused
APIService v1.example.org                         |
ClusterRole janus                                 | Refused
ClusterRole janus-hook                            | Refused
ClusterRole janusz                                |
ClusterRole system:node                           |
Role janus-reader                                 |
ValidatingAdmissionPolicy janus-impersonation     | Refused
TokenReview x                                     | Refused
Event app.1                                       | Refused
Widget janus                                      |
`);

for (const { target, verdict } of targets) {
  t.test(`${target} as a target: ${verdict === '' ? 'good' : verdict}`, async (t) => {
    const faults = targetFaults([resolved(3, target)], transaction, engineNamespace);
    t.same(
      faults.map(({ reason, item }) => `${reason} ${item}`),
      verdict === '' ? [] : [`${verdict} 3`],
    );
    for (const { message } of faults) t.match(message, /^spec\.changes\[3\]: \w+/);
  });
}

t.test('scopes', async (t) => {
  const faults = (one: Resolved): string =>
    targetFaults([one], transaction, engineNamespace)
      .map(({ message }) => message)
      .join();
  t.match(faults(resolved(0, 'ClusterRole shop/reader')), /cluster-scoped: leave target\.namespace out/);
  t.equal(resolved(0, 'ConfigMap app').target.namespace, 'shop', 'the Transaction’s namespace is the default');
  t.notOk('namespace' in resolved(0, 'ClusterRole reader').target);
  const content = { content: { metadata: { namespace: 'elsewhere' } } };
  t.match(faults(resolved(0, 'ConfigMap app', content)), /content\.metadata\.namespace does not match/);
  t.match(faults(resolved(0, 'ClusterRole reader', content)), /does not match/);
  t.equal(faults(resolved(0, 'ConfigMap app', content, 'Delete')), '');
});

t.test(
  'the same target twice is named with both positions, whatever the version and wherever the namespace is said',
  async (t) => {
    const twice = (...all: readonly Resolved[]): readonly string[] =>
      targetFaults(all, transaction, engineNamespace).map(({ message }) => message);
    t.match(twice(resolved(0, 'ConfigMap app'), resolved(1, 'Secret app'), resolved(2, 'ConfigMap shop/app')), [
      /ConfigMap shop\/app is the target of spec\.changes\[0\] and of spec\.changes\[2\]/,
    ]);
    const beta = {
      ...resolved(1, 'Widget x'),
      target: { ...resolved(1, 'Widget x').target, apiVersion: 'example.org/v1beta1' },
    };
    t.equal(twice(resolved(0, 'Widget x'), beta).length, 1);
    t.equal(twice(resolved(0, 'ConfigMap a'), resolved(1, 'ConfigMap a'), resolved(2, 'ConfigMap a')).length, 2);
    t.same(twice(resolved(0, 'ConfigMap a'), resolved(1, 'ConfigMap elsewhere/a')), []);
  },
);

const definition = change('Create', '', {
  target: { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: 'widgets.example.org' },
  content: {
    spec: {
      group: 'example.org',
      scope: 'Namespaced',
      names: { kind: 'Widget', plural: 'widgets' },
      versions: [
        { name: 'v1', served: true, subresources: { status: {} } },
        { name: 'v2', served: true },
        { name: 'v3', served: false },
      ],
    },
  },
});
const widget = (apiVersion: string): JsonObject => change('Create', '', { target: { apiVersion, kind: 'Widget', name: 'x' } });

t.test('a kind that an earlier change makes', async (t) => {
  const found = (...changes: readonly JsonObject[]): ReturnType<typeof resourceFromCreated> =>
    resourceFromCreated(transactionOf({ changes }).changes, changes.length - 1);
  t.match(found(definition, widget('example.org/v1')), {
    by: 0,
    resource: { plural: 'widgets', namespaced: true, statusSubresource: true },
  });
  t.match(found(definition, widget('example.org/v2')), { resource: { version: 'v2', statusSubresource: false } });
  t.equal(found(definition, widget('other.org/v1')), undefined);
  t.equal(found(widget('example.org/v1'), definition), undefined, 'a later change makes nothing');
  t.equal(found({ ...definition, type: 'Update' }, widget('example.org/v1')), undefined);
  t.equal(found(definition, widget('example.org/v3')), undefined, 'a version that is not served');
  const misnamed = { ...definition, target: { ...(definition.target as JsonObject), name: 'gadgets.example.org' } };
  t.equal(found(misnamed, widget('example.org/v1')), undefined, 'a name that does not agree with its plural is refused later');
});

t.test('a version that an earlier change adds', async (t) => {
  const found = (...changes: readonly JsonObject[]): ReturnType<typeof resourceFromChanged> =>
    resourceFromChanged(transactionOf({ changes }).changes, changes.length - 1);
  for (const type of ['Update', 'Patch'])
    t.match(found({ ...definition, type }, widget('example.org/v2')), { by: 0, resource: { plural: 'widgets', version: 'v2' } });
  for (const type of ['Create', 'Delete']) t.equal(found({ ...definition, type }, widget('example.org/v2')), undefined);
});

t.test('a Namespace that an earlier change makes', async (t) => {
  const namespace = change('Create', '', { target: { apiVersion: 'v1', kind: 'Namespace', name: 'new' } });
  const { changes } = transactionOf({ changes: [change('Patch', 'a'), namespace, change('Create', 'b')] });
  t.equal(namespaceCreator(changes, 2, 'new'), 1);
  t.equal(namespaceCreator(changes, 2, 'other'), undefined);
  t.equal(namespaceCreator(changes, 1, 'new'), undefined);
  t.equal(namespaceCreator(changes, 2, undefined), undefined);
});

function told({ verb, group, resource, namespace, name }: AccessQuestion): string {
  return `${verb} ${group === '' ? '' : `${group}/`}${resource}${namespace === undefined ? '' : ` in ${namespace}`}${name === undefined ? '' : ` ${name}`}`;
}

const needs = table<'change' | 'needs'>(`
change                                        | needs
Create ConfigMap a                            | get configmaps in shop, create configmaps in shop, delete configmaps in shop
Update ConfigMap a                            | get configmaps in shop, update configmaps in shop
Patch ConfigMap a                             | get configmaps in shop, patch configmaps in shop, update configmaps in shop
Delete ConfigMap a                            | get configmaps in shop, delete configmaps in shop, create configmaps in shop, update configmaps in shop
Update ClusterRole a                          | get rbac.authorization.k8s.io/clusterroles, update rbac.authorization.k8s.io/clusterroles
Create Namespace new                          | get namespaces, create namespaces, delete namespaces, list */* in new, get serviceaccounts in new default
Create CustomResourceDefinition ws.example.org | get apiextensions.k8s.io/customresourcedefinitions, create apiextensions.k8s.io/customresourcedefinitions, delete apiextensions.k8s.io/customresourcedefinitions, list example.org/ws
`);
for (const row of needs) {
  t.test(`${row.change} needs rights forward and for its undo`, async (t) => {
    const [type = '', ...target] = row.change.split(' ');
    t.same(
      needsOf([resolved(0, target.join(' '), {}, type as ChangeType)]).map(({ question }) => told(question)),
      listed(row.needs),
    );
  });
}

t.test('gates list Pods, ReplicaSets and Events, and read logs only to keep them', async (t) => {
  const gated = (gate: JsonObject) => transactionOf({ changes: [change('Create', 'web', { gate })] });
  const deployment = {
    ...resolved(0, 'Deployment web', {}, 'Create'),
    resource: { ...resolved(0, 'ConfigMap a').resource, group: 'apps', kind: 'Deployment' },
  };
  const asked = (gate: JsonObject, one = deployment) =>
    needsOfGates(gated(gate), [one]).map(({ question, purpose }) =>
      `${purpose} ${told(question)} ${question.subresource ?? ''}`.trim(),
    );
  const lists = ['gate list apps/replicasets in shop', 'gate list pods in shop', 'gate list events in shop'];
  t.same(asked({}), lists);
  t.same(asked({ keepLogs: true }), [...lists, 'gate get pods in shop log']);
  t.same(asked({ at: 'Never' }), []);
  t.same(asked({}, resolved(0, 'ConfigMap a', {}, 'Create')), []);
  const gates = needsOfGates(gated({}), [deployment]);
  const also = gates.map((need) => ({ ...need, purpose: 'undo' as const }));
  t.ok(
    merged([...gates, ...also]).every(({ purpose }) => purpose === 'undo'),
    'what the undo needs, too, is reviewed',
  );
});

t.test('one question for each verb, resource and namespace', async (t) => {
  const many = Array.from({ length: 500 }, (_, index) => resolved(index, `ConfigMap a${index}`));
  const asked = needsOf(many);
  t.equal(asked.length, 3);
  t.ok(asked.every(({ by }) => by.length === 500));
  t.equal(needsOf([...many, resolved(500, 'ConfigMap elsewhere/a')]).length, 6);
});

t.test('a right that a change needs is no right of the undo alone', async (t) => {
  const [gone, made] = [resolved(0, 'ConfigMap gone', {}, 'Delete'), resolved(1, 'ConfigMap made', {}, 'Create')];
  const lists = [needsOf([gone]), needsOf([made])];
  for (const needs of [lists, lists.toReversed()]) {
    const all = merged(needs.flat());
    t.match(
      all.filter(({ question: { verb } }) => ['create', 'delete'].includes(verb)),
      [{ purpose: 'change' }, { purpose: 'change' }],
    );
    t.same(new Set(all.find(({ question: { verb } }) => verb === 'create')?.by), new Set([gone, made]));
    t.equal(all.find(({ question: { verb } }) => verb === 'update')?.purpose, 'undo');
  }
});

t.test('the check names the object if the object has a name yet', async (t) => {
  const question = (verb: string): AccessQuestion => ({ verb, group: '', resource: 'configmaps', namespace: 'shop' });
  t.match(byName(question('update'), 'a'), { verb: 'update', name: 'a' });
  t.equal(byName(question('create'), 'a'), undefined);
  t.equal(byName(question('list'), 'a'), undefined);
  t.match(gapFaults([{ ...question('update'), name: 'a' }], 'ServiceAccount shop/deployer'), [
    { reason: 'Forbidden', message: 'ServiceAccount shop/deployer may not update configmaps "a" in namespace shop' },
  ]);
});
