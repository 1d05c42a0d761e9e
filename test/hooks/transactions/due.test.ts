// What is due, as a table: phase x annotations x deletion x time. The Transaction has `timeout: 30m`, begun at the start.
import t from 'tap';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { type Due, dueOf } from '../../../hooks/transactions/due.ts';
import type { Phase } from '../../../hooks/transactions/model/phase.ts';
import type { Status } from '../../../hooks/transactions/model/status.ts';
import { annotations } from '../../../hooks/transactions/model/transaction.ts';
import { listed, table } from '../../support/table.ts';
import { change, minute, start, statusOf, transactionOf } from '../../support/transactions.ts';

const lateWindow = 30_000;
const names: Readonly<Record<string, string>> = {
  request: annotations.requestRollback,
  retry: annotations.retryRollback,
  automatic: annotations.automaticRollback,
};

/** `request=1, done request=1`: the annotation, and that its value has been handled. */
function annotated(cell: string): { readonly annotations: JsonObject; readonly handled: Readonly<Record<string, string>> } {
  const pairs = listed(cell).map((part) => /^(done )?(\w+)=(\w+)$/.exec(part) ?? []);
  const entries = (wanted: string | undefined): Readonly<Record<string, string>> =>
    Object.fromEntries(
      pairs.filter(([, done]) => done === wanted).map(([, , name = '', value = '']) => [names[name] ?? name, value]),
    );
  return { annotations: entries(undefined), handled: entries('done ') };
}

interface Cells {
  readonly phase: string;
  readonly items: string;
  readonly annotations: string;
  readonly deleted: string;
  readonly minutes: string;
}

function due(cells: Cells, more: JsonObject = {}): Due {
  const { annotations: set, handled } = annotated(cells.annotations);
  const transaction = transactionOf({ annotations: set, isBeingDeleted: cells.deleted === 'yes', spec: more });
  const now = start + Number(cells.minutes) * minute;
  const [items = '', locked] = cells.items.split(', ');
  const stored = statusOf(cells.phase as Phase, items, { handledAnnotations: handled, specDigest: transaction.specDigest });
  const status = {
    ...stored,
    rollbackStartedAt: start,
    completionTime: start,
    items: stored.items.map((item) => (locked === undefined ? item : { ...item, lockLease: 'l' })),
  };
  return dueOf({ transaction, status, now, lateWindow, waits: 0 });
}

function told(found: Due): string {
  if ('index' in found) return `${found.kind} ${found.index}`;
  if ('cause' in found) return `${found.kind}: ${found.cause.reason}${found.cause.request === undefined ? '' : ' on request'}`;
  if ('request' in found) return `${found.kind} ${found.request.annotation.split('/')[1]}`;
  return found.kind === 'conclude' && found.overdue ? 'conclude overdue' : found.kind;
}

