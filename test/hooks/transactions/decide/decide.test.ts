// Tables of observation -> step.

import t from 'tap';
import type { Failure, Refusal } from '../../../../hooks/objects/failure.ts';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import { formatMicroTime } from '../../../../hooks/objects/time.ts';
import { decide } from '../../../../hooks/transactions/decide/decide.ts';
import type { Step } from '../../../../hooks/transactions/decide/step.ts';
import { type Due, holdsLocks } from '../../../../hooks/transactions/due.ts';
import { noHazards } from '../../../../hooks/transactions/hazards/hazards.ts';
import { lockOf } from '../../../../hooks/transactions/locks/lease.ts';
import { noOthers } from '../../../../hooks/transactions/model/other-transactions.ts';
import type { Status } from '../../../../hooks/transactions/model/status.ts';
import { annotations, fieldManagers, holderOf } from '../../../../hooks/transactions/model/transaction.ts';
import type { UndoFinding } from '../../../../hooks/transactions/model/undo.ts';
import type { StoredSnapshot } from '../../../../hooks/transactions/observe/awaited.ts';
import type {
  BeginView,
  CleanUpView,
  ItemView,
  LockView,
  Observation,
  Observed,
  ObservedTo,
  PrepareView,
  Presence,
  ReleaseView,
  RelockView,
} from '../../../../hooks/transactions/observe/observation.ts';
import { changed, entryFor, prior, with_ } from '../../../support/evaluated-objects.ts';
import { minute, second, start, statusOf, transactionOf, wordsOf } from '../../../support/transactions.ts';
import { waitText } from '../../../support/waits.ts';

const transaction = transactionOf();
const now = start + 10 * second;
const transient: Failure = {
  kind: 'transient',
  code: 503,
  reason: 'ServiceUnavailable',
  message: '',
  fields: [],
  definitive: true,
};
const refused: Failure = { ...transient, kind: 'refused', code: 403, reason: 'Forbidden' };
const busy: Presence = { kind: 'trouble', failure: { ...transient, code: 429 } };
const trouble: Presence = { kind: 'trouble', failure: transient };
const absent: Presence = { kind: 'absent' };
const request = { annotation: annotations.requestRollback, value: '1' };

const us = 'this process';
/** A turn of this process that no answer has called settled, and an earlier one. */
const turn = `${us}/2`;
const settled = `${us}/1`;

function lease(holder: string, age = 0, writer = turn): JsonObject {
  const spec = { holderIdentity: holder, leaseDurationSeconds: 60, renewTime: formatMicroTime(now - age * second) };
  return { metadata: { name: 'l', uid: 'l', resourceVersion: '1', annotations: { 'tx.janus.io/writer': writer } }, spec };
}

function present(object: JsonObject): Presence {
  return { kind: 'present', object };
}

/** A view without what the status and the spec say of the change. */
type Seen =
  | Partial<Omit<ItemView, 'index' | 'change' | 'item'>>
  | Partial<Omit<ObservedTo<'begin' | 'prepare' | 'cleanUp' | 'reacquire'>, 'kind'>>;

function observation(due: Due, status: Status, view: Seen, more: Partial<Observation> = {}): Observation {
  const of = { ...transaction, ...more.transaction };
  const known = more.status ?? status;
  const work = 'index' in due ? { change: of.changes[due.index], item: known.items[due.index] } : {};
  return {
    now,
    transaction,
    status,
    due: { ...work, ...view, ...due } as Observed,
    isOvertaken: false,
    engineNamespace: 'janus-system',
    server: us,
    writer: `${us}/3`,
    ownWrites: { writer: turn, isOpen: true },
    waits: 0,
    lateWindow: 30 * second,
    pace: 'one',
    ...more,
  };
}

/** The kind of the step; of one that only changes the status, the phase and items, and when it comes again. */
function told(step: Step): string {
  if (step.kind === 'compensate' && step.verdict.kind === 'fence') return 'compensate fence';
  if (step.kind !== 'setStatus' && step.kind !== 'releaseAndWait') return step.kind;
  const began = step.kind === 'releaseAndWait' ? 'release and wait, ' : '';
  return `${began}${step.status.phase}: ${wordsOf(step.status.items)}${waitText(step.wait)}`;
}

