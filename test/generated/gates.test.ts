// Generated Transactions with gates on the real API server: gates of every place on some of the changes, and objects that come up, flap,
// break, stay down, or break once their gate has passed. Committed only if all were ready, else all is undone exactly; and nothing is
// changed behind a gate that has not passed.
//
// JANUS_TEST_SEED=<seed of the run> repeats the run, and searches for the smallest case that fails.
import fc from 'fast-check';
import t from 'tap';
import { at, equalJson, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must } from '../support/client.ts';
import { type Gadgets, serveGadgets } from '../support/gadgets.ts';
import { itemsOf, undo } from '../support/round-trip.ts';
import { comparable, conditionOf, type Stage, startStage } from '../support/stage.ts';
import { step } from '../support/stepping.ts';
import { expected, type Fate, gateFor, isToFail, type Plan, plans } from './gated.ts';

const replayed = process.env.JANUS_TEST_SEED;
const seed = Number(replayed ?? 20_261_123);
const [lanes, runs] = [4, 12];
const mostSteps = 300;

interface Running {
  readonly stage: Stage;
  readonly gadgets: Gadgets;
  readonly plan: Plan;
  readonly name: string;
  readonly before: readonly unknown[];
  /** How often each gate was found open, and what was reported since. */
  readonly seen: { open: number; readonly reports: string[] }[];
}

function nameOf(name: string, index: number): string {
  return `${name}-${index}`;
}

async function standing({ client }: Stage, gadgets: Gadgets, name: string, isNew: boolean): Promise<unknown> {
  const answer = await client.get(gadgets.path(name));
  return answer.code === 404 ? null : comparable(must(answer), isNew);
}

function stand({ stage, gadgets, plan, name }: Omit<Running, 'before' | 'seen'>): Promise<readonly unknown[]> {
  return Promise.all(plan.changes.map(({ type }, index) => standing(stage, gadgets, nameOf(name, index), type === 'Delete')));
}

/** What is patched or replaced has been ready before; its status must not be taken for the new state. */
async function given({ client }: Stage, gadgets: Gadgets, plan: Plan, name: string): Promise<void> {
  for (const [index, { type }] of plan.changes.entries()) {
    if (type === 'Create') continue;
    const own = nameOf(name, index);
    const { target } = gadgets.change('Patch', own) as { readonly target: JsonObject };
    const object = { ...target, metadata: { name: own }, spec: { size: 1 } };
    must(await client.create(gadgets.path('').slice(0, -1), object, { fieldManager: 'kubectl-create' }));
    if (type !== 'Delete') await gadgets.report(own, 'True');
  }
}

/** The controller of the objects: acts on what is stored, between two calls. */
async function control({ gadgets, plan, name, seen }: Running, status: JsonObject): Promise<void> {
  for (const [index, one] of plan.changes.entries()) {
    const [gate, now] = [at(itemsOf(status)[index], 'gate'), seen[index]];
    if (gate === undefined || now === undefined || one.type === 'Delete') continue;
    const next = nextReport(expected(plan, one).fate, now.reports, at(gate, 'passed') === true);
    now.open += 1;
    if (next === undefined || now.open <= one.looks) continue;
    now.reports.push(next);
    await gadgets.report(nameOf(name, index), next);
  }
}

function nextReport(fate: Fate, reports: readonly string[], hasPassed: boolean): 'True' | 'False' | undefined {
  const story = {
    'comes up': ['True'],
    flaps: ['False', 'True'],
    breaks: ['False'],
    'stays down': [],
    relapses: ['True', 'False'],
  } as const;
  const isEarly = fate === 'relapses' && reports.length === 1 && !hasPassed;
  return isEarly ? undefined : story[fate][reports.length];
}

/** What is behind the first gate that has not passed is as before. */
async function behind(running: Running, status: JsonObject): Promise<readonly string[]> {
  const { plan, before, name } = running;
  const first = plan.changes.findIndex(
    (one, index) => expected(plan, one).at === 'AfterChange' && at(itemsOf(status)[index], 'gate', 'passed') !== true,
  );
  if (first < 0 || textAt(status, 'phase') !== 'Committing') return [];
  const now = await stand(running);
  return now.flatMap((object, index) =>
    index > first && !equalJson(object as JsonObject, before[index] as JsonObject)
      ? [`${nameOf(name, index)} was changed behind the gate of change ${first}`]
      : [],
  );
}

async function toEnd(running: Running): Promise<JsonObject> {
  for (let count = 0; count < mostSteps; count += 1) {
    const { status, resyncAfterSeconds } = await step(running.stage, running.name);
    const wrong = await behind(running, status);
    if (wrong.length > 0) throw new Error(wrong.join('\n'));
    if (conditionOf(status, 'Finished') === 'True') return status;
    await control(running, status);
    if (resyncAfterSeconds > 0) await new Promise((resolve) => setTimeout(resolve, Math.min(resyncAfterSeconds, 0.1) * 1000));
  }
  throw new Error(`no end after ${mostSteps} calls`);
}

/** Throws with what does not hold; says whether it was Committed. */
async function runPlan(stage: Stage, gadgets: Gadgets, plan: Plan, name: string): Promise<boolean> {
  await given(stage, gadgets, plan, name);
  const before = await stand({ stage, gadgets, plan, name });
  const changes = plan.changes.map((one, index) => gadgets.change(one.type, nameOf(name, index), gateFor(one), 2));
  const gate = plan.general === 'none' ? {} : { gate: plan.general === 'short' ? { timeout: '1s' } : {} };
  await stage.transaction(name, changes, { spec: gate });
  const running = { stage, gadgets, plan, name, before, seen: changes.map(() => ({ open: 0, reports: [] })) };
  const end = await toEnd(running);
  const wanted = isToFail(plan) ? 'RolledBack' : 'Committed';
  if (textAt(end, 'phase') !== wanted) throw new Error(`${textAt(end, 'phase')}, not ${wanted}: ${textAt(end, 'message')}`);
  const last = wanted === 'Committed' ? await undo(stage, name) : end;
  if (textAt(last, 'phase') !== 'RolledBack') throw new Error(`the undo ended as ${textAt(last, 'phase')}`);
  const after = await stand(running);
  if (!equalJson(after as readonly JsonObject[], before as readonly JsonObject[]))
    throw new Error(`not as before: ${JSON.stringify(after)} was ${JSON.stringify(before)}`);
  return wanted === 'Committed';
}

t.test('generated gates', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const gadgets = await serveGadgets(t, stage);
  const ends = { committed: 0, undone: 0 };
  t.jobs = lanes;
  const lane = (number: number): Promise<unknown> =>
    t.test(`lane ${number} of ${lanes}, JANUS_TEST_SEED=${seed}`, async (t) => {
      let made = 0;
      const property = fc.asyncProperty(plans, async (plan) => {
        made += 1;
        ends[(await runPlan(stage, gadgets, plan, `run-${number}-${made}`)) ? 'committed' : 'undone'] += 1;
      });
      const settings = { seed: seed + number, numRuns: runs / lanes, endOnFailure: replayed === undefined };
      const { failed, errorInstance, counterexample } = await fc.check(property, settings);
      t.notOk(failed, `${String(errorInstance ?? '')}\n${JSON.stringify(counterexample ?? '')}`);
    });
  await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)));
  t.ok(ends.committed > runs / 5 && ends.undone > runs / 5, `${ends.committed} were Committed, ${ends.undone} were undone`);
});
