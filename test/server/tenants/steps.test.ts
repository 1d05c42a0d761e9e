// Long steps of several tenants: a tenant whose steps are long leaves most of the thread to others.
import t from 'tap';
import { inOwnTurns } from '../../../hooks/objects/requests/loop-turns.ts';
import { callOf } from '../../../server/tenants/steps.ts';

/** Steps that each keep the thread busy for 20 ms. Returns when each of them began. */
function* busy(steps: number): Generator<undefined, readonly number[]> {
  const begun: number[] = [];
  for (let step = 0; step < steps; step += 1) {
    yield;
    begun.push(performance.now());
    while (performance.now() < (begun.at(-1) ?? 0) + 20);
  }
  return begun;
}

const between = (times: readonly number[]): readonly number[] => times.slice(1).map((time, index) => time - (times[index] ?? 0));

// First: a tenant counts as a caller for a second after its call.
t.test('two calls of one tenant pause as little as a tenant alone', async (t) => {
  const over = Promise.withResolvers<void>();
  const other = callOf('alone', () => over.promise);
  const times = await callOf('alone', () => inOwnTurns(busy(20)));
  over.resolve();
  await other;
  t.ok(Math.min(...between(times)) < 3 * 20, between(times).join(', '));
});

t.test('after a long step, a tenant pauses while another tenant calls', async (t) => {
  const over = Promise.withResolvers<void>();
  const other = callOf('other', () => over.promise);
  const times = await callOf('heavy', () => inOwnTurns(busy(4)));
  over.resolve();
  await other;
  t.ok(
    between(times).every((ms) => ms >= 3 * 20),
    between(times).join(', '),
  );
});
