// One object in all its possible states, for the tables about verdicts: our change sets `spec.a` to 2 and adds `spec.c`; kubectl
// wrote all other fields, and a controller the status. The object's uid is u1, the Transaction's t1.

import { at, isList, isObject, type Json, type JsonObject, withPath } from '../../hooks/objects/json.ts';
import type { UndoEvidence } from '../../hooks/transactions/attribution/undo.ts';
import { noHazards } from '../../hooks/transactions/hazards/hazards.ts';
import type { Way } from '../../hooks/transactions/model/change.ts';
import type { SnapshotEntry } from '../../hooks/transactions/model/entry.ts';
import { noOthers } from '../../hooks/transactions/model/other-transactions.ts';
import { annotations } from '../../hooks/transactions/model/transaction.ts';
import { type EntryExtras, entry, fieldsOf, managed } from './managed-fields.ts';

export const managers = { forward: 'janus-one-t1', restore: 'janus-restore-one-t1' };

/** What the undo knows besides the change and the object, if no other Transaction is involved. */
export const plainEvidence: Omit<UndoEvidence, 'entry' | 'live'> = {
  managers,
  drift: [],
  recorded: true,
  isSealed: false,
  uid: 't1',
  createdUid: undefined,
  hazards: noHazards,
  others: noOthers,
  wasCommitted: false,
  isRequested: true,
  version: '8',
};

const lists = { 'metadata.finalizers': 'set', 'spec.items': ['name'] } as const;

const metadata: JsonObject = {
  name: 'x',
  namespace: 'shop',
  uid: 'u1',
  resourceVersion: '7',
  labels: { l: '1' },
  finalizers: ['f/old'],
};

export const prior: JsonObject = managed(
  { apiVersion: 'v1', kind: 'Widget', metadata, spec: { a: 1, b: 1, items: [{ name: 'one', v: 1 }] }, status: { ready: 1 } },
  entry(
    'kubectl',
    fieldsOf(
      { metadata: { labels: { l: '1' }, finalizers: ['f/old'] }, spec: { a: 1, b: 1, items: [{ name: 'one', v: 1 }] } },
      lists,
    ),
  ),
  entry('controller', { 'f:status': { 'f:ready': {} } }, { subresource: 'status' }),
);

function by(type: Way): EntryExtras {
  return type === 'Patch' ? { operation: 'Apply' } : {};
}

/** The object after our Update or Patch. */
export function changed(type: Way): JsonObject {
  const values = with_(with_(prior, 'spec.a', 2), 'spec.c', 1);
  return managed(
    values,
    entry(
      'kubectl',
      fieldsOf(
        { metadata: { labels: { l: '1' }, finalizers: ['f/old'] }, spec: { b: 1, items: [{ name: 'one', v: 1 }] } },
        lists,
      ),
    ),
    entry(managers.forward, { 'f:spec': { 'f:a': {}, 'f:c': {} } }, by(type)),
    entry('controller', { 'f:status': { 'f:ready': {} } }, { subresource: 'status' }),
  );
}

/** The object after our Create. */
export const created: JsonObject = managed(
  {
    apiVersion: 'v1',
    kind: 'Widget',
    metadata: { name: 'x', namespace: 'shop', uid: 'u1', resourceVersion: '8' },
    spec: { a: 2, c: 1 },
  },
  entry(managers.forward, fieldsOf({ spec: { a: 2, c: 1 } })),
);

const target = { apiVersion: 'v1', kind: 'Widget', namespace: 'shop', name: 'x' };
const resource = { group: '', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true, statusSubresource: true };

export function entryFor(type: Way): SnapshotEntry {
  const base = { index: 0, type, target, resource, approximate: false };
  if (type === 'Create') return { ...base, expected: created };
  return type === 'Delete' ? { ...base, prior } : { ...base, prior, expected: changed(type) };
}

/** A copy with a value at a path with dots; undefined removes it. */
export function with_(object: JsonObject, path: string, value: Json | undefined): JsonObject {
  return withPath(object, path.split('.'), value);
}

function entriesOf(object: JsonObject): readonly JsonObject[] {
  const entries = at(object, 'metadata', 'managedFields');
  return isList(entries) ? entries.filter(isObject) : [];
}

/** Fields that another manager owns too. */
function claimed(object: JsonObject, fields: JsonObject): JsonObject {
  return managed(object, ...entriesOf(object), entry('other', fields));
}

