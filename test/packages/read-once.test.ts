// The numbers are those of hooks/crossplane/observe/read-once.ts.
import t from 'tap';
import { createReadOnce } from '../../hooks/crossplane/observe/read-once.ts';

/** Reads that end when the test says so, and a clock that stands still. */
function source() {
  const reads: PromiseWithResolvers<number>[] = [];
  const clock = { now: 0 };
  const read = (): Promise<number> => {
    const begun = Promise.withResolvers<number>();
    reads.push(begun);
    return begun.promise;
  };
  return { reads, clock, read, monotonic: () => clock.now };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

t.test('with age 0 the read begins after the call, and calls share the next read (1, 2)', async (t) => {
  const { reads, read, monotonic } = source();
  const once = createReadOnce<number>({ monotonic }, 0);
  const first = once(read);
  await settled();
  const later = [once(read), once(read)];
  await settled();
  t.equal(reads.length, 1, 'one read at a time');
  reads[0]?.resolve(1);
  t.equal(await first, 1);
  await settled();
  t.equal(reads.length, 2, 'one read for both later calls');
  reads[1]?.resolve(2);
  t.same(await Promise.all(later), [2, 2]);
});

t.test('a result counts until it is as old as the age (1)', async (t) => {
  const { reads, clock, read, monotonic } = source();
  const once = createReadOnce<number>({ monotonic }, 1_000);
  const first = once(read);
  await settled();
  reads[0]?.resolve(1);
  t.equal(await first, 1);
  clock.now = 999;
  t.equal(await once(read), 1);
  clock.now = 1_000;
  const next = once(read);
  await settled();
  reads[1]?.resolve(2);
  t.equal(await next, 2);
});

t.test('a later call does not get the failure of an earlier read (3)', async (t) => {
  const { reads, read, monotonic } = source();
  const once = createReadOnce<number>({ monotonic }, 1_000);
  const first = once(read);
  await settled();
  reads[0]?.reject(new Error('away'));
  await t.rejects(first, /away/);
  const next = once(read);
  await settled();
  reads[1]?.resolve(2);
  t.equal(await next, 2);
});
