// How long a call waits for its turns in threads that all Transactions share.
import t from 'tap';
import { createPatience } from '../../../../hooks/transactions/observe/patience.ts';

/** A call with a task for each of `took`: the ms that it takes; undefined if it is late. Returns what each of them may wait. */
async function waitsOf(took: readonly (number | undefined)[]): Promise<readonly number[]> {
  let [now, running] = [0, 0];
  const waits: number[] = [];
  const patience = createPatience({ monotonic: () => now });
  const task = async (wait: number, ms: number | undefined): Promise<number | 'late'> => {
    running += 1;
    t.equal(running, 1, 'the tasks of one call do not wait for each other');
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    waits.push(wait);
    now += ms ?? wait;
    return ms ?? 'late';
  };
  const results = await Promise.all(took.map((ms) => patience((wait) => task(wait, ms))));
  t.same(
    results,
    took.map((ms) => ms ?? 'late'),
  );
  return waits;
}

t.test('a call waits half a second for one task, and three seconds for all', async (t) => {
  t.same(await waitsOf([400, 400, 400, 400, 400, 400, 400, 400, 400]), [500, 500, 500, 500, 500, 500, 500, 200, 0]);
});

t.test('after a late expression, the others of that call have a turn if no other call waits', async (t) => {
  t.same(await waitsOf([undefined, 400, undefined]), [500, 0, 0]);
});

t.test('one that throws ends no other', async (t) => {
  const patience = createPatience({ monotonic: () => 0 });
  const [thrown, next] = [patience(async () => Promise.reject(new Error('a fault'))), patience(async () => 1)];
  await t.rejects(thrown, /a fault/);
  t.equal(await next, 1);
});
