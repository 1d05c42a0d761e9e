// Generated runs of two and three Transactions that change common objects, undone in any order.
//
// `JANUS_ORDERS=1000 npm test -- test/scenarios/order/generated.test.ts` makes a thousand. A failure prints its seed;
// JANUS_TEST_SEED=<seed of the run> repeats the run, and searches for the smallest case that fails.
import fc from 'fast-check';
import t from 'tap';
import { installWidgets } from '../../generated/world.ts';
import { openEngines } from '../../support/engine.ts';
import { startStage } from '../../support/stage.ts';
import { orders } from './arbitraries.ts';
import { runOrders } from './run.ts';

const inTheSuite = 12;
const runs = Number(process.env.JANUS_ORDERS ?? inTheSuite);
const replayed = process.env.JANUS_TEST_SEED;
const seed = Number(replayed ?? (runs > inTheSuite ? Math.trunc(Math.random() * 2 ** 31) : 20_261_122));
const lanes = 4;

t.test('Transactions over common objects can be undone in any order', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  await installWidgets(stage, t);
  const engines = await openEngines(t, stage, { stepDeadline: 3_000, writeTimeout: 3_000 });
  const served = engines.start();
  let made = 0;
  let conflicts = 0;
  t.comment(`seed ${seed}`);
  t.jobs = lanes;
  const lane = (number: number): Promise<unknown> =>
    t.test(`lane ${number} of ${lanes}, JANUS_TEST_SEED=${seed}`, async (t) => {
      const property = fc.asyncProperty(orders, async (one) => {
        made += 1;
        const told = await runOrders(served, one, `orders-${made}`);
        conflicts += told.conflicts;
      });
      const settings = { seed: seed + number, numRuns: Math.ceil(runs / lanes), endOnFailure: replayed === undefined };
      const { failed, errorInstance, counterexample } = await fc.check(property, settings);
      t.notOk(failed, `${String(errorInstance ?? 'every one holds')}\n${JSON.stringify(counterexample ?? '')}`);
    });
  await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)));
  t.ok(made >= runs, `${made} runs`);
  t.ok(conflicts > 0, `${conflicts} undos found another Transaction in the way`);
  t.ok(conflicts < made, 'most found none');
});
