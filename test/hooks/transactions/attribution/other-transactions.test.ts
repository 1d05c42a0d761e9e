// Other Transactions that change the object: the effect of our undo on their changes.
import t from 'tap';
import { at, isList, isObject, type JsonObject } from '../../../../hooks/objects/json.ts';
import { effectOf } from '../../../../hooks/transactions/attribution/effect.ts';
import { goneManagers } from '../../../../hooks/transactions/attribution/other-transactions.ts';
import { evaluateUndo, type UndoEvidence } from '../../../../hooks/transactions/attribution/undo.ts';
import { noHazards } from '../../../../hooks/transactions/hazards/hazards.ts';
import type { Way } from '../../../../hooks/transactions/model/change.ts';
import {
  byName,
  changesTo,
  isAfter,
  noOthers,
  type OtherChange,
  type Others,
} from '../../../../hooks/transactions/model/other-transactions.ts';
import { decodeTransaction, namesBehind } from '../../../../hooks/transactions/model/transaction.ts';
import { created, entryFor, liveObject, managers, prior, with_ } from '../../../support/evaluated-objects.ts';
import { entry, fieldsOf, managed } from '../../../support/managed-fields.ts';

const theirs = 'janus-two-0123abcd';

function other(type: Way, more: Partial<OtherChange> = {}): Others {
  const names = { forward: theirs, restore: 'janus-restore-two-0123abcd' };
  const change = {
    transaction: 'shop/two',
    holder: 'shop/two/u2',
    managers: names,
    type,
    recreates: false,
    stands: true,
    uid: undefined,
    resourceVersion: '9',
    tookFieldsFrom: [],
    ...more,
  };
  return { changes: [change], areAll: true };
}

function evidence(type: Way, live: JsonObject | undefined, others: Others | undefined): UndoEvidence {
  const createdUid = type === 'Create' ? 'u1' : undefined;
  const known = {
    managers,
    drift: [],
    recorded: true,
    isSealed: false,
    uid: 't1',
    hazards: noHazards,
    wasCommitted: false,
    isRequested: true,
    version: '8',
  };
  return { ...known, entry: entryFor(type), live, createdUid, others };
}

/** An object with one more entry. */
function alsoOwned(object: JsonObject, manager: string, fields: JsonObject): JsonObject {
  const entries = at(object, 'metadata', 'managedFields');
  return managed(object, ...(isList(entries) ? entries.filter(isObject) : []), entry(manager, fields));
}

function after(type: Way, found = 'after'): JsonObject {
  return liveObject(found, type) ?? {};
}

const specA = { 'f:spec': { 'f:a': {} } };
const specX = { 'f:spec': { 'f:x': {} } };
const tookOurs = { tookFieldsFrom: [managers.forward] };
const elsewhere = with_(after('Update'), 'metadata.uid', 'u2');
const unmarked = with_(after('Update', 'after, unmarked'), 'metadata.uid', 'u2');
const again = with_(prior, 'metadata.uid', 'u2');
const broughtBack = with_(created, 'metadata.uid', 'u2');
const foreignMade = with_(managed(created, entry('kubectl', fieldsOf({ spec: { a: 2, c: 1 } }))), 'metadata.uid', 'u2');

type Row = readonly [reason: string, type: Way, live: JsonObject | undefined, others: Others | undefined, verdict: string];

