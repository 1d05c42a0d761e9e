// Callers wait for a turn in order, and no longer than their signal says.
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { createSlots } from '../../server/slots.ts';

t.test('a waiter that leaves takes no turn', async (t) => {
  const slots = createSlots(1);
  const giveBack = await slots.take();
  const over = new AbortController();
  const left = slots.take({ signal: over.signal });
  const next = slots.take();
  over.abort(new Error('too late'));
  await t.rejects(left, /too late/);
  giveBack();
  (await next)();
  (await slots.take())();
  await t.rejects(slots.take({ signal: over.signal }), /too late/, 'nor who comes too late');
  (await slots.take())();
});

t.test('a signal that is aborted after the turn has no effect', async (t) => {
  const slots = createSlots(1);
  const over = new AbortController();
  const giveBack = await slots.take();
  const mine = slots.take({ signal: over.signal });
  giveBack();
  const done = await mine;
  over.abort();
  const next = slots.take();
  done();
  (await next)();
  t.pass();
});

t.test('a tenant leaves as many slots free as it takes, whatever waits', async (t) => {
  const slots = createSlots(9, 1);
  const counts: Record<string, number> = {};
  const take = async (tenant: string): Promise<() => void> => {
    const giveBack = await slots.take({ tenant });
    counts[tenant] = (counts[tenant] ?? 0) + 1;
    return giveBack;
  };
  const first = Array.from({ length: 20 }, () => take('first'));
  const second = Array.from({ length: 20 }, () => take('second'));
  const third = take('third');
  await setImmediate();
  t.same(counts, { first: 4, second: 2, third: 1 });
  await slots.take();
  await slots.take();
  (await first[0])?.();
  await setImmediate();
  t.same(counts, { first: 4, second: 2, third: 1 }, 'what is reserved is free again first');
  (await third)();
  (await second[0])?.();
  await setImmediate();
  t.same(counts, { first: 4, second: 3, third: 1 });
});
