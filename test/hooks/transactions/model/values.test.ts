// Durations, times, phases, quantities: vocabulary as tables.
import t from 'tap';
import { parseQuantity } from '../../../../hooks/objects/quantity.ts';
import { formatDuration, formatMicroTime, formatTime, parseDuration, parseTime } from '../../../../hooks/objects/time.ts';
import { isPhase, isTerminal, mayFollow, phases } from '../../../../hooks/transactions/model/phase.ts';
import { defaultTimeouts } from '../../../../hooks/transactions/model/transaction.ts';
import { listed, table } from '../../../support/table.ts';
import { transactionOf } from '../../../support/transactions.ts';

const durations = table<'text' | 'ms'>(`
text              | ms
5m                | 300000
5m30s             | 330000
1h                | 3600000
0s                | 0
250ms             | 250
1.5s              | 1500
1h0m1s            | 3601000
100us             | 0.1
100µs             | 0.1
5                 |
5 m               |
-5m               |
+5m               |
.5s               |
5.s               |
1e3s              |
5m garbage        |
5d                |
５m               |
m                 |
`);
for (const { text, ms } of durations) {
  t.test(`the duration "${text}"`, async (t) => t.equal(parseDuration(text), ms === '' ? undefined : Number(ms)));
}

t.test('a text that is far too long is no duration, and costs nothing', async (t) => {
  t.equal(parseDuration(''), undefined);
  t.equal(parseDuration('1s'.repeat(17)), undefined);
  t.equal(parseDuration(`${'1'.repeat(1_000_000)}x`), undefined);
});

t.test('a missing or unreadable value has its default', async (t) => {
  t.match(transactionOf(), defaultTimeouts);
  t.match(transactionOf({ spec: { timeout: 'soon', lockWait: 5, lockTimeout: '' } }), defaultTimeouts);
  t.match(transactionOf({ spec: { timeout: '1s', lockWait: '0s', lockTimeout: '30s' } }), {
    timeout: 1_000,
    lockWait: 0,
    lockTimeout: 30_000,
  });
});

const told = table<'ms' | 'text'>(`
ms      | text
0       | 0s
400     | 0s
1000    | 1s
90000   | 1m30s
3600000 | 1h
3661000 | 1h1m1s
`);
for (const { ms, text } of told) t.test(`${ms} ms are ${text}`, async (t) => t.equal(formatDuration(Number(ms)), text));

t.test('times are written as the API server wants them, and read again', async (t) => {
  const time = Date.UTC(2026, 0, 2, 3, 4, 5);
  t.equal(formatTime(time), '2026-01-02T03:04:05Z');
  t.equal(formatMicroTime(time + 67), '2026-01-02T03:04:05.067000Z', 'exactly six digits');
  t.equal(parseTime(formatTime(time)), time);
  t.equal(parseTime(formatMicroTime(time + 67)), time + 67);
  t.equal(parseTime('x'), undefined);
  t.equal(parseTime(undefined), undefined);
});

/** The only ways; all others are closed. */
const ways = table<'from' | 'to'>(`
from        | to
Pending     | Preparing, Prepared, Failed
Preparing   | Prepared, Failed
Prepared    | Committing, Committed, RollingBack
Committing  | Committed, RollingBack
RollingBack | RolledBack, Failed
Committed   | RollingBack
RolledBack  |
Failed      | RollingBack
`);

t.test('between phases there are these ways and no others', async (t) => {
  t.same(phases.toSorted(), ways.map(({ from }) => from).sort());
  for (const { from, to } of ways) {
    const open = phases.filter((phase) => isPhase(from) && mayFollow(from, phase));
    t.same(open.toSorted(), listed(to).toSorted(), from);
  }
});

t.test('three phases are ends', async (t) => {
  t.same(phases.filter(isTerminal).toSorted(), ['Committed', 'Failed', 'RolledBack']);
  for (const text of ['', 'pending', 'constructor', '__proto__', 'toString']) t.notOk(isPhase(text), text);
});

const quantities = table<'text' | 'amount'>(`
text   | amount
1      | 1
500M   | 500000000
1Gi    | 1073741824
1.5Ki  | 1536
1e3    | 1000
1E     | 1000000000000000000
100m   | 0.1
-1     | -1
Gi     | NaN
1Zi    | NaN
`);
for (const { text, amount } of quantities)
  t.test(`the quantity ${text}`, async (t) => t.ok(Object.is(parseQuantity(text), Number(amount))));