const ours = holderOf(transaction);
const ref = { name: 'one-rollback', digest: 'd', objects: 1 };
const target = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'a' };
const stored: StoredSnapshot = { kind: 'stored', ref, entries: [entryFor('Patch'), { ...entryFor('Patch'), index: 1 }] };

function locks(state: Presence | { readonly kind: 'unknown' }): LockView {
  return { locks: [{ name: 'l', target }], states: new Map([['l', state]]), acquired: new Set(), holders: new Map() };
}

const begin: BeginView = { faults: [], targets: [], locks: locks({ kind: 'unknown' }) };
const prepare: PrepareView = {
  faults: [],
  targets: [],
  incompleteParts: [],
  snapshotName: 'one-rollback',
};
const fault = { reason: 'Invalid', message: 'wrong', item: 0 } as const;
const pending = statusOf('Pending', 'waiting waiting');
const waited = { transaction: transactionOf({ spec: { lockWait: '5s' } }) };
const hasty = { transaction: transactionOf({ spec: { lockWait: '0s' } }) };

type Row<View> = readonly [reason: string, seen: Partial<View>, step: string, more?: Partial<Observation>];

function check<View extends Seen>(due: Due, status: Status, view: View, rows: readonly Row<View>[]): void {
  for (const [reason, seen, step, more] of rows) {
    t.test(`${due.kind}: ${reason}`, async (t) => {
      const observed = observation(due, status, { ...view, ...seen }, more);
      t.equal(told(decide(observed)), step);
      t.same(decide(observed), decide(observed), 'same observation, same step');
    });
  }
}

const other = present(lease('shop/two/u'));
const idle: LockView['holders'] = new Map([['shop/two/u', 'idle']]);
const unfinished: LockView['holders'] = new Map([['shop/two/u', 'unfinished']]);

check({ kind: 'begin' }, pending, begin, [
  ['a check could not be made', { trouble: transient }, 'Pending: waiting waiting, backing off'],
  ['a check failed', { faults: [fault] }, 'Failed: waiting waiting'],
  ['locks are wanted', {}, 'acquire'],
  ['all are held', { locks: locks(present(lease(ours))) }, 'Preparing: waiting waiting'],
  ['one is another’s', { locks: locks(other) }, 'release and wait, Pending: waiting waiting, again in 0.5'],
  ['waited for lockWait', { locks: locks(other) }, 'Failed: waiting waiting', waited],
  ['no wish to wait', { locks: locks(other) }, 'Failed: waiting waiting', hasty],
  ['locks could not be read', { locks: locks(trouble) }, 'Pending: waiting waiting, backing off'],
]);

const broken: StoredSnapshot = { kind: 'broken', message: 'gone' };
const unread: StoredSnapshot = { kind: 'trouble', failure: transient };

check({ kind: 'prepare' }, statusOf('Preparing', 'waiting waiting'), prepare, [
  ['a target could not be read', { trouble: transient }, 'Preparing: waiting waiting, backing off'],
  ['a dry run was refused', { faults: [fault] }, 'Failed: waiting waiting'],
  ['parts of an incomplete snapshot', { incompleteParts: [{}] }, 'discard'],
  ['a snapshot of ours is there', { adopted: stored }, 'Prepared: announced prepared'],
  ['all was read and tried', {}, 'store'],
]);

const item: Omit<ItemView, 'index' | 'change' | 'item'> = {
  drift: [],
  serviceAccount: present({}),
  snapshot: stored,
  lease: present(lease(ours)),
  leases: [lease(ours)],
  holders: new Map(),
  live: present(prior),
  liveFrom: 'assumed',
  hazards: noHazards,
  others: noOthers,
};
const unreadable: Presence = { kind: 'trouble', failure: refused };
const unserved: Presence = { kind: 'trouble', failure: { ...transient, code: 404, reason: 'NotFound' }, isUnserved: true };
const ourManager = fieldManagers(transaction).forward;
const applied = present(JSON.parse(JSON.stringify(changed('Patch')).replaceAll('janus-one-t1', ourManager)) as JsonObject);
const contested = with_(changed('Update'), 'spec.a', 5);
/** The Lease of the first change is the one that the item's view has. */
function locked(status: Status): Status {
  return { ...status, settledWriter: settled, items: status.items.map((item) => ({ ...item, lockLease: 'l' })) };
}

const committing = locked(statusOf('Committing', 'applied announced'));

const byReplica = { leases: [lease(ours, 0, 'another process/1')] };