const rows: readonly Row[] = [
  ['created, deleted and brought back', 'Create', broughtBack, noOthers, 'delete'],
  ['created, and created by somebody else again', 'Create', foreignMade, noOthers, 'restored'],
  ['the same where another undo has made it', 'Create', foreignMade, other('Delete', { stands: false, uid: 'u2' }), 'restored'],
  ['our entry in what somebody else owns', 'Create', alsoOwned(foreignMade, managers.forward, specA), noOthers, 'ForeignContent'],
  ['brought back, and somebody owns a field too', 'Create', alsoOwned(broughtBack, 'kubectl', specA), noOthers, 'ForeignContent'],
  ['created, gone: everybody is to be known', 'Create', undefined, { changes: [], areAll: false }, 'look all'],
  ['created, deleted by one that stands', 'Create', undefined, other('Delete'), 'LaterTransaction'],
  ['the same at the version that we left', 'Create', undefined, other('Delete', { resourceVersion: '8' }), 'LaterTransaction'],
  ['the same, undone', 'Create', undefined, other('Delete', { stands: false }), 'restored'],
  ['a deletion from before', 'Create', undefined, other('Delete', { resourceVersion: '7' }), 'restored'],
  [
    'created, and updated without a trace in values',
    'Create',
    alsoOwned(created, theirs, specX),
    other('Patch'),
    'LaterTransaction',
  ],
  ['the same from before', 'Create', alsoOwned(created, theirs, specX), other('Patch', { resourceVersion: '7' }), 'delete'],
  ['its Transaction is gone', 'Create', alsoOwned(created, theirs, specX), noOthers, 'delete'],
  ['patched, deleted by one that stands', 'Patch', undefined, other('Delete'), 'LaterTransaction'],
  ['patched, deleted by a person', 'Patch', undefined, noOthers, 'Gone'],
  ['patched, deleted and brought back', 'Patch', liveObject('after, another uid', 'Patch'), noOthers, 'content'],
  ['updated, deleted and brought back', 'Update', elsewhere, noOthers, 'content'],
  ['the same without an entry', 'Update', unmarked, other('Delete', { stands: false, uid: 'u2' }), 'content'],
  ['the same, and another deletion stands', 'Update', unmarked, other('Delete'), 'LaterTransaction'],
  ['brought back without an entry, and no other Transaction is known', 'Update', unmarked, noOthers, 'Replaced'],
  ['updated, taken back in silence: all are to be known', 'Update', prior, { changes: [], areAll: false }, 'look all'],
  ['updated, taken back by one that stands', 'Update', prior, other('Patch', tookOurs), 'LaterTransaction'],
  ['updated, taken back by one that is undone', 'Update', prior, other('Patch', { ...tookOurs, stands: false }), 'restored'],
  ['updated, then updated elsewhere', 'Update', alsoOwned(after('Update'), theirs, specX), other('Update'), 'LaterTransaction'],
  ['updated, then patched elsewhere', 'Update', alsoOwned(after('Update'), theirs, specX), other('Patch'), 'content'],
  ['updated, then patched as well', 'Update', alsoOwned(after('Update'), theirs, specA), other('Patch'), 'LaterTransaction'],
  ['who wrote since must be known', 'Patch', alsoOwned(after('Patch'), theirs, specX), undefined, `look ${theirs}`],
  ['deleted, created by one that stands', 'Delete', alsoOwned(again, theirs, specA), other('Create'), 'LaterTransaction'],
  ['deleted, created and deleted by two that stand', 'Delete', undefined, other('Create'), 'LaterTransaction'],
  ['deleted, and a successor deleted by one that stands', 'Delete', undefined, other('Delete'), 'LaterTransaction'],
  ['the same deletion counted by another as well', 'Delete', undefined, other('Delete', { resourceVersion: '8' }), 'recreate'],
  ['a successor deleted, then made by a person', 'Delete', again, other('Delete'), 'restored'],
  ['deleted, created by one before', 'Delete', undefined, other('Create', { resourceVersion: '7' }), 'recreate'],
  ['deleted: everybody is to be known', 'Delete', undefined, { changes: [], areAll: false }, 'look all'],
  ['created again alike: everybody is to be known', 'Delete', again, { changes: [], areAll: false }, 'look all'],
  ['the same, its Transaction gone', 'Delete', alsoOwned(again, theirs, specA), noOthers, 'restored'],
];

for (const [reason, type, live, others, verdict] of rows) {
  t.test(`${type}: ${reason}`, async (t) => {
    const judged = evaluateUndo(evidence(type, live, others));
    const told = judged.kind === 'readMore' ? `look ${judged.others}` : judged.kind === 'conflict' ? judged.reason : judged.kind;
    t.equal(told, verdict);
    if (verdict === 'LaterTransaction') t.match(judged, { message: /Transaction shop\/two \(janus-two-0123abcd\)/ });
  });
}

t.test('an undo returns fields to their former managers', async (t) => {
  const patched = managed(prior, entry(theirs, specA, { operation: 'Apply' }), entry('kubectl', specX));
  const updated = managed(prior, entry(theirs, specA), entry('kubectl', specX));
  const gone = (before: JsonObject, others: Others): readonly string[] =>
    goneManagers({ ...evidence('Delete', undefined, others), entry: { ...entryFor('Delete'), prior: before } });
  t.same(gone(patched, other('Patch')), [], 'to a Transaction that stands');
  t.same(gone(patched, other('Patch', { stands: false })), [theirs], 'not to one that is undone');
  t.same(gone(updated, other('Update', { stands: false })), [theirs]);
  t.same(gone(patched, noOthers), [theirs], 'nor to a Patch whose Transaction is gone');
  t.same(gone(updated, noOthers), [], 'an Update stays the owner, as any client does');
});