const rows = table<'reason' | 'phase' | 'items' | 'annotations' | 'deleted' | 'minutes' | 'due'>(`
reason                                          | phase       | items                  | annotations              | deleted | minutes | due
it begins                                       | Pending     | waiting waiting        |                          |         | 0       | begin
it waited for locks too long                    | Pending     | waiting waiting        |                          |         | 31      | fail: Timeout
at the last moment                              | Pending     | waiting waiting        |                          |         | 30      | begin
stopped before it began                         | Pending     | waiting waiting        | request=1                |         | 0       | fail: RollbackRequested on request
stopped before it began, late                   | Pending     | waiting waiting        | request=1                |         | 31      | fail: RollbackRequested on request
deleted before it began                         | Pending     | waiting waiting        |                          | yes     | 0       | cleanUp
retry-rollback does not apply while it waits    | Pending     | waiting waiting        | retry=1                  |         | 0       | begin
it holds its locks                              | Preparing   | waiting waiting        |                          |         | 1       | prepare
preparing takes too long                        | Preparing   | waiting waiting        |                          |         | 31      | fail: Timeout
stopped while preparing                         | Preparing   | waiting waiting        | request=1                |         | 1       | fail: RollbackRequested on request
deleted while preparing                         | Preparing   | waiting waiting        | automatic=true           | yes     | 1       | cleanUp
the first is announced                          | Prepared    | announced prepared     |                          |         | 1       | apply 0
the second is announced                         | Committing  | applied announced      |                          |         | 1       | apply 1
it takes too long                               | Committing  | applied announced      |                          |         | 31      | rollBack: Timeout
stopped while it runs                           | Committing  | applied announced      | request=1                |         | 1       | rollBack: RollbackRequested on request
a request that was handled before               | Committing  | applied announced      | request=1, done request=1 |        | 1       | apply 1
a new value of a request                        | Committing  | applied announced      | request=2, done request=1 |        | 1       | rollBack: RollbackRequested on request
nothing is announced: corrupt                   | Committing  | applied prepared       |                          |         | 1       | rollBack: Inconsistent
deleted while it runs: what is applied stays    | Committing  | applied announced      |                          | yes     | 1       | releaseFields 0
deleted while the first may be in flight        | Prepared    | announced prepared     |                          | yes     | 1       | releaseFields 0
deleted while it runs: undone first, as wished  | Committing  | applied announced      | automatic=true           | yes     | 1       | rollBack: Deleted
the wish must be said plainly                   | Committing  | applied announced      | automatic=yes            | yes     | 1       | releaseFields 0
the item in flight is judged first              | RollingBack | applied announced      |                          |         | 1       | restore 1
then those before it, backwards                 | RollingBack | applied applied        |                          |         | 1       | restore 1
what was left is not tried again                | RollingBack | applied left           |                          |         | 1       | restore 0
all are judged                                  | RollingBack | restored untouched     |                          |         | 1       | conclude
all are judged, late                            | RollingBack | restored untouched     |                          |         | 40      | conclude
the undo takes too long                         | RollingBack | applied restored       |                          |         | 31      | conclude overdue
waiting a late write out is no time of the undo | RollingBack | applied announced      |                          |         | 30.4    | restore 1
a rolling back one finishes before it goes      | RollingBack | applied announced      |                          | yes     | 1       | restore 1
a request changes nothing while it rolls back   | RollingBack | applied announced      | request=2                |         | 1       | restore 1
it rests                                        | Committed   | applied applied        |                          |         | 99      | rest
it holds locks                                  | Committed   | applied applied, locked |                         |         | 1       | release
it shall be undone                              | Committed   | applied applied        | request=1                |         | 99      | reacquire request-rollback
it shall be undone before locks are released    | Committed   | applied applied, locked | request=1               |         | 1       | reacquire request-rollback
the request was answered                        | Committed   | applied applied        | request=1, done request=1 |        | 99      | rest
retry-rollback does not apply                   | Committed   | applied applied        | retry=1                  |         | 99      | ignore retry-rollback
deleted: our entries go first                   | Committed   | applied applied        |                          | yes     | 99      | releaseFields 0
deleted and asked to be undone: too late        | Committed   | applied applied        | request=1                | yes     | 99      | releaseFields 0
everything is undone                            | RolledBack  | restored restored      |                          |         | 99      | rest
everything is undone, locks are held            | RolledBack  | restored restored, locked |                       |         | 1       | release
nothing is left to undo                         | RolledBack  | restored restored      | request=1                |         | 99      | ignore request-rollback
nothing is left to retry                        | RolledBack  | restored restored      | retry=1                  |         | 99      | ignore retry-rollback
deleted after the undo                          | RolledBack  | restored restored      |                          | yes     | 99      | cleanUp
a failed undo rests                             | Failed      | restored left          |                          |         | 99      | rest
a failed undo is tried again                    | Failed      | restored left          | retry=1                  |         | 99      | reacquire retry-rollback
the retry was handled: final                    | Failed      | restored left          | retry=1, done retry=1    |         | 99      | rest
the other annotation does not retry             | Failed      | restored left          | request=1                |         | 99      | ignore request-rollback
both: the retry counts                          | Failed      | restored left          | request=1, retry=1       |         | 99      | reacquire retry-rollback
failed before anything was applied              | Failed      | waiting waiting        | retry=1                  |         | 99      | ignore retry-rollback
failed, locks are held                          | Failed      | waiting waiting, locked |                         |         | 1       | release
failed and deleted                              | Failed      | restored untouched     |                          | yes     | 99      | cleanUp
`);

for (const row of rows) t.test(row.reason, async (t) => t.equal(told(due(row)), row.due));

t.test('a spec that is not the one that was checked goes no further', async (t) => {
  const altered = (phase: Phase, items: string): string => {
    const transaction = transactionOf();
    return told(
      dueOf({ transaction, status: statusOf(phase, items, { specDigest: 'other' }), now: start, lateWindow, waits: 0 }),
    );
  };
  t.equal(altered('Pending', 'waiting waiting'), 'fail: SpecChanged');
  t.equal(altered('Preparing', 'waiting waiting'), 'fail: SpecChanged');
  t.equal(altered('Prepared', 'announced prepared'), 'rollBack: SpecChanged');
  t.equal(altered('Committing', 'applied announced'), 'rollBack: SpecChanged');
  t.equal(altered('RollingBack', 'applied announced'), 'restore 1', 'what is stored is undone');
  t.equal(altered('Committed', 'applied applied'), 'rest');
});

t.test('an undo has the whole of its time, however long ago the Transaction began', async (t) => {
  const [startTime, rollbackStartedAt] = [start, start + 60 * minute];
  const status = statusOf('RollingBack', 'applied applied', { startTime, rollbackStartedAt });
  const after = (minutes: number): string =>
    told(dueOf({ transaction: transactionOf(), status, now: rollbackStartedAt + minutes * minute, lateWindow, waits: 0 }));
  t.same([after(0), after(30), after(31)], ['restore 1', 'restore 1', 'conclude overdue']);
});

t.test('a Transaction that is new has no time behind it', async (t) => {
  const { startTime: _none, ...status } = statusOf('Pending', 'waiting waiting');
  t.same(dueOf({ transaction: transactionOf(), status, now: start + 99 * minute, lateWindow, waits: 0 }), { kind: 'begin' });
});

