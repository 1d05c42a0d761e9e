// Conditions follow from the rest of the status: phase x locks x snapshot -> every condition's status and reason.
import t from 'tap';
import type { Phase } from '../../../../hooks/transactions/model/phase.ts';
import { phases } from '../../../../hooks/transactions/model/phase.ts';
import type { Status } from '../../../../hooks/transactions/model/status.ts';
import { conditionsOf, conditionTypes } from '../../../../hooks/transactions/outcome/conditions.ts';
import { table } from '../../../support/table.ts';
import { minute, start, statusOf } from '../../../support/transactions.ts';

const cause = { reason: 'Timeout', message: 'it took too long' } as const;
const failing: readonly string[] = ['RollingBack', 'RolledBack', 'Failed'];

function statusFor({ phase, locks, snapshot }: Readonly<Record<'phase' | 'locks' | 'snapshot', string>>): Status {
  const { completionTime: _none, ...base } = statusOf(phase as Phase, 'applied', { message: 'what happened' });
  return {
    ...base,
    items: base.items.map((item) => (locks === 'held' ? { ...item, lockLease: 'l' } : item)),
    ...(snapshot === 'stored' ? { rollbackRef: { name: 'r', digest: 'd', objects: 1 } } : {}),
    ...(failing.includes(phase) ? { cause } : {}),
    ...(['Committed', 'RolledBack', 'Failed'].includes(phase) ? { completionTime: start } : {}),
  };
}

// T, F and U are True, False and Unknown; without a word the reason is the phase.
const rows = table<
  | 'case'
  | 'phase'
  | 'locks'
  | 'snapshot'
  | 'Finished'
  | 'Succeeded'
  | 'Prepared'
  | 'Committed'
  | 'RolledBack'
  | 'Ready'
  | 'Reconciling'
  | 'Stalled'
>(
  `
case | phase       | locks | snapshot | Finished         | Succeeded   | Prepared         | Committed | RolledBack | Ready | Reconciling | Stalled
1    | Pending     | none  | none     | F                | U           | F NoSnapshot     | F         | F          | F     | T           | F
2    | Pending     | held  | none     | F                | U           | F NoSnapshot     | F         | F          | F     | T           | F
3    | Preparing   | held  | none     | F                | U           | F NoSnapshot     | F         | F          | F     | T           | F
4    | Prepared    | held  | stored   | F                | U           | T SnapshotStored | F         | F          | F     | T           | F
5    | Committing  | held  | stored   | F                | U           | T SnapshotStored | F         | F          | F     | T           | F
6    | Committed   | held  | stored   | F ReleasingLocks | T           | T SnapshotStored | T         | F          | F ReleasingLocks | T           | F
7    | Committed   | none  | stored   | T                | T           | T SnapshotStored | T         | F          | T     | F           | F
8    | RollingBack | held  | stored   | F                | F Timeout   | T SnapshotStored | F         | F          | F     | T           | F
9    | RolledBack  | held  | stored   | F ReleasingLocks | F Timeout   | T SnapshotStored | F         | T          | F     | T           | F
10   | RolledBack  | none  | stored   | T                | F Timeout   | T SnapshotStored | F         | T          | F     | F           | T Timeout
11   | Failed      | held  | stored   | F ReleasingLocks | F Timeout   | T SnapshotStored | F         | F          | F     | T           | F
12   | Failed      | none  | stored   | T                | F Timeout   | T SnapshotStored | F         | F          | F     | F           | T Timeout
13   | Failed      | held  | none     | F ReleasingLocks | F Timeout   | F NoSnapshot     | F         | F          | F     | T           | F
14   | Failed      | none  | none     | T                | F Timeout   | F NoSnapshot     | F         | F          | F     | F           | T Timeout
`,
);

const words = { T: 'True', F: 'False', U: 'Unknown' } as const;
type Cells = Readonly<Record<string, string>>;

for (const row of rows) {
  t.test(`${row.phase}, locks ${row.locks}, snapshot ${row.snapshot}`, async (t) => {
    const found = conditionsOf(statusFor(row), [], start);
    t.same(
      found.map(({ type }) => type),
      conditionTypes,
    );
    for (const condition of found) {
      const [letter = '', reason = row.phase] = ((row as Cells)[condition.type] ?? '').split(' ');
      t.equal(`${condition.status} ${condition.reason}`, `${words[letter as 'T']} ${reason}`, condition.type);
      t.match(condition.reason, /^[A-Z][A-Za-z]*$/, 'a reason is CamelCase');
    }
  });
}

t.test('the table has every phase and every condition', async (t) => {
  t.same([...new Set(rows.map(({ phase }) => phase))].toSorted(), phases.toSorted());
  t.same(
    conditionTypes.filter((type) => !(type in (rows[0] ?? {}))),
    [],
  );
});

t.test('no conditions contradict each other', async (t) => {
  for (const row of rows) {
    const is = Object.fromEntries(conditionsOf(statusFor(row), [], start).map(({ type, status }) => [type, status === 'True']));
    t.notOk(is.Committed && is.RolledBack, 'one end only');
    t.not(is.Finished, is.Reconciling, 'it is finished, or it goes on');
    t.notOk(is.Ready && is.Reconciling, 'what still goes on is not ready');
    t.notOk(is.Stalled && (is.Reconciling || is.Ready), 'what is stalled neither goes on nor is ready');
    t.equal(is.Succeeded, is.Committed);
  }
});

t.test('a condition names its cause', async (t) => {
  const found = conditionsOf(statusFor({ phase: 'Failed', locks: 'none', snapshot: 'none' }), [], start);
  t.match(
    found.find(({ type }) => type === 'Succeeded'),
    cause,
  );
  t.match(
    found.find(({ type }) => type === 'Stalled'),
    { message: 'what happened' },
  );
});

t.test('a refused undo has a condition, and a plan has none', async (t) => {
  const undo = { request: { annotation: 'a', value: '1' }, message: 'b was changed', digest: 'd', counts: {}, items: [] };
  const typesFor = (reason: 'Planned' | 'UndoRefused' | 'PlanChanged') =>
    conditionsOf(statusOf('Committed', 'applied', { undo: { ...undo, reason } }), [], start).slice(conditionTypes.length);
  t.match(typesFor('UndoRefused'), [{ type: 'UndoRefused', status: 'True', reason: 'UndoRefused', message: 'b was changed' }]);
  t.match(typesFor('PlanChanged'), [{ type: 'UndoRefused', status: 'True', reason: 'PlanChanged' }]);
  t.same(typesFor('Planned'), []);
});

t.test('the time of a condition is that of its last transition', async (t) => {
  const first = conditionsOf(statusOf('Pending', 'waiting'), [], start);
  const second = conditionsOf(statusOf('Preparing', 'waiting'), first, start + minute);
  t.ok(
    second.every(({ lastTransitionTime }) => lastTransitionTime === '2026-01-01T00:00:00Z'),
    'reasons alone move no time',
  );
  const third = conditionsOf(statusOf('Committed', 'applied'), second, start + 2 * minute);
  const moved = third.filter(({ lastTransitionTime }) => lastTransitionTime === '2026-01-01T00:02:00Z').map(({ type }) => type);
  t.same(moved, ['Finished', 'Succeeded', 'Committed', 'Ready', 'Reconciling']);
});
