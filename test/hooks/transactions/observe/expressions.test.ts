// Other calls beside the expressions of a Transaction that has many, or slow ones.
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import type { Expressions } from '../../../../hooks/objects/cluster.ts';
import { evaluateInTurn, expressionFaults } from '../../../../hooks/transactions/observe/expressions.ts';
import { createAdmission } from '../../../../server/tenants/admission.ts';
import { transactionOf } from '../../../support/transactions.ts';

/** One thread, which takes `cost` ms for each; what it did, in order. */
function thread(cost: number): { readonly expressions: Expressions; readonly done: string[]; readonly monotonic: () => number } {
  const [done, turns] = [[] as string[], createAdmission({ count: 1 })];
  let now = 0;
  const work = async (text: string): Promise<void> => {
    const giveBack = await turns.take();
    await setImmediate();
    now += cost;
    done.push(text);
    giveBack?.();
  };
  const compile: Expressions['compile'] = (text) => work(text).then(() => ({}));
  const evaluate: Expressions['evaluate'] = (text) => work(text).then(() => ({ kind: 'value', value: true }));
  return { expressions: { compile, evaluate }, done, monotonic: () => now };
}

const requester = { namespace: 'shop', uid: 'one' };

t.test('an expression of another Transaction waits for one of each, not for all of them', async (t) => {
  const { expressions, done, monotonic } = thread(1);
  const [many, one] = [
    evaluateInTurn(expressions, { monotonic }, requester),
    evaluateInTurn(expressions, { monotonic }, requester),
  ];
  const all = Array.from({ length: 50 }, (_, index) => many(`many ${index}`, {}));
  await one('one', {});
  t.ok(done.indexOf('one') <= 2, `after ${done.join(', ')}`);
  t.notOk((await Promise.all(all)).includes('late'));
});

t.test('the checks of another one, too', async (t) => {
  const { expressions, done, monotonic } = thread(1);
  const transaction = transactionOf();
  const changes = transaction.changes.flatMap((change) =>
    Array.from({ length: 50 }, () => ({ ...change, gate: { ready: { expression: 'many' } } })),
  );
  const checks = expressionFaults(expressions, { ...transaction, changes }, { monotonic });
  await evaluateInTurn(expressions, { monotonic }, requester)('one', {});
  t.ok(done.indexOf('one') <= 2, `after ${done.join(', ')}`);
  t.same(await checks, { faults: [] });
});

t.test('checks that had no turn are no fault, and the rest of them waits for the next call', async (t) => {
  const { expressions, monotonic } = thread(1);
  const transaction = transactionOf();
  const changes = transaction.changes.flatMap((change) =>
    ['first', 'late', 'third'].map((expression) => ({ ...change, gate: { ready: { expression } } })),
  );
  const waits: [string, number][] = [];
  const compile: Expressions['compile'] = async (text, _asker, wait) => {
    waits.push([text, wait]);
    return text === 'late' ? text : { why: 'is none' };
  };
  const checked = await expressionFaults({ ...expressions, compile }, { ...transaction, changes }, { monotonic });
  t.match(checked, { faults: [], trouble: { kind: 'transient', isLate: true } });
  t.same(waits, [
    ['first', 500],
    ['late', 500],
  ]);
});

t.test('a call ends however long its expressions take together, and the first one has its turn', async (t) => {
  const { expressions, done, monotonic } = thread(2_000);
  const evaluate = evaluateInTurn(expressions, { monotonic }, requester);
  const results = await Promise.all(Array.from({ length: 500 }, (_, index) => evaluate(`${index}`, {})));
  t.same(done, ['0', '1']);
  t.equal(results.filter((result) => result === 'late').length, 498);
});