t.test('the record of a change', async (t) => {
  const forward = 'janus-tx-1';
  const [before, after] = [with_(managed(prior, entry('kubectl', specX)), 'metadata.resourceVersion', '7'), created];
  t.same(
    effectOf(entryFor('Delete'), { before, after: undefined, forward }),
    { resourceVersion: '7' },
    'of what is gone the version that was found',
  );
  t.same(effectOf(entryFor('Update'), { before, after, forward }), { resourceVersion: '8' });
  t.same(effectOf(entryFor('Patch'), { before, after, forward }), { resourceVersion: '8', tookFieldsFrom: ['kubectl'] });
  t.same(
    effectOf(entryFor('Patch'), { before, after, forward: 'kubectl' }),
    { resourceVersion: '8' },
    'a Transaction takes nothing that its manager drops itself',
  );
  const marked = with_(before, 'metadata.annotations', { 'tx.janus.io/applied-by': 'shop/one/u1' });
  t.match(effectOf(entryFor('Patch'), { before, after: marked, forward }), { unchanged: true }, 'a mark is no content');
  t.same(effectOf(entryFor('Create'), { before: undefined, after, forward }), { uid: 'u1', resourceVersion: '8' });
});

const before = (prior: JsonObject | undefined): Partial<OtherChange> => ({ before: { kind: 'known', prior } });
const overPatched = with_(prior, 'spec.a', 9);
const [newer, older] = ['70', '3'].map((version) => with_(again, 'metadata.resourceVersion', version));
const undone = other('Delete', { stands: false, uid: 'u2' });
const elsewherePatched = with_(after('Patch'), 'metadata.uid', 'u2');
const unreadable = { before: { kind: 'unknown', why: 'gone' } } as const;

/** The change is announced; its lock was lost. `live`: as the other Transaction left it. */
const unrecorded: readonly Row[] = [
  ['all others must be known', 'Patch', overPatched, { changes: [], areAll: false }, 'readMore'],
  ['nobody else', 'Patch', overPatched, noOthers, 'restored'],
  [
    'the other found our Patch',
    'Patch',
    managed(overPatched, entry(theirs, specA)),
    other('Patch', before(after('Patch'))),
    'LaterTransaction',
  ],
  [
    'the other found our Patch, and is undone',
    'Patch',
    after('Patch'),
    other('Patch', { ...before(after('Patch')), stands: false }),
    'content',
  ],
  [
    'the other did not find our Patch',
    'Patch',
    managed(overPatched, entry(theirs, specA)),
    other('Patch', before(prior)),
    'restored',
  ],
  ['the other has patched other fields', 'Patch', after('Patch'), other('Patch', before(after('Patch'))), 'content'],
  ['the other found our Update', 'Update', overPatched, other('Update', before(after('Update'))), 'LaterTransaction'],
  [
    'the other found the values of our Update',
    'Update',
    overPatched,
    other('Update', before(after('Update', 'after, unmarked'))),
    'LaterTransaction',
  ],
  ['the other did not find our Update', 'Update', overPatched, other('Update', before(prior)), 'restored'],
  ['the other deleted what we created', 'Create', undefined, other('Delete', before(created)), 'LaterTransaction'],
  ['the other deleted what somebody created', 'Create', undefined, other('Delete', before(prior)), 'restored'],
  ['the other created what we deleted', 'Delete', again, other('Create', before(undefined)), 'LaterTransaction'],
  ['the other deleted it, not we', 'Delete', undefined, other('Delete', before(prior)), 'restored'],
  ['the other deleted a successor', 'Delete', undefined, other('Delete', before(newer)), 'LaterTransaction'],
  ['the other deleted a former object', 'Delete', undefined, other('Delete', before(older)), 'recreate'],
  [
    'the other deleted a successor, and is undone',
    'Delete',
    again,
    other('Delete', { ...before(again), stands: false }),
    'restored',
  ],
  ['the other deleted what our Patch changed, and is undone', 'Patch', elsewherePatched, undone, 'content'],
  ['the other deleted what our Update changed, and is undone', 'Update', unmarked, undone, 'content'],
  ['the other deleted what our Update never changed, and is undone', 'Update', again, undone, 'restored'],
  ['somebody recreated it alike', 'Update', unmarked, noOthers, 'restored'],
  ['what the other found is unknown', 'Patch', overPatched, other('Patch', unreadable), 'SnapshotBroken'],
  ['the same, and the other is undone', 'Patch', overPatched, other('Patch', { ...unreadable, stands: false }), 'restored'],
];