check({ kind: 'apply', index: 1 }, committing, item, [
  ['as it was', {}, 'apply'],
  ['another process was the writer', byReplica, 'sign'],
  [
    'an answer has called this turn settled',
    { leases: [lease(ours, 0, settled)] },
    'sign',
    { ownWrites: { writer: settled, isOpen: false }, waits: 0 },
  ],
  [
    'this process has called its turn settled, in an answer that was lost',
    { leases: [lease(ours, 0, turn)] },
    'sign',
    { ownWrites: { writer: turn, isOpen: false }, waits: 0 },
  ],
  ['the lock of the first change is gone', { leases: [] }, 'RollingBack: applied announced'],
  ['as it was read before this look', { liveFrom: 'earlier' }, 'apply'],
  ['what was read after the Transaction is read before it, lest an undo has begun between', { liveFrom: 'now' }, 'readMore'],
  ['what stands for the target is not enough', { live: present(contested) }, 'readMore'],
  ['our write has taken effect before', { live: applied, liveFrom: 'now' }, 'Committed: applied applied'],
  ['the ServiceAccount is gone', { serviceAccount: absent }, 'RollingBack: applied announced'],
  ['the ServiceAccount could not be read', { serviceAccount: trouble }, 'Committing: applied announced, backing off'],
  ['the snapshot is gone', { snapshot: broken }, 'RollingBack: applied announced'],
  ['the snapshot could not be read', { snapshot: unread }, 'Committing: applied announced, backing off'],
  ['the snapshot lacks the entry', { snapshot: { ...stored, entries: [] } }, 'RollingBack: applied announced'],
  ['the lock could not be read', { lease: trouble }, 'Committing: applied announced, backing off'],
  ['the lock is gone', { lease: absent }, 'RollingBack: applied announced'],
  ['the lock is another’s', { lease: other }, 'RollingBack: applied announced'],
  ['the lock fades', { lease: present(lease(ours, 40)) }, 'renew'],
  ['the lock has expired but is ours', { lease: present(lease(ours, 4_000)), leases: [lease(ours)] }, 'renew'],
  ['the target could not be read', { live: trouble, liveFrom: 'now' }, 'Committing: applied announced, backing off'],
  ['the target may not be read any more', { live: unreadable, liveFrom: 'now' }, 'RollingBack: applied announced'],
  ['the target is gone', { live: absent, liveFrom: 'now' }, 'RollingBack: applied announced'],
  ['others have made our change', { live: present(changed('Update')), liveFrom: 'now' }, 'RollingBack: applied announced'],
]);

t.test('all locks are renewed together', async (t) => {
  const view = { ...item, lease: present(lease(ours, 40)), leases: [lease(ours), lease(ours, 1)] };
  t.match(decide(observation({ kind: 'apply', index: 1 }, committing, view)), { kind: 'renew', leases: view.leases });
});

const began = { cause: { reason: 'Forbidden', message: 'refused' } as const, rollbackStartedAt: now - 10 * second };
const rolling = locked(statusOf('RollingBack', 'applied announced', { ...began, settledWriter: settled }));

/** Somebody whose requests nobody accounts for; since when RollingBack is known to be stored. */
const stranger = (observed?: number): Partial<Observation> => ({
  status: { ...rolling, ...(observed === undefined ? {} : { rollbackObservedAt: observed }) },
});
const replaced = (time: number): Partial<Observation> => ({ status: { ...rolling, unsettledAt: time } });

check({ kind: 'restore', index: 1 }, rolling, item, [
  ['the write in flight had no effect', {}, 'RollingBack: applied untouched'],
  ['the write in flight has taken effect', { live: applied }, 'compensate'],
  ['another process may have one on its way: when that began is stored', byReplica, 'RollingBack: applied announced', stranger()],
  ['it may still land: the undo makes it miss', byReplica, 'compensate fence', stranger(now)],
  ['it may still land: what the undo writes makes it miss', { ...byReplica, live: applied }, 'compensate', stranger(now)],
  ['it cannot land any more, but the fence of an undo can', byReplica, 'compensate fence', stranger(now - minute)],
  ['this process knows all of its own writes, and not the fences of others', {}, 'compensate fence', stranger(now)],
  ['one that was replaced may still land', {}, 'compensate fence', replaced(now)],
  ['one that was replaced cannot land any more, but a fence can', {}, 'compensate fence', replaced(now - minute)],
]);

