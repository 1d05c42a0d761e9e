// The undo of a change: live object x type of the change x whether the change was recorded -> the write.
import t from 'tap';
import { contentOf } from '../../../../hooks/objects/content/content.ts';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import { evaluateUndo, type UndoEvidence, type UndoVerdict } from '../../../../hooks/transactions/attribution/undo.ts';
import { type Hazards, noHazards } from '../../../../hooks/transactions/hazards/hazards.ts';
import type { Way } from '../../../../hooks/transactions/model/change.ts';
import { entryFor, liveObject, managers, plainEvidence, prior, with_ } from '../../../support/evaluated-objects.ts';
import { entry, fieldsOf, managed } from '../../../support/managed-fields.ts';
import { table } from '../../../support/table.ts';

function evidenceOf(type: Way, live: JsonObject | undefined, recorded: boolean): UndoEvidence {
  const createdUid = type === 'Create' && recorded ? 'u1' : undefined;
  return { ...plainEvidence, entry: entryFor(type), live, recorded, createdUid };
}

function withHazards(found: Partial<Hazards>): { readonly hazards: Hazards } {
  return { hazards: { ...noHazards, ...found } };
}

/** The kind of the judgement; of a conflict its reason and paths; `noted` where a person is told something. */
function told(judged: UndoVerdict): string {
  if (judged.kind !== 'conflict') return 'note' in judged && judged.note !== undefined ? `${judged.kind}, noted` : judged.kind;
  const paths = [...judged.message.matchAll(/([\w.[\]="/]+) \(by [^)]*\)/g)].map(([, path]) => path);
  return [judged.reason, ...paths].join(' ');
}

const changes = table<'found' | 'Update recorded' | 'Update' | 'Patch recorded' | 'Patch'>(`
found                        | Update recorded          | Update                   | Patch recorded           | Patch
before                       | restored                 | restored                 | restored                 | restored
before, status moved         | restored                 | restored                 | restored                 | restored
before, b edited             | restored                 | restored                 | restored                 | restored
before, a edited             | RollbackConflict spec.a  | restored                 | RollbackConflict spec.a  | restored
before, a made 2             | RollbackConflict spec.a  | RollbackConflict spec.a  | RollbackConflict spec.a  | restored
before, a and c made ours    | RollbackConflict spec.a  | RollbackConflict spec.a  | RollbackConflict spec.a  | restored
after                        | content                  | content                  | content                  | content
after, unmarked              | content                  | content                  | content                  | restored
after, status moved          | content                  | content                  | content                  | content
after, annotation written    | content                  | content                  | content                  | content
after, b edited              | content                  | content                  | content                  | content
after, field added           | content                  | content                  | content                  | content
after, item added            | content                  | content                  | content                  | content
after, label edited          | content                  | content                  | content                  | content
after, a stamped             | content                  | content                  | content                  | content
before, a stamped            | restored                 | restored                 | restored                 | restored
after, finalizer added       | content                  | content                  | content                  | content
after, being deleted         | content                  | content                  | content                  | content
after, a edited              | RollbackConflict spec.a  | RollbackConflict spec.a  | RollbackConflict spec.a  | RollbackConflict spec.a
after, a removed             | RollbackConflict spec.a  | RollbackConflict spec.a  | RollbackConflict spec.a  | RollbackConflict spec.a
after, a shared              | RollbackConflict spec.a  | RollbackConflict spec.a  | RollbackConflict spec.a  | RollbackConflict spec.a
after, another uid           | content                  | content                  | content                  | content
after, another uid, unmarked | Replaced                 | restored, noted          | Replaced                 | restored, noted
gone                         | Gone                     | Gone                     | Gone                     | Gone           
before, marked as being restored | content              | content                  | content                  | content
before, marked as being restored, a edited | content    | content                  | content                  | content
`);

for (const { found, ...verdicts } of changes) {
  for (const column of ['Update recorded', 'Update', 'Patch recorded', 'Patch'] as const) {
    t.test(`${column}, found ${found}: ${verdicts[column]}`, async (t) => {
      const type = column.startsWith('Update') ? 'Update' : 'Patch';
      const live = liveObject(found, type);
      t.equal(told(evaluateUndo(evidenceOf(type, live, column.endsWith('recorded')))), verdicts[column]);
    });
  }
}

const creations = table<'found' | 'recorded' | 'announced'>(`
found                           | recorded                 | announced
gone                            | restored                 | restored
after                           | delete                   | delete
after, status moved             | delete                   | delete
after, annotation written       | delete                   | delete
after, finalizer added          | delete                   | delete
after, owner added              | delete                   | delete
after, resourceVersion moved    | delete                   | delete
after, being deleted            | wait                     | wait
after, field added              | ForeignContent spec.x    | ForeignContent spec.x
after, a edited                 | ForeignContent spec.a    | ForeignContent spec.a
after, a stamped                | delete                   | delete
after, label edited             | ForeignContent metadata.labels.l | ForeignContent metadata.labels.l
after, unmarked                 | delete                   | restored, noted
after, marked by annotation     | delete                   | delete
after, marked by another        | delete                   | restored, noted
after, another uid              | delete                   | delete
after, another uid, unmarked    | restored, noted          | restored, noted
`);

for (const { found, ...verdicts } of creations) {
  for (const column of ['recorded', 'announced'] as const) {
    t.test(`Create ${column}, found ${found}: ${verdicts[column]}`, async (t) => {
      const live = liveObject(found, 'Create');
      t.equal(told(evaluateUndo(evidenceOf('Create', live, column === 'recorded'))), verdicts[column]);
    });
  }
}

const deletions = table<'found' | 'verdict'>(`
found                                  | verdict
gone                                   | recreate
before                                 | restored
before, b edited                       | restored
before, being deleted                  | wait
before, another uid                    | restored
before, another uid, status moved      | restored
before, another uid, annotation written | restored
before, another uid, owner added       | restored
before, another uid, b edited          | Recreated spec.b
before, another uid, being deleted     | wait
before, another uid, b edited, being deleted | wait
before, another uid, a stamped         | restored
before, another uid, label edited      | Recreated metadata.labels.l
before, another uid, marked as being restored | complete
`);

for (const { found, verdict } of deletions) {
  t.test(`Delete, found ${found}: ${verdict}`, async (t) => {
    for (const recorded of [true, false]) {
      t.equal(told(evaluateUndo(evidenceOf('Delete', liveObject(found, 'Delete'), recorded))), verdict);
    }
  });
}

const statusIsContent = { ...entryFor('Delete'), resource: { ...entryFor('Delete').resource, statusSubresource: false } };

t.test('if status is content, another status is another content', async (t) => {
  const live = liveObject('before, another uid, status moved', 'Delete');
  t.equal(told(evaluateUndo({ ...evidenceOf('Delete', live, true), entry: statusIsContent })), 'Recreated status.ready');
});

t.test('an undo restores the former content, and keeps the later changes of other writers', async (t) => {
  for (const type of ['Update', 'Patch'] as const) {
    const judged = evaluateUndo(evidenceOf(type, liveObject('after, b edited, field added, label edited', type), true));
    const wanted = with_(with_(with_(prior, 'spec.b', 5), 'spec.x', 1), 'metadata.labels.l', '2');
    t.same(judged.kind === 'content' ? judged.restored : judged, contentOf(wanted, entryFor(type).resource), type);
  }
});

t.test('an undo keeps a Namespace that holds objects of other writers, and names some of the objects', async (t) => {
  const lost = ['ConfigMap a', 'ConfigMap b', 'ConfigMap c', 'ConfigMap d', 'ConfigMap e', 'ConfigMap f'];
  const judged = evaluateUndo({ ...evidenceOf('Create', liveObject('after', 'Create'), true), ...withHazards({ lost }) });
  t.match(judged, { kind: 'conflict', reason: 'NotEmpty', message: /ConfigMap a, .*ConfigMap e and 1 more$/ });
});

t.test('the undo waits for an object that it takes back itself, without a conflict', async (t) => {
  const evidence = evidenceOf('Create', liveObject('after', 'Create'), true);
  const awaited = [{ name: 'Endpoints x', index: 1 }];
  t.match(evaluateUndo({ ...evidence, ...withHazards({ awaited }) }), {
    kind: 'wait',
    message: /until these are undone: Endpoints x$/,
  });
  t.match(evaluateUndo({ ...evidence, ...withHazards({ awaited, lost: ['ConfigMap a'] }) }), {
    kind: 'conflict',
    reason: 'NotEmpty',
  });
  t.match(evaluateUndo({ ...evidence, ...withHazards({ forbiddenKinds: ['secrets'] }) }), {
    kind: 'delete',
    note: /could not list them: secrets$/,
  });
  t.match(evaluateUndo({ ...evidence, wasCommitted: true }), { kind: 'delete', note: undefined });
});

t.test('owners that are gone are dropped, and a person is told', async (t) => {
  const judged = evaluateUndo({ ...evidenceOf('Delete', undefined, true), ...withHazards({ goneOwners: ['o1', 'o2'] }) });
  t.match(judged, { kind: 'recreate', note: /o1, o2/ });
});

const drifts = table<'reason' | 'live' | 'owner' | 'drift' | 'verdict'>(`
reason                                            | live | owner | drift  | verdict
as the dry run had promised                       | 2    |       |        | content
a webhook made something else of it, recorded     | 3    |       | 3      | content
the same, its record lost                         | 3    |       |        | content
and others have overwritten that since            | 5    | other | 3      | RollbackConflict spec.a
and it made something else of another write since | 5    |       | 3      | content
a webhook took it away, recorded                  |      |       | absent | content
the same, its record lost: who took it away?      |      |       |        | RollbackConflict spec.a
`);

for (const { reason, live, owner, drift, verdict } of drifts) {
  t.test(`drift: ${reason}`, async (t) => {
    const value = live === '' ? undefined : Number(live);
    const found = managed(
      with_(liveObject('after', 'Update') ?? {}, 'spec.a', value),
      entry(managers.forward, { 'f:spec': { 'f:c': {} } }),
      ...(owner === '' ? [] : [entry(owner, { 'f:spec': { 'f:a': {} } })]),
    );
    const path = ['f:spec', 'f:a'];
    const recorded = drift === '' ? [] : [drift === 'absent' ? { path } : { path, value: Number(drift) }];
    t.equal(told(evaluateUndo({ ...evidenceOf('Update', found, true), drift: recorded })), verdict);
  });
}

t.test('a field that our manager owns is ours, also if the dry run showed another owner', async (t) => {
  const stamped = with_(liveObject('after', 'Update') ?? {}, 'spec.a', 'stamped at 12:00');
  t.equal(told(evaluateUndo(evidenceOf('Update', stamped, false))), 'content');
});

const fields = { spec: { ports: [{ port: 80, protocol: 'TCP' }], type: 'ClusterIP' } };
const own = [entry(managers.forward, fieldsOf(fields, { 'spec.ports': ['port', 'protocol'] }))];
const service = managed(
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { uid: 'u1', resourceVersion: '8' },
    spec: { ...fields.spec, clusterIP: '10.0.0.1' },
  },
  ...own,
);

t.test('a created object of which no dry run told the defaults', async (t) => {
  const approximate = {
    ...entryFor('Create'),
    expected: { kind: 'Service', spec: { ports: [{ port: 80 }] } },
    approximate: true,
  };
  const judged = (live: JsonObject): string => told(evaluateUndo({ ...evidenceOf('Create', live, false), entry: approximate }));
  t.equal(judged(service), 'delete', 'defaults of the API server are nobody else’s');
  const theirs = managed(with_(service, 'spec.affinity', 'None'), ...own, entry('kubectl', { 'f:spec': { 'f:affinity': {} } }));
  t.equal(judged(theirs), 'ForeignContent spec.affinity');
});

t.test('a name of Kubernetes itself proves nothing', async (t) => {
  const filled = liveObject('after, field added', 'Create') ?? {};
  const byKubernetes = JSON.parse(JSON.stringify(filled).replaceAll('"other"', '"kube-controller-manager"')) as JsonObject;
  t.equal(told(evaluateUndo(evidenceOf('Create', byKubernetes, true))), 'ForeignContent spec.x');
});

const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { uid: 'u1', resourceVersion: '8' } };
const roles = { ...entryFor('Create').resource, group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRole' };
const aggregated = { ...role, aggregationRule: { clusterRoleSelectors: [] } };
const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];

const aggregations = table<'reason' | 'of' | 'manager' | 'field' | 'verdict'>(`
reason                 | of         | manager                            | field           | verdict
derived                | aggregated | clusterrole-aggregation-controller | rules           | delete
another field          | aggregated | clusterrole-aggregation-controller | aggregationRule | ForeignContent aggregationRule.x
another manager        | aggregated | kubectl                            | rules           | ForeignContent rules
another controller     | aggregated | kube-controller-manager            | rules           | ForeignContent rules
the name alone         | plain      | clusterrole-aggregation-controller | rules           | ForeignContent rules
`);

for (const { reason, of, manager, field, verdict } of aggregations) {
  t.test(`${field} of a ClusterRole by ${manager}, ${reason}: ${verdict}`, async (t) => {
    const expected = of === 'aggregated' ? aggregated : role;
    const written = field === 'rules' ? { ...expected, rules } : with_(expected, 'aggregationRule.x', 1);
    const owned = field === 'rules' ? { 'f:rules': {} } : { 'f:aggregationRule': { 'f:x': {} } };
    const ours = entry(managers.forward, { 'f:aggregationRule': { 'f:clusterRoleSelectors': {} } });
    const created = { ...entryFor('Create'), resource: roles, expected };
    const evidence = { ...evidenceOf('Create', managed(written, ours, entry(manager, owned)), true), entry: created };
    t.equal(told(evaluateUndo(evidence)), verdict);
  });
}

t.test(
  'rules that the controller derives from our change of a ClusterRole are reverted with the change; other rules stay',
  async (t) => {
    const before = managed({ ...role, rules: [] }, entry('kubectl', { 'f:rules': {} }));
    const ours = entry(managers.forward, { 'f:aggregationRule': {} });
    const controller = entry('clusterrole-aggregation-controller', { 'f:rules': {} });
    const made = { ...entryFor('Patch'), resource: roles, prior: before, expected: managed({ ...aggregated, rules: [] }, ours) };
    const undone = (live: JsonObject, change: typeof made): UndoVerdict =>
      evaluateUndo({ ...evidenceOf('Patch', managed(live, ours, controller), true), entry: change });
    const restored = undone({ ...aggregated, rules }, made);
    t.match(restored, { kind: 'content', restored: { rules: [] } });
    t.notOk(restored.kind === 'content' && 'aggregationRule' in restored.restored);
    const labelled = {
      ...made,
      prior: managed({ ...aggregated, rules: [] }),
      expected: managed(with_(aggregated, 'rules', []), ours),
    };
    const changed = { ...labelled, expected: managed({ ...aggregated, labels: { a: 'b' }, rules: [{ verbs: ['*'] }] }, ours) };
    t.match(undone({ ...aggregated, labels: { a: 'b' }, rules }, changed), { kind: 'content', restored: { rules } });
  },
);

t.test('a manager that adds an item to a list takes no field from managers that changed the order', async (t) => {
  const items = (...names: readonly string[]): JsonObject =>
    with_(
      prior,
      'spec.items',
      names.map((name) => ({ name })),
    );
  const owned = (...names: readonly string[]): JsonObject => fieldsOf(items(...names), { 'spec.items': ['name'] });
  const live = managed(items('two', 'one', 'three'), entry('kubectl', owned('one', 'two')), entry('other', owned('three')));
  const before = managed(items('one', 'two'), entry('kubectl', owned('one', 'two')));
  const reordered = {
    ...entryFor('Update'),
    prior: before,
    expected: managed(items('two', 'one'), entry('kubectl', owned('one', 'two'))),
  };
  const judged = evaluateUndo({ ...evidenceOf('Update', live, true), entry: reordered });
  t.equal(told(judged), 'content');
  t.match(judged, { restored: { spec: { items: [{ name: 'one' }, { name: 'three' }, { name: 'two' }] } } });
});

t.test('a value that the API server generates inside our list item has no other owner', async (t) => {
  const ports = (nodePort: number): JsonObject =>
    managed(with_(service, 'spec.ports', [{ port: 80, protocol: 'TCP', nodePort }]), ...own);
  const judged = evaluateUndo({
    ...evidenceOf('Create', ports(31_000), false),
    entry: { ...entryFor('Create'), expected: ports(30_000) },
  });
  t.equal(told(judged), 'delete');
});
