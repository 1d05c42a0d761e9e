// How often the engine reads the object of an open gate. The cost of a wait follows from it.
import t from 'tap';
import { intervalOf, podListing } from '../../../../hooks/transactions/gates/interval.ts';

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

t.test('the engine sees readiness at most a tenth of the wait late, or 0.3 s', async (t) => {
  const looks = looksUntil(5 * minutes);
  const gaps = looks.slice(1).map((time, index) => ({ gap: time - (looks[index] ?? 0), waited: looks[index] ?? 0 }));
  t.same(
    gaps.filter(({ gap, waited }) => gap > Math.max(300, waited / 10) + 1),
    [],
  );
});

t.test('Pods are listed every 10 s, and once by hooks that poll in turn', async (t) => {
  let [now, hook] = [0, 0];
  const lists: { readonly time: number; readonly due: number; readonly hook: number }[] = [];
  while (now < 2 * minutes) {
    // The API server's clock has whole seconds.
    const seen = Math.floor(now / 1_000) * 1_000;
    const { due, left } = podListing({ since: 0, failingSince: undefined, now: seen });
    const isTaken = lists.some((list) => list.due === due && list.hook === hook);
    if (due !== undefined && !isTaken) lists.push({ time: now, due, hook });
    now += intervalOf({ waited: seen, open: 1, left, lockTimeout }) + 20;
    hook = 1 - hook;
  }
  const dues = [...new Set(lists.map(({ due }) => due / 1_000))];
  t.same(
    dues,
    Array.from({ length: 12 }, (_, index) => 5 + 10 * index),
  );
  const again = lists.filter(({ due, hook }) => lists.some((other) => other.due === due && other.hook < hook));
  t.ok(
    again.every(({ due }) => due < 25_000),
    'only in the beginning, a second hook may list them at the same time',
  );
  const failing = podListing({ since: 0, failingSince: 16_000, now: 25_900 });
  t.same(failing, { left: 100 }, 'once a Pod fails, the times count from then');
  t.match(podListing({ since: 0, failingSince: 16_000, now: 36_000 }), { due: 36_000, left: 10_000 });
});

t.test('it is bounded', async (t) => {
  const usual = { waited: 10 * minutes, open: 1, left: 10 * minutes, lockTimeout };
  t.equal(intervalOf(usual), 10_000, 'at most');
  t.equal(intervalOf({ ...usual, waited: 0 }), 200, 'at least');
  t.equal(intervalOf({ ...usual, waited: 0, open: 100 }), 5_000, 'each look reads each of them');
  t.equal(intervalOf({ ...usual, polled: 1_000 }), 50_000, 'many Transactions of a namespace poll more rarely');
  t.equal(intervalOf({ ...usual, polled: 10_000 }), 75_000, 'a poll renews the locks, however many poll');
  t.equal(intervalOf({ ...usual, lockTimeout: 30_000 }), 7_500, 'a look renews the locks');
  t.equal(intervalOf({ ...usual, left: 700 }), 700, 'not past the next timeout');
});
