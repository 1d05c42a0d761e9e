// Generated round trips on the real API server: random objects and changes, an end at a random place, with random writes of other clients
// in between. Then the invariants must hold: RolledBack means as before, no other work is lost, no trace of the engine is left.
//
// `JANUS_ROUND_TRIPS=1000 npm test -- test/generated` makes a thousand. A failure prints its seed; JANUS_TEST_SEED=<seed of the
// run> repeats the run, and searches for the smallest case that fails.
import fc from 'fast-check';
import t from 'tap';
import { openEngines } from '../support/engine.ts';
import { share } from '../support/selection.ts';
import { startStage } from '../support/stage.ts';
import { install, owners, type Plan, plan, untried } from './arbitraries.ts';
import { runPlan } from './run.ts';
import { installWidgets } from './world.ts';

const inTheSuite = share(4, 40);
const roundTrips = Number(process.env.JANUS_ROUND_TRIPS ?? inTheSuite);
const replayed = process.env.JANUS_TEST_SEED;
// The suite makes equal round trips each time; a larger run makes new ones each time.
const seed = Number(replayed ?? (roundTrips > inTheSuite ? Math.trunc(Math.random() * 2 ** 31) : 20_261_121));
const lanes = 4;

interface Failure {
  readonly failed: boolean;
  readonly error: string;
  readonly counterexample: string;
}

async function failureOf<Case>(property: fc.IAsyncProperty<Case>, settings: fc.Parameters<Case>): Promise<Failure> {
  const { failed, errorInstance, counterexample } = await fc.check(property, settings);
  return { failed, error: String(errorInstance ?? 'every one holds'), counterexample: JSON.stringify(counterexample ?? '') };
}

t.test('round trips', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  await installWidgets(stage, t);
  await Promise.all(Object.keys(owners).map((name) => stage.client.create(stage.path('configmaps'), { metadata: { name } })));
  const engines = await openEngines(t, stage, { stepDeadline: 1_000, writeTimeout: 2_000 });
  let made = 0;
  let installed = 0;
  t.comment(`seed ${seed}`);
  t.jobs = lanes + 1;
  const lane = (number: number): Promise<unknown> =>
    t.test(`lane ${number} of ${lanes}, JANUS_TEST_SEED=${seed}`, async (t) => {
      const property = fc.asyncProperty(plan, async (one) => {
        made += 1;
        await runPlan(engines, stage, one, `run-${made}`);
      });
      const settings = { seed: seed + number, numRuns: Math.ceil(roundTrips / lanes), endOnFailure: replayed === undefined };
      const { failed, error, counterexample } = await failureOf(property, settings);
      t.notOk(failed, `${error}\n${counterexample}`);
    });
  // The API server takes seconds to delete a Namespace.
  const installs = t.test(`installs with their Namespace, JANUS_TEST_SEED=${seed}`, async (t) => {
    const property = fc.asyncProperty(install, (one) => runPlan(engines, stage, one, `install-${++installed}`));
    const examples = untried.map((one): [Plan] => [one]);
    const numRuns = examples.length + Math.ceil(roundTrips / 20);
    const settings = { seed, numRuns, examples, endOnFailure: replayed === undefined };
    const { failed, error, counterexample } = await failureOf(property, settings);
    t.notOk(failed, `${error}\n${counterexample}`);
  });
  await Promise.all([installs, ...Array.from({ length: lanes }, (_, number) => lane(number))]);
  t.ok(made >= roundTrips, `${made} round trips`);
});
