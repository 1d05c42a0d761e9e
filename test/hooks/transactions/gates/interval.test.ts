// How often an open gate is looked at: what a wait costs follows from it.
import t from 'tap';
import { intervalOf } from '../../../../hooks/transactions/gates/interval.ts';

const lockTimeout = 300_000;
const minutes = 60_000;

/** The times of the looks at one gate, in ms, until `end`. */
function looksUntil(end: number): readonly number[] {
  const times = [0];
  for (let now = 0; now < end; times.push(now)) now += intervalOf({ waited: now, open: 1, left: end - now, lockTimeout });
  return times;
}

t.test('a gate that is open for five minutes is looked at about 70 times', async (t) => {
  const looks = looksUntil(5 * minutes);
  // Each reads the Transaction, its Leases and the object; Metacontroller reads the Transaction once more.
  t.ok(looks.length * 4 <= 320, `${looks.length} looks`);
  t.ok(looks.length >= 40);
});

t.test('what is ready is seen a tenth of the wait late at most, or 0.3 s', async (t) => {
  const looks = looksUntil(5 * minutes);
  const gaps = looks.slice(1).map((time, index) => ({ gap: time - (looks[index] ?? 0), waited: looks[index] ?? 0 }));
  t.same(
    gaps.filter(({ gap, waited }) => gap > Math.max(300, waited / 10) + 1),
    [],
  );
});

t.test('it is bounded', async (t) => {
  const usual = { waited: 10 * minutes, open: 1, left: 10 * minutes, lockTimeout };
  t.equal(intervalOf(usual), 10_000, 'at most');
  t.equal(intervalOf({ ...usual, waited: 0 }), 200, 'at least');
  t.equal(intervalOf({ ...usual, waited: 0, open: 100 }), 5_000, 'each look reads each of them');
  t.equal(intervalOf({ ...usual, lockTimeout: 30_000 }), 7_500, 'a look renews the locks');
  t.equal(intervalOf({ ...usual, left: 700 }), 700, 'not past the next timeout');
});
