import t from 'tap';
import { createBackoff, createQueue, type Verdict } from './queue.ts';

const done: Verdict = { kind: 'forget' };

t.test('a key waits once, and is processed once more when it was added meanwhile', async (t) => {
  const begun: string[] = [];
  const gates = [Promise.withResolvers<Verdict>(), Promise.withResolvers<Verdict>(), Promise.withResolvers<Verdict>()];
  const queue = createQueue({
    workers: 5,
    process: (key) => {
      begun.push(key);
      return gates[begun.length - 1]?.promise ?? Promise.resolve(done);
    },
  });
  queue.add('a');
  for (let times = 0; times < 3; times += 1) queue.add('a');
  t.same(begun, ['a'], 'not twice at once');
  queue.add('b');
  t.same(begun, ['a', 'b'], 'another key is not held up');
  gates[0]?.resolve(done);
  await turns();
  t.same(begun, ['a', 'b', 'a']);
  gates[1]?.resolve(done);
  gates[2]?.resolve(done);
  await turns();
  t.same(begun, ['a', 'b', 'a'], 'once, however often it was added');
  await queue.close();
});

t.test('so many workers, first come first served', async (t) => {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const queue = createQueue({
    workers: 2,
    process: (key) => {
      begun.push(key);
      return new Promise((resolve) => ends.set(key, () => resolve(done)));
    },
  });
  for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
  t.same(begun, ['a', 'b']);
  ends.get('b')?.();
  await turns();
  t.same(begun, ['a', 'b', 'c']);
  const closing = queue.close();
  for (const key of ['a', 'c']) ends.get(key)?.();
  await closing;
  t.same(begun, ['a', 'b', 'c'], 'what waits is dropped on closing');
});

t.test('of several delays the earliest wins, and there is no second call', async (t) => {
  const times: number[] = [];
  const start = performance.now();
  const queue = createQueue({
    workers: 1,
    process: async () => {
      times.push(performance.now() - start);
      return done;
    },
  });
  queue.addAfter('a', 0.2);
  queue.addAfter('a', 0.05);
  queue.addAfter('a', 0.3);
  queue.addAfter('far', 1e9);
  await new Promise((resolve) => setTimeout(resolve, 400));
  await queue.close();
  t.equal(times.length, 1, 'a delay of years does not fire at once either');
  t.ok((times[0] ?? 0) > 47 && (times[0] ?? 0) < 195, `after 50 ms, found ${times[0]}`);
});

t.test('the result of a turn decides about the next turn', async (t) => {
  const verdicts: Verdict[] = [{ kind: 'after', seconds: 0 }, { kind: 'after', seconds: -1 }, { kind: 'backOff' }, done];
  let turn = 0;
  const last = Promise.withResolvers<void>();
  const queue = createQueue({
    workers: 1,
    process: async () => {
      turn += 1;
      if (turn === verdicts.length) last.resolve();
      return verdicts[turn - 1] ?? done;
    },
  });
  queue.add('a');
  await last.promise;
  await queue.close();
  t.equal(turn, verdicts.length);
});

t.test('backoff of a key doubles from 5 ms to 1000 s, until it is forgotten', async (t) => {
  const backoff = createBackoff();
  const waits = Array.from({ length: 20 }, () => backoff.next('a'));
  t.same(waits.slice(0, 5), [5, 10, 20, 40, 80]);
  t.same(waits.slice(17), [655_360, 1_000_000, 1_000_000]);
  t.equal(backoff.next('b'), 5, 'each key by itself');
  backoff.forget('a');
  t.equal(backoff.next('a'), 5);
});

t.test('after a hundred retries of all keys together they come ten a second', async (t) => {
  const backoff = createBackoff();
  const waits = Array.from({ length: 102 }, (_, index) => backoff.next(`key-${index}`));
  t.equal(waits[99], 5);
  t.ok((waits[101] ?? 0) > 150 && (waits[101] ?? 0) <= 200, `about 200 ms, found ${waits[101]}`);
});

async function turns(): Promise<void> {
  for (let count = 0; count < 10; count += 1) await Promise.resolve();
}
