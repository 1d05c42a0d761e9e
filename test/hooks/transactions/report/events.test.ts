// The Events of a change of status.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { GateState } from '../../../../hooks/transactions/model/gate.ts';
import type { Phase } from '../../../../hooks/transactions/model/phase.ts';
import type { Status } from '../../../../hooks/transactions/model/status.ts';
import { eventsOf } from '../../../../hooks/transactions/report/events.ts';
import { table } from '../../../support/table.ts';
import { change, itemsOf, second, start, statusOf, transactionOf } from '../../../support/transactions.ts';

const rows = table<'reason' | 'from' | 'items' | 'to' | 'then' | 'events'>(`
reason                            | from        | items               | to          | then                | events
nothing happened                  | Committing  | applied announced   | Committing  | applied announced   |
waiting is no news                | Pending     | waiting waiting     | Pending     | waiting waiting     |
locks are taken                   | Pending     | waiting waiting     | Preparing   | waiting waiting     | LocksAcquired
snapshots are stored              | Preparing   | waiting waiting     | Prepared    | announced prepared  | Prepared
the first is applied              | Prepared    | announced prepared  | Committing  | applied announced   | ChangeApplied
the last is applied               | Committing  | applied announced   | Committed   | applied applied     | ChangeApplied, Committed
all is prepared at once           | Pending     | waiting waiting     | Prepared    | announced announced | LocksAcquired, Prepared
all are applied at once           | Prepared    | announced announced | Committed   | applied applied     | ChangeApplied, Committed
all are undone at once            | RollingBack | applied applied     | RolledBack  | restored restored   | ChangeRestored, RolledBack
it is undone                      | Committing  | applied announced   | RollingBack | applied announced   | RollbackStarted!
one never had an effect           | RollingBack | applied announced   | RollingBack | applied untouched   |
one is restored                   | RollingBack | applied applied     | RollingBack | applied restored    | ChangeRestored
the last is restored              | RollingBack | applied untouched   | RolledBack  | restored untouched  | ChangeRestored, RolledBack
one is left                       | RollingBack | applied applied     | RollingBack | applied left        | RollbackConflict!
the end of a failed undo          | RollingBack | applied left        | Failed      | restored left       | ChangeRestored, Failed!
refused before anything           | Pending     | waiting waiting     | Failed      | waiting waiting     | Failed!
a failed undo is tried again      | Failed      | restored left       | RollingBack | restored applied    | RollbackStarted!
`);

for (const { reason, from, items, to, then, events } of rows) {
  t.test(`Events: ${reason}`, async (t) => {
    const found = eventsOf(statusOf(from as Phase, items), statusOf(to as Phase, then), transactionOf());
    t.equal(found.map((event) => event.reason + (event.type === 'Warning' ? '!' : '')).join(', '), events);
  });
}

const told = (before: Status, after: Status, transaction = transactionOf()): readonly string[] =>
  eventsOf(before, after, transaction).map(({ type, reason, message }) => `${type} ${reason}: ${message}`);

t.test('waiting for locks is told once, as it begins', async (t) => {
  const pending = statusOf('Pending', 'waiting waiting');
  const waiting = {
    ...pending,
    items: pending.items.map((item) => ({ ...item, lockLease: 'janus-lock-a' })),
    message: 'waiting: ConfigMap shop/a is locked by Transaction shop/other',
  };
  t.same(told(pending, waiting), ['Normal LockWaiting: waiting: ConfigMap shop/a is locked by Transaction shop/other']);
  t.same(told(waiting, { ...waiting, message: 'waiting: ConfigMap shop/b is locked by Transaction shop/other' }), []);
  const committed = { ...statusOf('Committed', 'applied applied'), completionTime: start };
  const wanted = { ...committed, rollbackStartedAt: start + second, message: 'waiting' };
  t.same(told(committed, wanted), ['Normal LockWaiting: waiting']);
  t.same(told(wanted, { ...wanted, message: 'waiting still' }), []);
  t.same(told(wanted, committed), []);
});

t.test('a failed change is told before the undo, which is no news then but in its size', async (t) => {
  const error = { reason: 'Invalid', message: 'Patch of ConfigMap shop/b was refused' } as const;
  const before = statusOf('Committing', 'applied announced');
  const [first = { progress: { kind: 'applied' } }, second = first] = itemsOf('applied untouched');
  const after: Status = { ...statusOf('RollingBack', 'applied untouched'), cause: error, items: [first, { ...second, error }] };
  t.same(told(before, after), [
    'Warning ChangeFailed: change 2 of 2 (Patch ConfigMap b): Patch of ConfigMap shop/b was refused',
    'Warning RollbackStarted: rolling back 1 applied change',
  ]);
  const gate = { since: start, pod: { found: 'ErrImagePull (Pod b-1 on node n1, container app)', uid: 'u' } };
  const ofPods = (state: GateState): readonly string[] =>
    told(before, { ...after, items: [first, { ...second, error, gate: state }] }).filter((one) => one.includes('Pod'));
  t.same(ofPods(gate), [
    'Warning PodFailed: change 2 of 2 (Patch ConfigMap b): ErrImagePull (Pod b-1 on node n1, container app)',
  ]);
  t.same(ofPods({ since: start, pod: { found: 'Pods could not be read (Forbidden)' } }), [], 'no Pod is named');
  const asked: Status = {
    ...statusOf('RollingBack', 'applied applied'),
    cause: { reason: 'RollbackRequested', message: 'a rollback was requested' },
  };
  t.same(told(statusOf('Committed', 'applied applied'), asked), [
    'Normal RollbackStarted: rolling back 2 applied changes: a rollback was requested',
  ]);
});

