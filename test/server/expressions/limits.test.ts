// The limits that end a long expression, and the calls that wait for it meanwhile.
import type { Worker } from 'node:worker_threads';
import t from 'tap';
import { createStopwatch } from '../../../server/threads/stopwatch.ts';
import { loops, megabyte, open, patient, yes } from './opened.ts';

/** Longer than that of the server: the small expressions beside have it too, on a machine that does much else. */
const limit = 2_000;

t.test('the thread ends a slow expression, and answers the other calls', async (t) => {
  const { expressions, threads } = open(t, { limit, idle: 60_000, wait: 60_000 });
  const [hostile, beside, after] = await Promise.all([
    expressions.evaluate(loops, megabyte),
    expressions.evaluate('object.ready', { ready: true }),
    expressions.compile('object.ready'),
  ]);
  t.same(hostile, { kind: 'broken', message: 'the expression takes longer than 2000 ms' });
  t.same(beside, yes, 'its own time began after the hostile one');
  t.equal(after, undefined);
  t.equal(threads.length, 2, 'one after the other');
  t.equal(threads[0]?.threadId, -1, 'the first is over');
});

t.test('the server ends it after 250 ms', async (t) => {
  const { expressions } = open(t);
  t.same(await expressions.evaluate(loops, megabyte), { kind: 'broken', message: 'the expression takes longer than 250 ms' });
});

t.test('an answer that arrived counts although this process was late', async (t) => {
  const { expressions, threads } = open(t, { limit: 1_000, idle: 60_000, wait: 60_000 });
  await expressions.evaluate('true', {});
  const [thread] = threads;
  const block = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000);
  thread?.once('message', () => setImmediate(block));
  t.same(
    await expressions.evaluate('object.items.all(a, object.items.all(b, a + b >= 0))', {
      items: Array.from({ length: 100 }, (_, index) => index),
    }),
    yes,
  );
  t.equal(threads.length, 1);
});

t.test('the limit counts processor time, with a separate limit of elapsed time', async (t) => {
  const worker = (used: readonly number[]) => {
    const left = [...used];
    return { cpuUsage: async () => ({ user: (left.shift() ?? 0) * 1_000, system: 0 }) } as unknown as Worker;
  };
  const watch = createStopwatch(worker([10, 70, 120]), 100);
  watch.begin();
  t.equal(await watch.left(), 40, 'it has used 60 ms');
  t.ok((await watch.left()) <= 0);
  const starved = createStopwatch(worker([0, 0]), 5);
  starved.begin();
  await new Promise((resolve) => setTimeout(resolve, 60));
  t.equal(await starved.left(), 0, 'eight times the limit is the end');
  const old = createStopwatch({} as Worker, 100);
  old.begin();
  t.equal(await old.left(), 0, 'where Node does not say, the time counts');
});

t.test('a regular expression takes time in proportion to the text', async (t) => {
  const { expressions, threads } = open(t, patient);
  const object = { metadata: { name: `${'a'.repeat(50_000)}!` } };
  t.same(await expressions.evaluate("object.metadata.name.matches('^(a+)+$')", object), { kind: 'value', value: false });
  t.same(await expressions.evaluate("object.metadata.name.matches('(a+)+$')", object), { kind: 'value', value: false });
  t.equal(threads.length, 1);
});
