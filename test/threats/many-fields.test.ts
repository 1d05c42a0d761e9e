// Who may write an object decides how many fields it has, and who owns them. The engine has one thread for all Transactions: what it
// makes of an object takes about as long as reading it, never that many times as long.

import t from 'tap';
import { listKindsOf } from '../../hooks/objects/content/lists.ts';
import { restoredManagers } from '../../hooks/objects/content/ownership.ts';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { evaluateApply } from '../../hooks/transactions/attribution/apply.ts';
import { evaluateUndo } from '../../hooks/transactions/attribution/undo.ts';
import { noHazards } from '../../hooks/transactions/hazards/hazards.ts';
import { noOthers } from '../../hooks/transactions/model/other-transactions.ts';
import { configMaps as resource } from '../../hooks/transactions/writes/resources.ts';

/** An object of that many short keys takes less than the API server stores. */
const many = 20_000;

/** ms; a tenth of that is enough. */
const patience = 30_000;

const managers = { forward: 'janus-many-00000000', restore: 'janus-restore-many-00000000' };
const keys = Array.from({ length: many }, (_, index) => `k${index}`);
const target = { apiVersion: 'v1', kind: 'ConfigMap', name: 'many', namespace: 'there' };

function dataOf(value: string): JsonObject {
  return Object.fromEntries(keys.map((key) => [key, value]));
}

function managed(manager: string, operation: string, names: readonly string[]): JsonObject {
  const fields = Object.fromEntries(names.map((name) => [`f:${name}`, {}]));
  return { manager, operation, apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': fields } };
}

function configMap(data: JsonObject, ...managedFields: readonly JsonObject[]): JsonObject {
  const metadata = { name: 'many', namespace: 'there', uid: 'one', resourceVersion: '1', managedFields };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
}

interface Row {
  readonly prior?: JsonObject;
  readonly expected: JsonObject;
  readonly live: JsonObject;
}

const theirs = managed('their-tool', 'Update', keys);
const ours = managed(managers.forward, 'Apply', ['color']);
const blue = { color: 'blue' };
const green = { color: 'green' };
const plain = configMap(blue, managed('kubectl', 'Update', ['color']));

const rows: Readonly<Record<string, Row>> = {
  'others have added them': {
    prior: plain,
    expected: configMap(green, ours),
    live: configMap({ ...green, ...dataOf('x') }, ours, theirs),
  },
  'the fields have no owner': {
    prior: configMap(dataOf('x'), theirs),
    expected: configMap(dataOf('y'), managed(managers.forward, 'Apply', keys)),
    live: configMap(dataOf('z'), managed('kubectl', 'Update', ['other'])),
  },
  'our name is put on them': {
    prior: plain,
    expected: configMap(green, ours),
    live: configMap({ ...green, ...dataOf('x') }, managed(managers.forward, 'Apply', [...keys, 'color'])),
  },
  'others have taken them over': {
    prior: plain,
    expected: configMap(dataOf('x'), managed(managers.forward, 'Apply', keys)),
    live: configMap(dataOf('x'), managed(managers.forward, 'Apply', keys), theirs),
  },
  'each has an owner of its own': {
    prior: plain,
    expected: configMap(green, ours),
    live: configMap(
      { ...green, ...dataOf('x') },
      ours,
      ...keys.slice(0, 2_000).map((key) => managed(`tool-${key}`, 'Apply', [key])),
    ),
  },
  'Kubernetes is said to own them': {
    prior: plain,
    expected: configMap(green, ours),
    live: configMap({ ...green, ...dataOf('x') }, ours, managed('kubelet', 'Update', keys)),
  },
};

for (const [what, { prior, expected, live }] of Object.entries(rows))
  for (const type of ['Create', 'Update', 'Patch', 'Delete'] as const)
    t.test(`${type}: ${what}`, async (t) => {
      const began = performance.now();
      const before = type === 'Create' ? {} : { prior: prior ?? plain };
      const entry = { index: 0, type, target, resource, approximate: false, expected, ...before };
      const evidence = { entry, live, managers, drift: [], recorded: true, isSealed: false, uid: 'it' };
      const change = { type, target, content: { data: dataOf('y') } };
      const forward = evaluateApply({ ...evidence, recorded: false, change, driftRoom: 1_000 });
      const around = { hazards: noHazards, wasCommitted: true };
      const created = type === 'Create' ? 'one' : undefined;
      const known = { others: noOthers, version: '1', createdUid: created, isRequested: true };
      const other = type === 'Delete' ? { ...live, metadata: { ...(live.metadata as JsonObject), uid: 'two' } } : live;
      const backward = evaluateUndo({ ...evidence, ...around, ...known, live: other });
      const took = Math.round(performance.now() - began);
      t.ok(took < patience, `judged as ${forward.kind} and ${backward.kind} in ${took} ms`);
    });

t.test('the undo gives fields back to as many managers as an object can have', async (t) => {
  const live = configMap(green, ours, ...keys.slice(0, 8_000).map((key) => managed(`tool-${key}`, 'Apply', ['size'])));
  const began = performance.now();
  const restored = restoredManagers({ prior: plain, expected: configMap(green, ours), live }, listKindsOf(live), [
    managers.forward,
  ]);
  const took = Math.round(performance.now() - began);
  t.equal(restored.length, 8_000);
  t.ok(took < patience, `restored in ${took} ms`);
});