t.test('a fence that fails ends the change once the window is over; one without an answer after another window', async (t) => {
  const restore = { kind: 'restore', index: 1 } as const;
  const givesUpAt = (observed: number): unknown =>
    decide({ ...observation(restore, rolling, { ...item, ...byReplica }), ...stranger(observed) });
  t.match(givesUpAt(now), { verdict: { kind: 'fence', givesUpOn: [] } });
  t.match(givesUpAt(now - 40 * second), { verdict: { kind: 'fence', givesUpOn: ['refused'] } });
  t.match(givesUpAt(now - 10 * minute), { verdict: { kind: 'fence', givesUpOn: ['refused', 'transient'] } });
});

const creating: StoredSnapshot = { ...stored, entries: stored.entries.map((entry) => ({ ...entry, type: 'Create' })) };
const made = (creationTimestamp: string): Presence => present({ metadata: { creationTimestamp } });
const undone = locked(statusOf('RollingBack', 'applied untouched', began));
const late = { status: { ...undone, rollbackObservedAt: now } };
const lasting = { status: { ...undone, rollbackStartedAt: now - 2 * minute }, waits: 6 };

check({ kind: 'restore', index: 0 }, undone, item, [
  ['a recorded change names the version that a late write would', { ...byReplica, live: applied }, 'compensate', late],
  [
    'an earlier try of a Create may still land',
    { ...byReplica, snapshot: creating, live: made('2025-12-31T23:59:59Z') },
    'RollingBack: applied untouched, again in 1',
    late,
  ],
  [
    'a Create of long ago cannot',
    { ...byReplica, snapshot: creating, live: made('2025-12-31T23:00:00Z') },
    'RolledBack: restored untouched',
    late,
  ],
  ['others took it back: the end', {}, 'RolledBack: restored untouched'],
  ['others have changed the same: the end', { live: present(contested) }, 'Failed: left untouched'],
  ['the object is gone: the end', { live: absent }, 'Failed: left untouched'],
  ['who else has changed it could not be read', { othersTrouble: transient }, 'RollingBack: applied untouched, backing off'],
  ['the target could not be read', { live: trouble }, 'RollingBack: applied untouched, backing off'],
  ['the target may not be read any more', { live: unreadable }, 'Failed: left untouched'],
  ['the kind of the target is not served', { live: unserved }, 'RollingBack: applied untouched, backing off'],
  ['not for a minute, and six looks', { live: unserved }, 'Failed: left untouched', lasting],
  [
    'what is inside could not be read',
    { hazards: { ...noHazards, trouble: transient } },
    'RollingBack: applied untouched, backing off',
  ],
  ['the ServiceAccount is gone', { serviceAccount: absent }, 'Failed: left untouched'],
  ['the snapshot is gone', { snapshot: broken }, 'Failed: left untouched'],
  ['the snapshot could not be read', { snapshot: unread }, 'RollingBack: applied untouched, backing off'],
  ['the lock is gone: taken again', { lease: absent }, 'acquire'],
  ['the lock is another’s: waited for', { lease: other }, 'RollingBack: applied untouched, again in 0.5'],
  ['the lock of another has expired, who has ended', { lease: present(lease('shop/two/u', 90)), holders: idle }, 'acquire'],
  [
    'the lock of another has expired, who has not ended',
    { lease: present(lease('shop/two/u', 90)), holders: unfinished },
    'RollingBack: applied untouched, again in 0.5',
  ],
  ['the lock fades', { lease: present(lease(ours, 40)) }, 'renew'],
]);

const both = locked(statusOf('RollingBack', 'applied applied', began));
const waitingFirst = { ...both, items: both.items.map((one, index) => (index === 1 ? { ...one, waiting: 'w' } : one)) };

check({ kind: 'restore', index: 1 }, both, item, [
  ['trouble with one target: it is passed over', { live: trouble }, 'RollingBack: applied applied, again at once'],
  [
    'it still waits, and so is its turn over',
    { live: trouble },
    'RollingBack: applied applied, backing off',
    { status: waitingFirst },
  ],
  ['its lock is another’s: it is passed over', { lease: other }, 'RollingBack: applied applied, again at once'],
  ['trouble with all requests is no reason', { live: busy }, 'RollingBack: applied applied, backing off'],
]);