/** Fields of spec that another manager owns too. */
function shared(object: JsonObject, ...fields: readonly string[]): JsonObject {
  return claimed(object, { 'f:spec': Object.fromEntries(fields.map((name) => [`f:${name}`, {}])) });
}

/** Values of spec that another manager has set: the former owners lose them. */
function edited(object: JsonObject, values: JsonObject): JsonObject {
  const paths = Object.keys(values).map((name) => ['fieldsV1', 'f:spec', `f:${name}`]);
  const left = entriesOf(object).map((one) => paths.reduce((rest, path) => withPath(rest, path, undefined), one));
  const written = Object.entries(values).reduce((rest, [name, value]) => with_(rest, `spec.${name}`, value), object);
  return shared(managed(written, ...left), ...Object.keys(values));
}

/** A value that admission stamps on `spec.a` at every write: no manager owns it. */
function stamped(object: JsonObject): JsonObject {
  const path = ['fieldsV1', 'f:spec', 'f:a'];
  const left = entriesOf(object).map((one) => withPath(one, path, undefined));
  return with_(managed(object, ...left), 'spec.a', 'stamped');
}

type Edit = (object: JsonObject) => JsonObject;

/** Changes that others may have made meanwhile. `a` and `c` are ours. */
const edits: Readonly<Record<string, Edit>> = {
  nothing: (object) => object,
  'resourceVersion moved': (object) => with_(object, 'metadata.resourceVersion', '99'),
  'generation moved': (object) => with_(object, 'metadata.generation', 4),
  'status moved': (object) => with_(object, 'status.ready', 5),
  'managedFields moved': (object) => shared(object, 'b'),
  'annotation written': (object) => with_(object, 'metadata.annotations', { n: '1' }),
  'b edited': (object) => edited(object, { b: 5 }),
  'field added': (object) => edited(object, { x: 1 }),
  'item added': (object) =>
    claimed(
      with_(object, 'spec.items', [
        { name: 'one', v: 1 },
        { name: 'two', v: 1 },
      ]),
      { 'f:spec': { 'f:items': { 'k:{"name":"two"}': { '.': {}, 'f:name': {}, 'f:v': {} } } } },
    ),
  'a edited': (object) => edited(object, { a: 5 }),
  'a removed': (object) => with_(edited(object, { a: 5 }), 'spec.a', undefined),
  'a made 2': (object) => edited(object, { a: 2 }),
  'a and c made ours': (object) => edited(object, { a: 2, c: 1 }),
  'a stamped': (object) => stamped(object),
  'a shared': (object) => shared(object, 'a'),
  'label edited': (object) => claimed(with_(object, 'metadata.labels.l', '2'), { 'f:metadata': { 'f:labels': { 'f:l': {} } } }),
  'finalizer added': (object) =>
    claimed(with_(object, 'metadata.finalizers', ['f/old', 'f/new']), { 'f:metadata': { 'f:finalizers': { 'v:"f/new"': {} } } }),
  'finalizer removed': (object) => with_(object, 'metadata.finalizers', undefined),
  'owner added': (object) =>
    claimed(with_(object, 'metadata.ownerReferences', [{ uid: 'o1' }]), {
      'f:metadata': { 'f:ownerReferences': { 'k:{"uid":"o1"}': {} } },
    }),
  'being deleted': (object) => with_(object, 'metadata.deletionTimestamp', '2026-01-01T00:00:00Z'),
  'another uid': (object) => with_(object, 'metadata.uid', 'u2'),
  'marked by annotation': (object) => with_(managed(object), 'metadata.annotations', { [annotations.createdBy]: 't1' }),
  'marked by another': (object) => with_(managed(object), 'metadata.annotations', { [annotations.createdBy]: 't2' }),
  unmarked: (object) => managed(object),
  'marked as being restored': (object) => managed(object, entry(managers.restore, { 'f:spec': { 'f:a': {} } })),
};

/** `gone`, or one of `before` and `after` (our change), edited: `after, b edited`. */
export function liveObject(state: string, type: Way): JsonObject | undefined {
  if (state === 'gone') return undefined;
  const [start = '', ...names] = state.split(',').map((part) => part.trim());
  const first = start === 'after' ? (type === 'Create' ? created : changed(type)) : prior;
  return names.reduce((object, name) => {
    const edit = edits[name];
    if (edit === undefined) throw new Error(`no such edit: ${name}`);
    return edit(object);
  }, first);
}
