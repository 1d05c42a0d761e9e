// The room for objects: the limits of a call, of a namespace, and of the process.
import t from 'tap';
import type { Reader } from '../../../../hooks/objects/cluster.ts';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import { weightOf } from '../../../../hooks/objects/measure.ts';
import {
  createMemoryBudgets,
  dropping,
  droppingEach,
  readingInto,
} from '../../../../hooks/transactions/reading/memory-budget.ts';
import { configMaps, engine } from '../../../../hooks/transactions/writes/resources.ts';

const limits = { little: 10, call: 100, process: 150 };
const location = { resource: configMaps, namespace: 'shop', name: 'one' };

t.test('a call gets no more than its bound: the failure is final (R1)', async (t) => {
  const budget = createMemoryBudgets(limits).open('shop').budget;
  t.equal(budget.take(100), undefined);
  t.match(budget.take(1), { kind: 'refused', code: 413, message: /more than 100 bytes/ });
  t.ok(budget.isCrowded);
  budget.drop();
  t.equal(budget.take(100), undefined, 'what was given back is free');
});

t.test('a call waits while its namespace, or all of them, hold too much; a little is free (R1, R2)', async (t) => {
  const budgets = createMemoryBudgets(limits);
  const [first, second, other] = [budgets.open('shop').budget, budgets.open('shop').budget, budgets.open('bank').budget];
  t.equal(first.take(90), undefined);
  t.match(second.take(20), { kind: 'transient', reason: 'Busy' }, 'of the same namespace');
  t.equal(other.take(60), undefined, 'of another one');
  t.match(other.take(1), { kind: 'transient', reason: 'Busy' }, 'of the process');
  t.equal(second.take(10), undefined, 'a little');
  first.drop();
  t.equal(other.take(1), undefined);
});

t.test('a read that outlives its call holds nothing', async (t) => {
  const budgets = createMemoryBudgets(limits);
  const { budget, close } = budgets.open('shop');
  const inner = budget.inner();
  t.equal(inner.take(90), undefined);
  close();
  t.equal(inner.take(90), undefined);
  inner.drop();
  t.equal(budgets.open('shop').budget.take(100), undefined);
  t.match(budgets.open('shop').budget.take(20), { kind: 'transient' }, 'what is held now is counted');
});

function readerOf(objects: readonly JsonObject[]): Reader {
  const left = [...objects];
  return { get: async () => ({ kind: 'ok', object: left.shift() ?? {}, serverTime: 0 }) } as unknown as Reader;
}

t.test('a dropped object makes room, and an object that found no room beside others is tried again alone', async (t) => {
  const object = { data: { key: 'x'.repeat(50) } };
  const { memory } = weightOf(object);
  const budget = createMemoryBudgets({ little: 0, call: memory, process: memory }).open('shop').budget;
  const plain = readerOf(Array.from({ length: 9 }, () => ({ ...object })));
  const reader = readingInto(budget, { ...plain, ...unused });
  const read = async (own: Reader) => (await own.get(location, engine)).kind;
  t.same([await dropping(reader, read), await dropping(reader, read)], ['ok', 'ok']);
  t.same(await droppingEach({ reader, atOnce: 3 }, [1, 2, 3], (_, own) => read(own)), ['ok', 'ok', 'ok']);
  t.equal((await reader.get(location, engine)).kind, 'ok');
  t.equal((await reader.get(location, engine)).kind, 'failed', 'what is kept takes its place');
});

const nothing = async (): Promise<never> => {
  throw new Error('not read here');
};
const unused = {
  ...{ dryRun: nothing, getMetadata: nothing, listMetadata: nothing },
  ...{ resource: nothing, resources: nothing, allowed: nothing },
};