const committed = statusOf('Committed', 'applied applied');
const reacquire: RelockView = { snapshot: stored, locks: locks({ kind: 'unknown' }), brokenDrift: [] };

const held = { locks: locks(present(lease(ours))) };
const found = (verdict: UndoFinding['verdict']): UndoFinding => ({
  index: verdict === 'Delete' || verdict === 'Blocked' ? 1 : 0,
  verdict,
  state: verdict,
  object: undefined,
});
const annotated = (name: string, value: string): Partial<Observation> => ({
  transaction: { ...transactionOf({}), annotations: { [`tx.janus.io/${name}`]: value } },
});
const partial = annotated('undo-partial', 'true');
const planned = annotated('undo-digest', 'other');
const keeping = annotated('undo-keep', 'ConfigMap/b');
const twoTargets: StoredSnapshot = {
  ...stored,
  entries: [entryFor('Patch'), { ...entryFor('Patch'), index: 1, target: { ...target, name: 'b' } }],
};

check({ kind: 'reacquire', request }, committed, reacquire, [
  ['locks are wanted', {}, 'acquire'],
  ['all are held: the undo is evaluated', held, 'readMore'],
  ['every change can be undone', { ...held, survey: [found('Restore'), found('Delete')] }, 'RollingBack: applied applied'],
  [
    'one is blocked (U1)',
    { ...held, survey: [found('Restore'), found('Blocked')] },
    'release and wait, Committed: applied applied',
  ],
  [
    'one cannot be read (U3)',
    { ...held, survey: [found('Undecided'), found('Delete')] },
    'Committed: applied applied, again in 1',
  ],
  ['a part is enough', { ...held, survey: [found('Undecided'), found('Blocked')] }, 'RollingBack: applied applied', partial],
  ['it was another plan', { ...held, survey: [found('Restore')] }, 'release and wait, Committed: applied applied', planned],
  [
    'one is kept',
    { ...held, snapshot: twoTargets, survey: [found('Restore'), found('Blocked')] },
    'RollingBack: applied kept',
    keeping,
  ],
  ['one is another’s', { locks: locks(other) }, 'release and wait, Committed: applied applied, again in 0.5'],
  ['no wish to wait', { locks: locks(other) }, 'Committed: applied applied', hasty],
  ['the snapshot is gone', { snapshot: broken }, 'Committed: applied applied'],
  ['the snapshot could not be read', { snapshot: unread }, 'Committed: applied applied, backing off'],
]);

const cause = { reason: 'Timeout', message: 'too long' } as const;
const none = {};
check({ kind: 'fail', cause }, pending, { leases: [] }, [['nothing was applied', {}, 'Failed: waiting waiting']]);
check({ kind: 'rollBack', cause }, committing, none, [['something was applied', {}, 'RollingBack: applied announced']]);
check({ kind: 'conclude', overdue: true }, rolling, none, [['no time is left', {}, 'Failed: left stuck']]);
check({ kind: 'ignore', request, message: 'no' }, committed, none, [['answered', {}, 'Committed: applied applied']]);

const release: ReleaseView = { leases: [] };
check({ kind: 'release' }, committed, release, [
  ['locks are held', { leases: [lease(ours)] }, 'release'],
  ['no lock is held', {}, 'Committed: applied applied'],
  ['locks could not be read', { trouble: transient }, 'Committed: applied applied, backing off'],
]);

check({ kind: 'releaseFields', index: 0 }, committed, item, [
  ['our entry is taken off', {}, 'releaseFields'],
  ['the object is gone', { live: absent }, 'Committed: applied applied, again at once'],
  ['the object could not be read', { live: trouble }, 'Committed: applied applied, backing off'],
  ['it may not be read: nothing waits for it', { live: unreadable }, 'Committed: applied applied, again at once'],
]);

const cleanUp: CleanUpView = { leases: [], configMaps: [], hasMore: false };
check({ kind: 'cleanUp' }, committed, cleanUp, [
  ['what is left is let go', {}, 'cleanUp'],
  ['what is left could not be read', { trouble: transient }, 'Committed: applied applied, backing off'],
  ['the ConfigMaps could not be read', { unread: transient }, 'Committed: applied applied, backing off'],
]);

