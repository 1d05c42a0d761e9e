// Who waits for a turn: in order, and no longer than his signal says.
import t from 'tap';
import { createSlots } from '../../server/slots.ts';

t.test('a waiter that leaves takes no turn', async (t) => {
  const slots = createSlots(1);
  const giveBack = await slots.take();
  const over = new AbortController();
  const left = slots.take(over.signal);
  const next = slots.take();
  over.abort(new Error('too late'));
  await t.rejects(left, /too late/);
  giveBack();
  (await next)();
  (await slots.take())();
  await t.rejects(slots.take(over.signal), /too late/, 'nor who comes too late');
  (await slots.take())();
});

t.test('a signal that is aborted after the turn has no effect', async (t) => {
  const slots = createSlots(1);
  const over = new AbortController();
  const giveBack = await slots.take();
  const mine = slots.take(over.signal);
  giveBack();
  const done = await mine;
  over.abort();
  const next = slots.take();
  done();
  (await next)();
  t.pass();
});