t.test('all changes that one call has applied are one Event, and all that one call has undone are one', async (t) => {
  const three = transactionOf({ changes: ['a', 'b', 'c'].map((name) => change('Patch', name)) });
  const announced = statusOf('Committing', 'announced announced announced');
  const applied = statusOf('Committing', 'applied applied applied');
  t.same(told(announced, applied, three), [
    'Normal ChangeApplied: changes 1 to 3 of 3: Patch ConfigMap a, Patch ConfigMap b, Patch ConfigMap c',
  ]);
  const undoing = statusOf('RollingBack', 'applied applied applied');
  t.same(told(undoing, statusOf('RollingBack', 'restored restored restored'), three), [
    'Normal ChangeRestored: undone: changes 1 to 3 of 3: Patch ConfigMap a, Patch ConfigMap b, Patch ConfigMap c',
  ]);
  const metrics = readFileSync(join(import.meta.dirname, '../../../../docs/metrics.md'), 'utf8').replaceAll(/\s+/g, ' ');
  t.match(metrics, 'All changes that one call of the hook has applied, or undone, are in one Event');
});

t.test('a hundred changes are told of in ten parts, forth and back', async (t) => {
  const total = 95;
  const many = transactionOf({ changes: Array.from({ length: total }, (_, index) => change('Patch', `c${index + 1}`)) });
  const words = (done: number, word: string, rest: string): string =>
    Array.from({ length: total }, (_, index) => (index < done ? word : rest)).join(' ');
  const forth = Array.from({ length: total }, (_, done) =>
    told(
      statusOf('Committing', words(done, 'applied', 'announced')),
      statusOf('Committing', words(done + 1, 'applied', 'announced')),
      many,
    ),
  ).flat();
  t.equal(forth.length, 10);
  t.equal(
    forth[1],
    'Normal ChangeApplied: changes 11 to 20 of 95: Patch ConfigMap c11, Patch ConfigMap c12, Patch ConfigMap c13 and 7 more',
  );
  t.equal(
    forth[9],
    'Normal ChangeApplied: changes 91 to 95 of 95: Patch ConfigMap c91, Patch ConfigMap c92, Patch ConfigMap c93 and 2 more',
  );
  const back = Array.from({ length: total }, (_, undone) => total - undone).flatMap((done) =>
    told(
      statusOf('RollingBack', words(done, 'applied', 'restored')),
      statusOf('RollingBack', words(done - 1, 'applied', 'restored')),
      many,
    ),
  );
  t.equal(back.length, 10);
  t.equal(
    back[0],
    'Normal ChangeRestored: undone: changes 91 to 95 of 95: Patch ConfigMap c91, Patch ConfigMap c92, Patch ConfigMap c93 and 2 more',
  );
});

t.test('of many that are left the first ten are told', async (t) => {
  const total = 30;
  const many = transactionOf({ changes: Array.from({ length: total }, (_, index) => change('Patch', `c${index + 1}`)) });
  const items = (done: number): string =>
    Array.from({ length: total }, (_, index) => (index < done ? 'applied' : 'left')).join(' ');
  const events = Array.from({ length: total }, (_, left) => total - left).flatMap((done) =>
    told(statusOf('RollingBack', items(done)), statusOf('RollingBack', items(done - 1)), many),
  );
  t.equal(events.length, 10);
});

t.test('one Event names all objects that a call has created', async (t) => {
  const total = 95;
  const many = transactionOf({ changes: Array.from({ length: total }, (_, index) => change('Patch', `c${index + 1}`)) });
  const items = (done: number): string =>
    Array.from({ length: total }, (_, index) => (index < done ? 'applied' : 'announced')).join(' ');
  const at = (done: number): Status => statusOf('Committing', items(done));
  const named = 'Patch ConfigMap c1, Patch ConfigMap c2, Patch ConfigMap c3';
  t.same(told(at(0), at(47), many), [`Normal ChangeApplied: changes 1 to 40 of 95: ${named} and 37 more`]);
  t.same(told(at(47), at(49), many), [], 'the rest of a tenth is told with the tenth');
  t.match(told(at(49), at(95), many), [/changes 41 to 95 of 95: Patch ConfigMap c41, .* and 52 more$/]);
});

t.test('a gate that opens is reported with how far the changes are', async (t) => {
  const gated = transactionOf({ changes: [change('Patch', 'a', { gate: {} }), change('Patch', 'b')] });
  const before = statusOf('Committing', 'announced prepared');
  const open = statusOf('Committing', 'applied prepared');
  const [first, ...rest] = open.items;
  const after = { ...open, items: [{ ...first, gate: { since: start } } as Status['items'][number], ...rest] };
  const waiting = 'Normal GateWaiting: 1 of 2 changes applied; waiting for change 1 of 2 (Patch ConfigMap a) to be ready';
  t.same(told(before, after, gated).slice(1), [waiting]);
  t.same(told(after, after, gated), [], 'once');
});