t.test('ConfigMaps that cannot be read hold a deletion up for a minute, Leases for as long as it takes', async (t) => {
  const deleted = { transaction: { ...transaction, deletedAt: now - 60_001 } };
  t.equal(told(decide(observation({ kind: 'cleanUp' }, committed, { ...cleanUp, unread: transient }, deleted))), 'cleanUp');
  const held = decide(observation({ kind: 'cleanUp' }, committed, { ...cleanUp, trouble: transient }, deleted));
  t.equal(told(held), 'Committed: applied applied, backing off');
});

// The first of two refusals is waited for; a second one, a second later, is final.
const denied: Failure = { ...transient, kind: 'refused', code: 403, reason: 'Forbidden', toEngine: 'request' };
const unreadLocks = { locks: locks({ kind: 'trouble', failure: denied }) };
const unreadSnapshot = { snapshot: { kind: 'trouble', failure: denied } as const };
const soon = { refusedFor: 999 };
const later = { refusedFor: 1_000 };
const barred = { ...later, barred: { ...denied, kind: 'refused' } as const };

check({ kind: 'begin' }, pending, begin, [
  ['a check is refused', { trouble: denied }, 'Pending: waiting waiting, once more'],
  ['once more, too soon', { trouble: denied }, 'Pending: waiting waiting, once more', soon],
  ['once more', { trouble: denied }, 'Failed: waiting waiting', later],
  ['the locks may not be read', unreadLocks, 'Failed: waiting waiting', later],
  ['no right to the ServiceAccount', {}, 'Failed: waiting waiting', barred],
]);
check({ kind: 'prepare' }, statusOf('Preparing', 'waiting waiting'), prepare, [
  [
    'no right to the ServiceAccount, not even for a dry run',
    { faults: [fault] },
    'Preparing: waiting waiting, once more',
    { ...barred, ...soon },
  ],
  ['none', {}, 'Failed: waiting waiting', barred],
]);
check({ kind: 'apply', index: 1 }, committing, item, [
  ['the snapshot may not be read', unreadSnapshot, 'Committing: applied announced, once more'],
  ['not once more', unreadSnapshot, 'RollingBack: applied announced', later],
  ['no right to the ServiceAccount', {}, 'RollingBack: applied announced', barred],
]);
check({ kind: 'restore', index: 0 }, undone, item, [
  ['the snapshot may not be read', unreadSnapshot, 'Failed: left untouched', later],
  ['no right to the ServiceAccount', {}, 'Failed: left untouched', barred],
]);
check({ kind: 'reacquire', request }, committed, reacquire, [
  ['the snapshot may not be read', unreadSnapshot, 'Committed: applied applied, once more'],
  ['not once more', unreadSnapshot, 'Committed: applied applied', later],
  ['the locks may not be read', unreadLocks, 'Committed: applied applied', later],
]);
check({ kind: 'fail', cause }, pending, release, [
  ['the locks may not be read', { trouble: denied }, 'Failed: waiting waiting', later],
]);
check({ kind: 'release' }, committed, release, [
  [
    'the locks may not be read: they are released once they may',
    { trouble: denied },
    'Committed: applied applied, again in 5',
    later,
  ],
]);

t.test('a final refusal says whose right is missing, in the words of the API server', async (t) => {
  const saying = (failure: Failure): string | undefined => {
    const step = decide(observation({ kind: 'begin' }, pending, { ...begin, trouble: { ...failure, message: 'no way' } }, later));
    return step.kind === 'setStatus' ? step.status.cause?.message : undefined;
  };
  t.match(saying(denied), 'was refused to the engine: no way; grant the engine that right');
  const { toEngine: _none, ...ofAccount } = denied as Refusal;
  t.match(saying(ofAccount), /was refused: no way; allow the ServiceAccount/);
  t.match(saying({ ...ofAccount, code: 405 }), /was refused: no way; .*remove the reason/);
});

t.test('a Transaction that stops waiting for a lock releases the locks that it has taken meanwhile', async (t) => {
  const view = { ...begin, targets: [target], locks: { ...locks(other), locks: [lockOf(target)] } };
  const states = new Map([[lockOf(target).name, other]]);
  const step = decide(observation({ kind: 'begin' }, pending, { ...view, locks: { ...view.locks, states } }, hasty));
  t.match(step, { kind: 'setStatus', status: { phase: 'Failed', cause: { reason: 'LockHeld' } } });
  t.ok(step.kind === 'setStatus' && holdsLocks(step.status));
});
