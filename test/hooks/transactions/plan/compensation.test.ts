// Backward: the writes of a decision in their order, each after the answer to the write before.
import t from 'tap';
import type { Write } from '../../../../hooks/objects/cluster.ts';
import { managersOf } from '../../../../hooks/objects/content/fields.ts';
import { at, isList, isObject, type JsonObject, withPath } from '../../../../hooks/objects/json.ts';
import type { Mutation } from '../../../../hooks/objects/mutation.ts';
import { evaluateUndo, type UndoEvidence, type UndoVerdict } from '../../../../hooks/transactions/attribution/undo.ts';
import { noHazards } from '../../../../hooks/transactions/hazards/hazards.ts';
import type { Way } from '../../../../hooks/transactions/model/change.ts';
import type { SnapshotEntry } from '../../../../hooks/transactions/model/entry.ts';
import { noOthers } from '../../../../hooks/transactions/model/other-transactions.ts';
import { fieldManagers } from '../../../../hooks/transactions/model/transaction.ts';
import { compensation } from '../../../../hooks/transactions/plan/compensation.ts';
import { changed, created, entryFor, liveObject, prior, with_ } from '../../../support/evaluated-objects.ts';
import { entry, managed } from '../../../support/managed-fields.ts';
import { transactionOf } from '../../../support/transactions.ts';

const transaction = transactionOf();
const managers = fieldManagers(transaction);

/** Fixtures speak of `janus-one-t1`; here they are those of the Transaction. */
function ours<Value>(value: Value): Value {
  const text = JSON.stringify(value) ?? 'null';
  return JSON.parse(
    text.replaceAll('janus-restore-one-t1', managers.restore).replaceAll('janus-one-t1', managers.forward),
  ) as Value;
}

function judged(type: Way, live: JsonObject | undefined, more: Partial<UndoEvidence> = {}): UndoVerdict {
  const evidence = {
    live,
    managers,
    drift: [],
    recorded: true,
    isSealed: false,
    uid: transaction.uid,
    createdUid: 'u1',
    hazards: noHazards,
    wasCommitted: false,
    others: noOthers,
    isRequested: true,
    version: '8',
  };
  return evaluateUndo({ entry: ours(entryFor(type)), ...evidence, ...more });
}

/** What the API server would answer: the object as sent, another version, the entry of its writer, no status of a new object. */
function answerTo(write: Write): JsonObject {
  if (!('object' in write)) return { kind: 'Status' };
  const entries = at(write.object, 'metadata', 'managedFields');
  const kept = isList(entries) ? entries.filter(isObject).filter(({ manager }) => manager !== undefined) : [];
  const uid = write.verb === 'create' ? 'u2' : at(write.object, 'metadata', 'uid');
  const isNew = write.verb === 'create' && write.location.resource.statusSubresource;
  const stored = isNew ? with_(write.object, 'status', undefined) : write.object;
  const versioned = with_(with_(stored, 'metadata.resourceVersion', '9'), 'metadata.uid', uid);
  const isOwnersOnly = kept.length > 0 && kept.every(({ manager }) => manager !== managers.forward);
  return isOwnersOnly
    ? managed(versioned, ...kept)
    : managed(versioned, ...kept, entry(managers.restore, { 'f:spec': { 'f:a': {} } }));
}

function writesOf(first: Mutation | undefined): readonly Write[] {
  const writes: Write[] = [];
  for (let mutation = first; mutation !== undefined; mutation = mutation.next?.(answerTo(mutation.write)))
    writes.push(mutation.write);
  return writes;
}

function undo(
  type: Way,
  judgement: UndoVerdict,
  more: { entry?: SnapshotEntry; goneOwners?: readonly string[]; goneManagers?: readonly string[] } = {},
): readonly Write[] {
  return writesOf(
    compensation({ transaction, entry: ours(entryFor(type)), goneOwners: [], goneManagers: [], ...more }, judgement),
  );
}

function written(writes: readonly Write[]): string {
  return writes
    .map((write) => `${write.verb}${write.verb === 'update' && write.subresource === 'status' ? ' status' : ''}`)
    .join(', ');
}

t.test('content goes back first, then ownership in a write that changes nothing else', async (t) => {
  for (const type of ['Update', 'Patch'] as const) {
    const live = ours(liveObject('after, b edited', type));
    const [content, owners, ...more] = undo(type, judged(type, live));
    t.same(more, []);
    t.match(content, { verb: 'update', fieldManager: managers.restore, precondition: { uid: 'u1', resourceVersion: '7' } });
    t.match(content, { object: { spec: { a: 1, b: 5 }, status: { ready: 1 } } }, 'theirs stay');
    t.notOk(content !== undefined && 'object' in content && at(content.object, 'spec', 'c') !== undefined, 'ours is gone');
    t.match(owners, { verb: 'update', precondition: { resourceVersion: '9' } }, 'judged against the answer to the first');
    const object = owners !== undefined && 'object' in owners ? owners.object : {};
    t.same(at(object, 'spec'), content !== undefined && 'object' in content ? at(content.object, 'spec') : undefined);
    const left = managersOf(object).map(({ name }) => name);
    t.same(left.toSorted(), ['controller', 'kubectl', 'other'], 'and no manager of ours');
  }
});