for (const [reason, type, live, others, expected] of unrecorded) {
  t.test(`unrecorded ${type}: ${reason}: ${expected}`, async (t) => {
    const known = { recorded: false, version: undefined, createdUid: undefined, isRequested: false, wasUnlocked: true };
    const verdict = evaluateUndo({ ...evidence(type, live, others), ...known });
    t.equal(verdict.kind === 'conflict' ? verdict.reason : verdict.kind, expected);
  });
}

t.test('the order of a recorded and an unrecorded change', async (t) => {
  const verdict = (prior: JsonObject): string => {
    const found = evaluateUndo(evidence('Create', undefined, other('Delete', { resourceVersion: undefined, ...before(prior) })));
    return found.kind === 'conflict' ? found.reason : found.kind;
  };
  t.equal(verdict(created), 'LaterTransaction', 'the other one is not recorded, and found ours');
  t.equal(verdict(with_(prior, 'metadata.uid', 'u0')), 'restored');
  const made = { ...evidence('Delete', undefined, other('Create', { resourceVersion: undefined, ...before(undefined) })) };
  const holder = 'shop/two/0123abcd-1';
  const earlier = other('Create', { holder, resourceVersion: undefined, ...before(undefined) });
  t.match(evaluateUndo(made), { kind: 'conflict', reason: 'LaterTransaction' }, 'it found what our Delete left');
  const ofTheirs = { ...made.entry, prior: alsoOwned(prior, theirs, specX) };
  t.match(evaluateUndo({ ...made, entry: ofTheirs, others: earlier }), { kind: 'recreate' }, 'it made what our Delete found');
});

t.test('the order of two changes', async (t) => {
  const after = (type: Way, resourceVersion: string | undefined, ours: string | undefined): boolean =>
    isAfter({ type, resourceVersion }, ours);
  t.ok(after('Patch', '10', '9'), 'as numbers');
  t.notOk(after('Patch', '9', '10'));
  t.notOk(after('Patch', '9', '9'), 'one of them has changed nothing');
  t.ok(after('Delete', '9', '9'), 'deleted as we left it');
  t.ok(after('Create', '18446744073709551617', '18446744073709551616'), 'beyond what a number can tell apart');
  for (const unknown of [undefined, '', 'abc', '-1', '1e9']) {
    t.notOk(after('Delete', unknown, '1'));
    t.notOk(after('Delete', '1', unknown));
  }
});

t.test('whose manager it is', async (t) => {
  t.same(namesBehind('janus-web-0123abcd'), ['web']);
  t.same(namesBehind('janus-restore-web-0123abcd'), ['restore-web', 'web']);
  t.same(namesBehind('janus-web,metadata.namespace=other-0123abcd'), [], 'no Transaction can have that name');
  t.same(namesBehind('kubectl'), []);
  t.same(namesBehind('janus-engine'), []);
  t.equal(namesBehind(`janus-${'x'.repeat(113)}-0123abcd`), undefined, 'the name may be cut');
});

t.test('changes to an object', async (t) => {
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' };
  const written = (place: JsonObject, item: JsonObject, more: JsonObject = {}): readonly OtherChange[] =>
    changesTo(
      byName([target]),
      decodeTransaction({
        metadata: { namespace: 'shop', name: 'two', uid: '0123abcd-1', ...more },
        spec: { changes: [{ type: 'Patch', target: { ...target, ...place }, content: {} }] },
        status: { phase: 'Committed', version: 9, items: [item] },
      }),
    ).map(({ change }) => change);
  const applied = { prepared: true, announced: true, committed: true };
  t.match(written({}, applied), [{ transaction: 'shop/two', managers: { forward: theirs }, stands: true }]);
  t.match(written({ apiVersion: 'apps/v2', namespace: '' }, applied), [], 'an empty namespace is none');
  t.match(written({ apiVersion: 'apps/v2' }, applied), [{ stands: true }], 'whatever the version');
  t.match(
    written({}, { ...applied, left: true, committed: undefined } as unknown as JsonObject),
    [{ stands: true }],
    'what was left stays',
  );
  t.match(written({}, { ...applied, rolledBack: true }), [{ stands: false }]);
  t.match(
    written({}, applied, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    [{ stands: false }],
    'no Transaction can undo it any more',
  );
  for (const place of [{ name: 'other' }, { kind: 'StatefulSet' }, { apiVersion: 'extensions/v1' }, { namespace: 'else' }])
    t.same(written(place, applied), [], `not of ${JSON.stringify(place)}`);
});
