// Callers wait for a turn in one fair queue, and no longer than their signal says (A1). A tenant takes only a share (A2, A3).
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { createAdmission } from '../../../server/tenants/admission.ts';

const requester = (namespace: string, uid = 'one') => ({ namespace, uid });

t.test('a waiter that leaves takes no turn', async (t) => {
  const admission = createAdmission({ count: 1 });
  const giveBack = await admission.take();
  const over = new AbortController();
  const left = admission.take({}, over.signal);
  const next = admission.take();
  over.abort();
  t.equal(await left, undefined);
  giveBack?.();
  (await next)?.();
  (await admission.take())?.();
  t.equal(await admission.take({}, over.signal), undefined, 'nor who comes too late');
  (await admission.take())?.();
});

t.test('a signal that is aborted after the turn has no effect', async (t) => {
  const admission = createAdmission({ count: 1 });
  const over = new AbortController();
  const giveBack = await admission.take();
  const mine = admission.take({}, over.signal);
  giveBack?.();
  const done = await mine;
  over.abort();
  const next = admission.take();
  done?.();
  (await next)?.();
  t.pass();
});

t.test('namespaces have turns one after the other, and so have the Transactions of one', async (t) => {
  const admission = createAdmission({ count: 1 });
  const order: string[] = [];
  const take = async (namespace: string, uid: string): Promise<void> => {
    const over = await admission.take(requester(namespace, uid));
    order.push(`${namespace}/${uid}`);
    await setImmediate();
    over?.();
  };
  const many = ['a', 'b'].flatMap((uid) => [1, 2, 3].map(() => take('many', uid)));
  await Promise.all([...many, take('few', 'a')]);
  t.same(order, ['many/a', 'few/a', 'many/b', 'many/a', 'many/b', 'many/a', 'many/b']);
});

t.test('a tenant that waits comes before one that had a turn', async (t) => {
  const admission = createAdmission({ count: 2, spare: 0 });
  const [first] = await Promise.all([admission.take(requester('many')), admission.take(requester('many'))]);
  const order: string[] = [];
  const rest = ['many', 'few'].map(async (namespace) => {
    await admission.take(requester(namespace));
    order.push(namespace);
  });
  await setImmediate();
  t.same(order, []);
  first?.();
  await rest[1];
  t.same(order, ['few']);
});

t.test('a caller that gave up waiting is first the next time', async (t) => {
  const admission = createAdmission({ count: 1 });
  const first = await admission.take(requester('many'));
  const over = new AbortController();
  const late = admission.take(requester('late'), over.signal);
  over.abort();
  t.equal(await late, undefined);
  t.equal(await admission.take(requester('late'), over.signal), undefined, 'nor one whose time is over already');
  const order: string[] = [];
  const note = async (namespace: string): Promise<void> => {
    const over = await admission.take(requester(namespace));
    order.push(namespace);
    over?.();
  };
  const all = [note('many'), note('many'), note('late')];
  first?.();
  await Promise.all(all);
  t.same(order, ['late', 'many', 'many']);
});

/** Takes turns that end when the test says so, and counts those that began. */
function counting(options: Parameters<typeof createAdmission>[0]) {
  const admission = createAdmission(options);
  const counts: Record<string, number> = {};
  const take = async (namespace: string): Promise<() => void> => {
    const giveBack = await admission.take({ namespace });
    counts[namespace] = (counts[namespace] ?? 0) + 1;
    return () => giveBack?.();
  };
  const takeMany = (namespace: string) => Array.from({ length: 20 }, () => take(namespace));
  return { admission, counts, take, takeMany };
}

t.test('beside others, a tenant leaves as many turns free as it takes', async (t) => {
  const { admission, counts, take, takeMany } = counting({ count: 9, reserve: 1 });
  const first = takeMany('first');
  const second = takeMany('second');
  const third = take('third');
  await setImmediate();
  t.same(counts, { first: 4, second: 2, third: 1 });
  await admission.take();
  await admission.take();
  (await first[0])?.();
  await setImmediate();
  t.same(counts, { first: 4, second: 2, third: 1 }, 'what is reserved is free again first');
  (await third)();
  (await second[0])?.();
  await setImmediate();
  t.same(counts, { first: 4, second: 3, third: 1 });
});

t.test('a tenant that is alone takes all but what it spares, until another one comes', async (t) => {
  const { counts, take, takeMany } = counting({ count: 12, reserve: 1, spare: 3 });
  const first = takeMany('first');
  await setImmediate();
  t.same(counts, { first: 8 });
  const second = take('second');
  await setImmediate();
  t.same(counts, { first: 8, second: 1 }, 'another one has a turn at once');
  for (const turn of first.slice(0, 4)) (await turn)();
  await setImmediate();
  t.same(counts, { first: 9, second: 1 }, 'five of the first run, and five are free besides the one that is reserved');
  (await second)();
  await setImmediate();
  t.same(counts, { first: 12, second: 1 }, 'alone again');
});

t.test('a tenant whose turn does not end takes half, although it is alone', async (t) => {
  let now = 0;
  const { counts, takeMany } = counting({ count: 12, spare: 3, now: () => now });
  const first = takeMany('first');
  await setImmediate();
  t.same(counts, { first: 9 });
  now = 3_001;
  for (const turn of first.slice(1, 4)) (await turn)();
  await setImmediate();
  t.same(counts, { first: 9 }, 'six run, and none begins');
  (await first[4])?.();
  await setImmediate();
  t.same(counts, { first: 10 }, 'half run');
  (await first[0])?.();
  for (const turn of first.slice(5, 9)) (await turn)();
  await setImmediate();
  t.same(counts, { first: 18 }, 'all that did not end have ended');
});
