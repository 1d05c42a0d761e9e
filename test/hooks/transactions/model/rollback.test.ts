// What rollbacks have undone, and what stands again.
import t from 'tap';
import { mostUndone, undoneBy } from '../../../../hooks/transactions/model/rollback.ts';
import { rollbackSet } from '../../../../schemas/rollback.ts';

const rollback = (uid: string, ...undoes: readonly string[]) => ({ uid, undoes: new Set(undoes) });

const undone = (...rollbacks: readonly ReturnType<typeof rollback>[]) =>
  Object.fromEntries([...undoneBy(rollbacks)].map(([uid, one]) => [uid, one.uid]));

t.test('a rollback has undone what it names', async (t) => {
  t.same(undone(), {});
  t.same(undone(rollback('r1', 'v3', 'v2')), { v3: 'r1', v2: 'r1' });
});

t.test('what a rollback undid stands again, once another rollback has undone that one alone', async (t) => {
  t.same(undone(rollback('r1', 'v3', 'v2'), rollback('r2', 'r1')), { r1: 'r2' });
  t.same(undone(rollback('r1', 'v3', 'v2'), rollback('r2', 'r1'), rollback('r3', 'r2')), { r2: 'r3', v3: 'r1', v2: 'r1' });
});

t.test('of two rollbacks the standing one counts, in whatever order they come', async (t) => {
  const all = [rollback('r1', 'v2'), rollback('r2', 'v3', 'r1', 'v2')];
  for (const order of [all, all.toReversed()]) t.same(undone(...order), { v3: 'r2', r1: 'r2', v2: 'r2' });
});

t.test('each of many rollbacks is evaluated once, also in a forged cycle', async (t) => {
  const uids = Array.from({ length: 200 }, (_, number) => `r${number}`);
  const line = uids.map((uid, number) => rollback(uid, 'v1', ...uids.slice(0, number)));
  t.same(undone(...line), Object.fromEntries(['v1', ...uids.slice(0, -1)].map((uid) => [uid, 'r199'])));
  t.ok(undone(rollback('a', 'b'), rollback('b', 'a')));
});

t.test('the schema admits as many Transactions as a rollback undoes', async (t) => {
  t.match(rollbackSet, { properties: { undone: { maxItems: mostUndone } } });
});