t.test('untouched by others, ownership is as it was', async (t) => {
  const owners = undo('Patch', judged('Patch', ours(changed('Patch')))).at(-1);
  const object = owners !== undefined && 'object' in owners ? owners.object : {};
  t.same(at(object, 'metadata', 'managedFields'), at(prior, 'metadata', 'managedFields'));
  t.same(at(object, 'spec'), at(prior, 'spec'));
});

t.test('half restored by an earlier call: only ownership is missing', async (t) => {
  const half = managed(
    prior,
    ...[at(prior, 'metadata', 'managedFields')].flat().filter(isObject),
    entry(managers.restore, { 'f:spec': { 'f:a': {} } }),
  );
  const writes = undo('Patch', judged('Patch', half));
  t.equal(written(writes), 'update');
  const [write] = writes;
  t.same(write !== undefined && 'object' in write ? managersOf(write.object).map(({ name }) => name) : [], [
    'kubectl',
    'controller',
  ]);
});

t.test('a created object is deleted as it was judged', async (t) => {
  const writes = undo('Create', judged('Create', ours(created)));
  t.match(writes, [{ verb: 'delete', precondition: { uid: 'u1', resourceVersion: '8' } }]);
  t.equal(writes.length, 1);
});

t.test('a deleted object is created, then its status, then its owners', async (t) => {
  const writes = undo('Delete', judged('Delete', undefined));
  t.equal(written(writes), 'create, update status, update');
  const [create, status, owners] = writes;
  const object = create !== undefined && 'object' in create ? create.object : {};
  for (const key of ['uid', 'resourceVersion', 'creationTimestamp', 'managedFields'])
    t.equal(at(object, 'metadata', key), undefined, key);
  t.match(object, { metadata: { labels: { l: '1' }, finalizers: ['f/old'] }, spec: at(prior, 'spec') });
  t.match(status, { object: { status: { ready: 1 } }, precondition: { uid: 'u2', resourceVersion: '9' } });
  t.same(
    owners !== undefined && 'object' in owners
      ? managersOf(owners.object)
          .map(({ name }) => name)
          .toSorted()
      : [],
    ['controller', 'kubectl'],
  );
});

t.test('if status is content, one write restores object and status', async (t) => {
  const plain = { ...entryFor('Delete'), resource: { ...entryFor('Delete').resource, statusSubresource: false } };
  const writes = undo('Delete', judged('Delete', undefined), { entry: plain });
  t.equal(written(writes), 'create, update');
  t.match(writes[0], { object: { status: { ready: 1 } } });
});

t.test('a ServiceAccount that may not write status restores the rest', async (t) => {
  const create = compensation(
    { transaction, entry: entryFor('Delete'), goneOwners: [], goneManagers: [] },
    judged('Delete', undefined),
  );
  const status = create?.next?.(answerTo(create.write));
  t.equal(written([status?.write].filter((write) => write !== undefined)), 'update status');
  t.equal(written(writesOf(status?.otherwise?.())), 'update');
});

t.test('an earlier call has created the object again: the missing writes follow', async (t) => {
  const again = with_(with_(prior, 'metadata.uid', 'u2'), 'status', undefined);
  const live = managed(again, entry(managers.restore, { 'f:spec': { 'f:a': {} } }));
  t.equal(written(undo('Delete', judged('Delete', live))), 'update status, update');
  t.equal(written(undo('Delete', judged('Delete', with_(live, 'status', at(prior, 'status'))))), 'update');
});

t.test('owners that are gone are not referred to', async (t) => {
  const owned = withPath(prior, ['metadata', 'ownerReferences'], [{ uid: 'o1' }, { uid: 'o2' }]);
  const references = (goneOwners: readonly string[]): unknown => {
    const [create] = undo('Delete', judged('Delete', undefined), { entry: { ...entryFor('Delete'), prior: owned }, goneOwners });
    return create !== undefined && 'object' in create ? at(create.object, 'metadata', 'ownerReferences') : undefined;
  };
  t.same(references([]), [{ uid: 'o1' }, { uid: 'o2' }]);
  t.same(references(['o1']), [{ uid: 'o2' }]);
  t.same(references(['o1', 'o2']), undefined);
});

t.test('managers of an undone or absent object get no field back', async (t) => {
  const two = 'janus-two-0123abcd';
  const shared = managed(prior, entry('kubectl', { 'f:spec': { 'f:b': {} } }), entry(two, { 'f:spec': { 'f:a': {} } }));
  const owners = (goneManagers: readonly string[]): readonly string[] => {
    const known = { entry: { ...entryFor('Delete'), prior: shared }, goneManagers };
    const last = undo('Delete', judged('Delete', undefined), known).at(-1);
    return last !== undefined && 'object' in last ? managersOf(last.object).map(({ name }) => name) : [];
  };
  t.same(owners([]), ['kubectl', two]);
  t.same(owners([two]), ['kubectl']);
});

t.test('a decision without a write plans no write', async (t) => {
  for (const live of [prior, undefined]) t.equal(written(undo('Patch', judged('Patch', live))), '');
  t.equal(written(undo('Patch', judged('Patch', ours(liveObject('after, a edited', 'Patch'))))), '', 'a conflict');
});