t.test('our entries are taken off patched objects only, one after the other', async (t) => {
  const changes = [
    change('Create', 'a'),
    change('Patch', 'b'),
    change('Patch', 'c'),
    change('Update', 'd'),
    change('Delete', 'e'),
  ];
  const transaction = transactionOf({ changes, isBeingDeleted: true });
  const status = statusOf('Committed', 'applied applied applied applied applied');
  const next = (disowned: readonly number[]): string => {
    const items = status.items.map((item, index) => (disowned.includes(index) ? { ...item, disowned: true as const } : item));
    return told(dueOf({ transaction, status: { ...status, items }, now: start, lateWindow, waits: 0 }));
  };
  t.same([next([]), next([1]), next([1, 2])], ['releaseFields 1', 'releaseFields 2', 'cleanUp']);
});

t.test(
  'one that is deleted after an undo with a late window is looked at for marks, where a change was only announced',
  async (t) => {
    const deleted = transactionOf({ isBeingDeleted: true });
    const next = (items: string, more: Partial<Status>): string =>
      told(dueOf({ transaction: deleted, status: statusOf('RolledBack', items, more), now: start, lateWindow, waits: 0 }));
    t.equal(next('restored untouched', { unsettledAt: start }), 'releaseFields 1');
    t.equal(next('restored untouched', { rollbackObservedAt: start }), 'releaseFields 1');
    t.equal(next('restored untouched', {}), 'cleanUp', 'nobody has fenced anything');
    t.equal(next('restored restored', { unsettledAt: start }), 'cleanUp', 'what is recorded is not fenced');
  },
);

t.test('one that is deleted while a change may be half made is undone first: it holds the only copy', async (t) => {
  const recreating = { ...change('Update', 'b'), whenImmutable: 'Recreate' };
  const transaction = transactionOf({ changes: [change('Create', 'a'), recreating], isBeingDeleted: true });
  const next = (phase: Phase, items: string): string =>
    told(dueOf({ transaction, status: statusOf(phase, items), now: start, lateWindow, waits: 0 }));
  t.match(next('Committing', 'applied announced'), /^rollBack: Deleted/);
  t.equal(next('Committing', 'applied applied'), 'cleanUp', 'it is made');
  t.equal(next('Committed', 'applied applied'), 'cleanUp', 'what is applied stays');
});

t.test('a finished Transaction is kept for as long as it says', async (t) => {
  const cells = { items: 'applied applied', annotations: '', deleted: '' };
  const ttl = { ttlSecondsAfterFinished: 120 };
  t.same(due({ ...cells, phase: 'Committed', minutes: '1' }, ttl), { kind: 'rest', seconds: 60 });
  t.same(due({ ...cells, phase: 'Committed', minutes: '2' }, ttl), { kind: 'expire' });
  t.same(due({ ...cells, phase: 'Committed', minutes: '2' }), { kind: 'rest', seconds: 0 });
  t.same(due({ ...cells, phase: 'Committed', minutes: '2', items: 'applied applied, locked' }, ttl), { kind: 'release' });
  t.same(due({ ...cells, phase: 'RollingBack', minutes: '2' }, ttl), { kind: 'restore', index: 1 });
  t.same(due({ ...cells, phase: 'Failed', minutes: '2', items: 'waiting waiting' }, ttl), { kind: 'expire' });
  const left = { ...cells, phase: 'Failed', minutes: '2', items: 'left restored' };
  t.same(due(left, ttl), { kind: 'rest', seconds: 0 }, 'the copy of what is left is not thrown away');
  t.same(due({ ...left, deleted: 'yes' }, ttl), { kind: 'releaseFields', index: 0 }, 'a person may delete it');
});

t.test('the engine skips an undo that waits; if all wait, each has its turn', async (t) => {
  const status = statusOf('RollingBack', 'applied applied applied', { rollbackStartedAt: start });
  const due = (waiting: readonly number[], waits: number) => {
    const items = status.items.map((item, index) => (waiting.includes(index) ? { ...item, waiting: 'w' } : item));
    const found = dueOf({ transaction: transactionOf(), status: { ...status, items }, now: start, lateWindow, waits });
    return found.kind === 'restore' ? found.index : found.kind;
  };
  t.equal(due([], 0), 2);
  t.equal(due([2], 5), 1, 'the last that does not wait');
  t.equal(due([1, 2], 5), 0);
  t.same(
    [0, 1, 2, 3].map((waits) => due([0, 1, 2], waits)),
    [2, 1, 0, 2],
  );
});

t.test('the order of an undo if one object needs another', async (t) => {
  const order = new Map([[1, { indexes: new Set([0]), isAwaited: true }]]);
  const status = { ...statusOf('RollingBack', 'applied applied'), rollbackStartedAt: start };
  const stored = { transaction: transactionOf(), status, now: start, lateWindow, waits: 0 };
  t.same([dueOf(stored), dueOf({ ...stored, order })].map(told), ['restore 1', 'restore 0']);
});
