// An atomic map (Service spec.selector, LabelSelector matchLabels, nodeSelector) is one leaf
// in managedFields, while the merge speaks of its keys: who owns the map owns each of them.
import t from 'tap';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import { evaluateUndo } from '../../../../hooks/transactions/attribution/undo.ts';
import type { SnapshotEntry } from '../../../../hooks/transactions/model/entry.ts';
import { managers, plainEvidence } from '../../../support/evaluated-objects.ts';
import { entry, managed } from '../../../support/managed-fields.ts';

const leaf = { 'f:spec': { 'f:selector': {} } };
const service = (selector: JsonObject, ...entries: JsonObject[]): JsonObject =>
  managed({ apiVersion: 'v1', kind: 'Service', metadata: { uid: 'u1', resourceVersion: '7' }, spec: { selector } }, ...entries);
const ours = entry(managers.forward, leaf, { operation: 'Apply' });
const base = {
  index: 0,
  target: { apiVersion: 'v1', kind: 'Service', namespace: 'shop', name: 'x' },
  resource: { group: '', version: 'v1', plural: 'services', kind: 'Service', namespaced: true, statusSubresource: true },
  approximate: false,
};
const patch: SnapshotEntry = {
  ...base,
  type: 'Patch',
  prior: service({ app: 'a' }, entry('kubectl', leaf)),
  expected: service({ app: 'b' }, ours),
};

t.test('a new co-owner of an atomic map that we changed is a rollback conflict', async (t) => {
  const live = service({ app: 'b' }, ours, entry('argo', leaf, { operation: 'Apply' }));
  t.match(evaluateUndo({ ...plainEvidence, entry: patch, live }), { kind: 'conflict', message: /by argo/ });
});

t.test('the conflict names the manager that has overwritten a key of an atomic map', async (t) => {
  const live = service({ app: 'c' }, entry('kubectl-edit', leaf));
  t.match(evaluateUndo({ ...plainEvidence, entry: patch, live }), { kind: 'conflict', message: /by kubectl-edit/ });
});

t.test('a foreign atomic map in a created object without a dry run keeps it', async (t) => {
  const create: SnapshotEntry = {
    ...base,
    type: 'Create',
    expected: { kind: 'Service', spec: { type: 'ClusterIP' } },
    approximate: true,
  };
  const type = entry(managers.forward, { 'f:spec': { 'f:type': {} } });
  const live = managed(
    { kind: 'Service', metadata: { uid: 'u1', resourceVersion: '7' }, spec: { type: 'ClusterIP', selector: { a: 'b' } } },
    type,
    entry('kubectl', leaf),
  );
  t.match(evaluateUndo({ ...plainEvidence, entry: create, live, createdUid: 'u1' }), {
    kind: 'conflict',
    reason: 'ForeignContent',
  });
});
