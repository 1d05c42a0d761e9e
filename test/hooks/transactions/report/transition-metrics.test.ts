// The metrics of a change of status.
import t from 'tap';
import type { Item, ItemError } from '../../../../hooks/transactions/model/item.ts';
import type { Phase } from '../../../../hooks/transactions/model/phase.ts';
import type { Reason } from '../../../../hooks/transactions/model/reason.ts';
import type { Status } from '../../../../hooks/transactions/model/status.ts';
import { hasEnded, storedOf } from '../../../../hooks/transactions/report/transition-metrics.ts';
import { table } from '../../../support/table.ts';
import { second, start, statusOf, transactionOf } from '../../../support/transactions.ts';

const ungated = { changes: [] };

const rows = table<'reason' | 'from' | 'items' | 'to' | 'then' | 'error' | 'counted'>(`
reason                          | from        | items               | to          | then                | error            | counted
nothing happened                | Committing  | applied announced   | Committing  | applied announced   |                  |
waiting is nothing done         | Pending     | waiting waiting     | Pending     | waiting waiting     |                  |
snapshots are stored            | Preparing   | waiting waiting     | Prepared    | announced prepared  |                  | prepare success, prepare success
a change is made                | Committing  | applied announced   | Committed   | applied applied     |                  | commit success
a check fails                   | Pending     | waiting waiting     | Failed      | waiting waiting     | NotFound         | prepare error
a change is refused             | Committing  | applied announced   | RollingBack | applied untouched   | Invalid          | commit error
a change is in conflict         | Committing  | applied announced   | RollingBack | applied announced   | Conflict         | commit conflict
one never had an effect         | RollingBack | applied announced   | RollingBack | applied untouched   |                  |
one is restored                 | RollingBack | applied applied     | RollingBack | applied restored    |                  | rollback success
an undo is in conflict          | RollingBack | applied applied     | RollingBack | applied left        | RollbackConflict | rollback conflict
an undo is refused              | RollingBack | applied applied     | RollingBack | applied left        | Forbidden        | rollback error
what was left is tried again    | Failed      | restored left       | RollingBack | restored applied    |                  |
`);

const withError = (status: Status, error: ItemError): Status => ({
  ...status,
  items: status.items.map((item, index) => (index === 1 ? { ...item, error } : item)),
});

for (const { reason, from, items, to, then, error, counted } of rows) {
  t.test(`counts: ${reason}`, async (t) => {
    const after = statusOf(to as Phase, then);
    const failed = error === '' ? after : withError(after, { reason: error as Reason, message: '' });
    const stored = storedOf(statusOf(from as Phase, items), failed, start, ungated);
    t.equal(stored.items.map(({ operation, result }) => `${operation} ${result}`).join(', '), counted);
    t.same(stored.conflicts, counted.includes('conflict') ? [error] : []);
  });
}

t.test('a Transaction has ended when an end is reached, not while it stays there', async (t) => {
  const ended = (from: Phase, to: Phase): boolean => hasEnded(statusOf(from, 'applied'), statusOf(to, 'applied'));
  t.ok(ended('Committing', 'Committed'));
  t.notOk(ended('Committed', 'Committed'));
  t.notOk(ended('Committed', 'RollingBack'));
});

t.test('a duration is that of the way to the end: of the whole, or of the undo', async (t) => {
  const times = { startTime: start, completionTime: start + 90 * second, rollbackStartedAt: start + 60 * second };
  const duration = (from: Phase, to: Phase) =>
    storedOf(statusOf(from, 'applied'), { ...statusOf(to, 'applied'), ...times }, start, ungated).durationSeconds;
  t.equal(duration('Committing', 'Committed'), 90);
  t.equal(duration('RollingBack', 'RolledBack'), 30);
  t.equal(duration('Committed', 'Committed'), undefined);
});

t.test('each wait for a gate is counted once, however it ends', async (t) => {
  const { changes } = transactionOf();
  const open = { since: start };
  const of = (phase: Phase, ...items: readonly Partial<Item>[]): Status => {
    const status = statusOf(phase, 'applied applied');
    return { ...status, items: status.items.map((item, index) => ({ ...item, ...items[index] })) };
  };
  const counted = (before: Status, after: Status) =>
    storedOf(before, after, start + 7 * second, { changes, gate: {} }).gates.map(
      ({ outcome, seconds }) => `${outcome} after ${seconds}`,
    );
  const error = { reason: 'GateFailed' as const, message: '' };
  const undone = of('RollingBack', { gate: open, error }, { gate: open });
  t.same(counted(of('Committing', { gate: open }, { gate: open }), undone), ['failed after 7', 'stopped after 7']);
  t.same(counted(of('Committing'), undone), ['failed after 7', 'stopped after 7'], 'opened in the same call');
  const passed = { ...open, passed: true as const };
  const again = of('RollingBack', { gate: passed, error }, { gate: open });
  t.same(counted(of('Committing', { gate: passed }, { gate: open }), again), ['failed after 7', 'stopped after 7']);
  t.same(counted(of('Failed', { gate: open }, { gate: open }), undone), [], 'an undo that is tried again');
});

t.test('a wait for locks is over when they are held, or given up', async (t) => {
  const pending = { ...statusOf('Pending', 'waiting'), startTime: start };
  const waited = (to: Partial<Status>) =>
    storedOf(pending, { ...statusOf('Pending', 'waiting'), ...to }, start + 7 * second, ungated).lockWaitSeconds;
  t.equal(waited({ phase: 'Preparing' }), 7);
  t.equal(waited({ phase: 'Prepared' }), 7, 'held and prepared in one call');
  t.equal(waited({ phase: 'Failed', cause: { reason: 'LockHeld', message: '' } }), 7);
  t.equal(waited({ phase: 'Failed', cause: { reason: 'NotFound', message: '' } }), undefined);
  t.equal(waited({}), undefined);
  const committed = { ...statusOf('Committed', 'applied'), completionTime: start, rollbackStartedAt: start + second };
  t.equal(storedOf(committed, statusOf('RollingBack', 'applied'), start + 3 * second, ungated).lockWaitSeconds, 2);
});
