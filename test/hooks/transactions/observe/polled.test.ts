// The count of the Transactions whose gates a process polls.
import t from 'tap';
import { createPolled } from '../../../../hooks/transactions/observe/polled.ts';

t.test('the count has each Transaction of the namespace once', async (t) => {
  const polled = createPolled({ monotonic: () => 0 });
  t.same([polled.add('a', '1'), polled.add('a', '2'), polled.add('a', '1'), polled.add('b', '3')], [1, 2, 2, 1]);
  polled.forget('1');
  t.equal(polled.add('a', '2'), 1);
});

t.test('a Transaction that polls no more does not count after two minutes', async (t) => {
  let now = 0;
  const polled = createPolled({ monotonic: () => now });
  polled.add('a', '1');
  now = 60_000;
  t.equal(polled.add('a', '2'), 2);
  now = 121_000;
  t.equal(polled.add('a', '2'), 1);
});
