// What a status says to people: the state of each change by phase and flags, its target, the one in hand, how long it took.
import t from 'tap';
import { storedSize } from '../../../../hooks/objects/words.ts';
import {
  decodeDisplay,
  displayOf,
  encodeDisplay,
  type ItemState,
  statesOf,
} from '../../../../hooks/transactions/model/display.ts';
import type { Item } from '../../../../hooks/transactions/model/item.ts';
import { phases } from '../../../../hooks/transactions/model/phase.ts';
import { itemStates } from '../../../../schemas/transaction-item.ts';
import { listed, table } from '../../../support/table.ts';
import { change, itemsOf, minute, second, start, statusOf, transactionOf } from '../../../support/transactions.ts';

/** `!` after a change: it has an error; `?`: its undo waits. For the words see `itemsOf`. */
const rows = table<'when' | 'phase' | 'items' | 'states'>(`
when                      | phase       | items                             | states
it has not begun          | Pending     | waiting, waiting                  | Waiting, Waiting
it holds its locks        | Preparing   | waiting, waiting                  | Waiting, Waiting
a window is announced     | Prepared    | announced, announced, prepared    | Applying, Applying, Prepared
one is applied            | Committing  | applied, announced, prepared      | Applied, Applying, Prepared
all are                   | Committed   | applied, applied                  | Applied, Applied
a check refuses one       | Failed      | waiting, waiting!, waiting        | Skipped, Failed, Skipped
a dry run refuses one     | Failed      | prepared, prepared!               | Skipped, Failed
one fails                 | RollingBack | applied, applied, announced!      | Applied, Applied, Restoring
outcomes are unknown      | RollingBack | announced, announced!, prepared   | Applying, Restoring, Skipped
some are undone           | RollingBack | applied, restored, untouched!     | Restoring, Restored, Failed
the undo of one waits     | RollingBack | applied, applied?, untouched      | Restoring, Applied, Skipped
all of them wait          | RollingBack | applied?, applied?, left!         | Applied, Restoring, NotRestored
all are judged            | RollingBack | left!, restored                   | NotRestored, Restored
it is undone              | RolledBack  | restored, untouched!, untouched   | Restored, Failed, Skipped
one was never announced   | RolledBack  | restored, untouched!, prepared    | Restored, Failed, Skipped
some are kept             | RolledBack  | kept, restored                    | Kept, Restored
something is left         | Failed      | left!, stuck!, restored, prepared | NotRestored, NotRestored, Restored, Skipped
`);

function itemOf(text: string): Item {
  const [item] = itemsOf(text.replace(/[!?]/, ''));
  if (item === undefined) throw new Error(`no item in ${text}`);
  const error = text.endsWith('!') ? { error: { reason: 'Forbidden' as const, message: 'no' } } : {};
  return { ...item, ...error, ...(text.endsWith('?') ? { waiting: 'for a finalizer' } : {}) };
}

for (const { when, phase, items, states } of rows)
  t.test(`${when}: ${phase}, ${items}`, async (t) => {
    const found = phases.find((one) => one === phase);
    t.same(found && statesOf({ phase: found, items: listed(items).map(itemOf) }), listed(states));
  });

t.test('each state has a row, and the CRD knows them all', async (t) => {
  const seen = new Set(rows.flatMap(({ states }) => listed(states)));
  t.same([...seen].sort(), [...itemStates].sort());
  const all: readonly ItemState[] = itemStates;
  t.equal(all.length, 10);
});

const transaction = transactionOf({
  changes: [
    change('Patch', 'a', { target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web-server', namespace: 'shop' } }),
    change('Patch', 'b', { target: { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'web' } }),
    change('Patch', 'c', { target: { apiVersion: 'v1', kind: 'Secret', name: 'keys', namespace: 'other' } }),
  ],
});

t.test('an object that needs another object is undone first', async (t) => {
  const order = new Map([[1, { indexes: new Set([0]), isAwaited: true }]]);
  const items = ['applied', 'applied'].map(itemOf);
  t.same(statesOf({ phase: 'RollingBack', items }, order), ['Restoring', 'Applied']);
  const status = { ...statusOf('RollingBack', 'applied applied'), items };
  t.equal(displayOf(status, { ...transaction, order }, 100).current, 'Deployment web-server');
});

t.test('a target shows its namespace if the Transaction has another one', async (t) => {
  const { items, current } = displayOf(statusOf('Committing', 'applied announced announced'), transaction, 700);
  t.same(
    items.map(({ target }) => target),
    ['Deployment web-server', 'Ingress.networking.k8s.io web', 'Secret other/keys'],
  );
  t.equal(current, 'Ingress.networking.k8s.io web', 'the first that may have been sent is in hand');
});

t.test('the change in hand, and the duration', async (t) => {
  const undone = displayOf(statusOf('RollingBack', 'applied announced prepared'), transaction, 700);
  t.equal(undone.current, 'Ingress.networking.k8s.io web');
  t.notOk('duration' in undone);
  const ended = statusOf('RolledBack', 'restored untouched prepared', { completionTime: start + minute + 12 * second });
  t.match(displayOf(ended, transaction, 700), { duration: '1m12s' });
  t.notOk('current' in displayOf(ended, transaction, 700));
});

t.test('a long name is cut to the bytes that its place of storage allows', async (t) => {
  for (const letter of ['x', '<', '語', '\u{1f600}', '\u0000']) {
    const long = transactionOf({ changes: [change('Patch', letter.repeat(253))] });
    const [item] = displayOf(statusOf('Pending', 'waiting'), long, 120).items;
    const target = item?.target ?? '';
    t.ok(storedSize(target) <= 120 && target.startsWith('ConfigMap ') && target.isWellFormed(), target);
  }
});

t.test('it is read as it is stored, whoever has stored it', async (t) => {
  const display = displayOf(statusOf('Committing', 'applied announced announced'), transaction, 700);
  t.same(decodeDisplay(encodeDisplay(display)), { display });
  t.same(decodeDisplay({ items: [{ state: 'OfAnotherVersion' }] }), { display: { items: [{ state: 'OfAnotherVersion' }] } });
  t.same(decodeDisplay({ phase: 'Committed', items: [{ prepared: true }] }), {}, 'none of a version without it');
});
