// The checks of the soak notice every fault: a correct history of one object, and one change of it for each way to break it.
import t from 'tap';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { lockName } from '../../hooks/objects/reference.ts';
import type { AuditEvent } from '../faults/audit.ts';
import { configMapKey, type Evidence } from '../faults/evidence.ts';
import { namesOf } from '../faults/names.ts';
import { keyOf } from '../faults/places.ts';
import type { Story } from '../faults/story.ts';
import { evaluateSoak } from './evaluate.ts';

const names = namesOf(1, { namespace: 'shop', elsewhere: 'other' });
const [one, two] = ['11111111-aaaa', '22222222-bbbb'];
const key = configMapKey(names, names.b);
const lock = lockName({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: names.b });
const versioned = { metadata: { uid: 'uid', resourceVersion: '7' } };

function object(data: JsonObject): JsonObject {
  return { kind: 'ConfigMap', metadata: { name: names.b, uid: 'u' }, data };
}

function event(parts: Partial<AuditEvent>): AuditEvent {
  const { resource = 'configmaps', name = names.b } = parts;
  const common = { actor: 'account', verb: 'update', resource, name, code: 200, fieldManager: '' } as const;
  const times = { received: '2026-01-01T00:00:05Z', answered: '2026-01-01T00:00:06Z' };
  return {
    ...common,
    ...times,
    key: keyOf({ group: '', resource, namespace: 'shop', name }),
    request: {},
    response: {},
    ...parts,
  };
}

const stored = event({
  actor: 'engine',
  verb: 'create',
  name: `${names.run}-rollback-0123456789abcdef0123`,
  code: 201,
  received: '1',
  answered: '2',
});

function held(uid: string, name = names.run): AuditEvent {
  const response = { spec: { holderIdentity: `shop/${name}/${uid}` } };
  return event({ actor: 'engine', verb: 'update', resource: 'leases', name: lock, response });
}

function wrote(data: JsonObject, more: Partial<AuditEvent> = {}): AuditEvent {
  return event({ request: versioned, response: object(data), fieldManager: 'janus-run1-11111111', ...more });
}

const undid = (data: JsonObject): AuditEvent => wrote(data, { fieldManager: 'janus-restore-run1-11111111' });
const stranger = (data: JsonObject): AuditEvent => wrote(data, { actor: 'stranger', fieldManager: 'stranger' });

const target = { apiVersion: 'v1', kind: 'ConfigMap', name: names.b };
const story: Story = {
  id: 'evaluated',
  transactions: () => ({ [names.run]: [{ type: 'Patch', target }], [names.rival]: [{ type: 'Patch', target }] }),
  events: [],
  end: 'Committed',
};

/** The same of a Transaction that deletes the object. */
const deletion: Story = { ...story, transactions: () => ({ [names.run]: [{ type: 'Delete', target }] }) };

function evidence(events: readonly AuditEvent[], phase: string, after: JsonObject, item: JsonObject = {}): Evidence {
  return {
    story,
    names,
    events,
    portCalls: [],
    hookCalls: [],
    reports: [],
    uids: new Map([
      [names.run, one],
      [names.rival, two],
    ]),
    struckAt: 0,
    hadHookFaults: true,
    isOneByOne: false,
    before: new Map([[key, object({ a: '1' })]]),
    after: new Map([[key, after]]),
    ends: new Map([[names.run, { phase, items: [item] }]]),
    writesAtRest: [],
    leftovers: [],
    finally: new Map(),
    bystanders: [],
  };
}

function violationsOf(
  events: readonly AuditEvent[],
  phase: string,
  after = object({}),
  item: JsonObject = {},
): readonly string[] {
  return evaluateSoak(evidence([stored, held(one), ...events], phase, after, item));
}

const changed = wrote({ a: '2' });

t.test('the evaluation reports no violation for a correct run', async (t) => {
  t.same(violationsOf([changed], 'Committed'), []);
  t.same(violationsOf([changed, undid({ a: '1' })], 'RolledBack'), []);
  t.same(violationsOf([changed, stranger({ a: '2', b: '1' }), undid({ a: '1', b: '1' })], 'RolledBack'), [], 'theirs stays');
  t.same(violationsOf([stranger({ a: '1', b: '1' }), wrote({ a: '2', b: '1' })], 'Committed'), [], 'theirs is elsewhere');
  t.same(violationsOf([changed], 'Failed', object({}), { left: true }), [], 'it says that it is left');
});

const strangerDeleted = event({ actor: 'stranger', verb: 'delete', fieldManager: 'stranger' });
const recreated = (data: JsonObject): AuditEvent =>
  event({ verb: 'create', code: 201, request: versioned, response: object(data), fieldManager: 'janus-restore-run1-11111111' });
const undoOfDelete = (events: readonly AuditEvent[], own: Story): readonly string[] =>
  evaluateSoak({ ...evidence([stored, held(one), ...events], 'RolledBack', object({ a: '1' })), story: own });

t.test('a Delete that somebody else made first is undone too, exactly; no other change is', async (t) => {
  const ofUndo = (texts: readonly string[]) => texts.filter((text) => text.startsWith('I1 undo'));
  t.same(ofUndo(undoOfDelete([strangerDeleted, recreated({ a: '1' })], deletion)), []);
  t.match(ofUndo(undoOfDelete([strangerDeleted, recreated({ a: '2' })], deletion)), [/data\.a was restored to "2"/]);
  t.match(ofUndo(undoOfDelete([recreated({ a: '2' })], deletion)), [/had not changed it/], 'no client has deleted it');
  t.match(ofUndo(undoOfDelete([strangerDeleted, recreated({ a: '1' })], story)), [/had not changed it/], 'a Patch');
});

t.test('an undo recreates an object twice only if another writer deleted it in between', async (t) => {
  const ofWrites = (texts: readonly string[]) => texts.filter((text) => text.startsWith('I4'));
  const [gone, back] = [event({ verb: 'delete', request: versioned }), recreated({ a: '1' })];
  t.same(ofWrites(undoOfDelete([gone, back, strangerDeleted, back], deletion)), []);
  t.match(ofWrites(undoOfDelete([gone, back, strangerDeleted, back, undid({ a: '3' })], deletion)), [/restored 3 times/]);
});

const fieldsV1 = { 'f:metadata': { 'f:annotations': { 'f:tx.janus.io/fence': {} } } };
const fencedOnly = { ...object({}), metadata: { managedFields: [{ manager: 'janus-restore-run1-11111111', fieldsV1 }] } };

t.test('a fence may be left', async (t) =>
  t.same(violationsOf([changed, undid({ a: '1' })], 'RolledBack', fencedOnly, { rolledBack: true }), []),
);

const ours = { ...object({}), metadata: { managedFields: [{ manager: 'janus-run1-11111111' }] } };

const broken: readonly (readonly [reason: string, found: RegExp, violations: readonly string[]])[] = [
  [
    'theirs is lost by an undo',
    /I1 undo: .*data\.b was restored to undefined/,
    violationsOf([changed, stranger({ a: '2', b: '1' }), undid({ a: '1' })], 'RolledBack'),
  ],
  [
    'ours stays after an undo',
    /I1 undo: .*data\.a was restored to "2"/,
    violationsOf([changed, undid({ a: '2', c: '1' })], 'RolledBack'),
  ],
  [
    'it is restored without having been changed',
    /I1 undo: .*had not changed it/,
    violationsOf([undid({ a: '0' })], 'RolledBack'),
  ],
  ['theirs is overwritten', /I3 lost update: .*data\.a was "9"/, violationsOf([stranger({ a: '9' }), changed], 'Committed')],
  ['no version is named', /I3 preconditions/, violationsOf([wrote({ a: '2' }, { request: {} })], 'Committed')],
  ['it is changed twice', /I4 one write each/, violationsOf([changed, wrote({ a: '3' })], 'Committed')],
  [
    'another one has the lock',
    /I6 exclusion: .*held by shop\/run1-rival/,
    violationsOf([held(two, names.rival), changed], 'Committed'),
  ],
  [
    'no Transaction has the lock',
    /I6 exclusion: .*held by nobody/,
    evaluateSoak(evidence([stored, changed], 'Committed', object({}))),
  ],
  ['it is said to be applied, and is not', /I1 outcome: .*nothing was written/, violationsOf([], 'Committed')],
  [
    'it is said to be applied, and was taken back',
    /I1 outcome: .*taken back/,
    violationsOf([changed, undid({ a: '1' })], 'Committed'),
  ],
  ['it is said to be undone, and is not', /I1 outcome: .*still there/, violationsOf([changed], 'RolledBack')],
  ['it is left, and that is not said', /I1 outcome: .*not said to be left/, violationsOf([changed], 'Failed')],
  ['it rests too early', /I1 outcome: .*rests in Committing/, violationsOf([changed], 'Committing')],
  ['our manager is left', /I14 no trace/, violationsOf([changed, undid({ a: '1' })], 'RolledBack', ours, { rolledBack: true })],
];

for (const [reason, found, violations] of broken) {
  t.test(reason, async (t) =>
    t.ok(
      violations.some((text) => found.test(text)),
      `${found} in ${violations.join('; ')}`,
    ),
  );
}
