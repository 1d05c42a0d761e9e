// `npm run faults`: tries every crash point, lost answer and foreign write on a real API server, and prints a line for each
// scenario; the last line is `N passed, N failed`. `--scenario S02` (or S02,S04) and `--story commit4` select some, `--every 10
// --seed 3` tries every tenth case from the third on, `--replay S02:commit4:17:after` tries one case and prints all its calls. With
// `--budget 0` each call of the hook handles one target instead of a window. S19 and S20 run real processes, which are killed,
// stopped and restarted: `--scenario S20:freeze`; with `--against DIR` (another checkout, set up by npm ci) every second process of
// S20:turns and S20:replicas runs that one's engine. `--packages` tries package transactions instead, and prints tried and survived for each
// boundary; each of `--jobs` cases at once has a control plane of its own: `--story update`, `--together`, `--every`, `--seed`,
// `--replay 'ID as it was printed'`.
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { campaign, type Failure } from '../test/faults/campaign.ts';
import type { Outcome, Scenario } from '../test/faults/case.ts';
import { packageCampaign, type Tally } from '../test/faults/packages/campaign.ts';
import { stories } from '../test/faults/packages/stories.ts';
import { processCampaign } from '../test/faults/processes/campaign.ts';
import type { ProcessScenario } from '../test/faults/processes/case.ts';
import { processScenarios } from '../test/faults/processes/scenarios.ts';
import { scenarios } from '../test/faults/scenarios.ts';
import { openWorld, type World } from '../test/faults/world.ts';
import { createUndo } from './demo/undo.ts';

const { values } = parseArgs({
  options: {
    scenario: { type: 'string' },
    story: { type: 'string' },
    replay: { type: 'string' },
    every: { type: 'string', default: '1' },
    seed: { type: 'string', default: '0' },
    jobs: { type: 'string', default: '8' },
    budget: { type: 'string' },
    against: { type: 'string' },
    packages: { type: 'boolean', default: false },
    together: { type: 'boolean', default: false },
  },
});

// When interrupted, it finishes the cases in progress and prints the results so far.
let isInterrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (isInterrupted = true));

const progressEvery = 60_000; // ms
let [counted, shownAt] = [0, performance.now()];

/** Prints now and then how many cases there were: whole scenarios take an hour. */
function count(): void {
  counted += 1;
  if (performance.now() - shownAt <= progressEvery) return;
  console.error(`${counted} cases so far`);
  shownAt = performance.now();
}

/** Checked before each case. */
function isOver(): boolean {
  if (!isInterrupted) count();
  return isInterrupted;
}

process.exitCode = values.packages ? await tryPackages() : await main();

interface Counted {
  readonly cases: number;
  readonly tried: number;
  readonly survived: number;
  readonly failures: readonly Failure[];
  readonly seconds: number;
}

async function main(): Promise<number> {
  const [chosen, withProcesses] = [chosenScenarios(), chosenProcessScenarios()];
  if (chosen.length + withProcesses.length === 0) {
    const ids = [...scenarios, ...processScenarios].map(({ id }) => id);
    console.error(`No such scenario or story; there are ${ids.join(', ')}.`);
    return 1;
  }
  const sums = { passed: 0, failed: 0 };
  const options = { select: isSelected, atOnce: Number(values.jobs), isOver };
  await inWorld(chosen, sums, (world, one) => campaign(world, one, { ...options, onFailure: printWithEvidence }));
  await inWorld(withProcesses, sums, (world, one) =>
    processCampaign(world, one, { ...options, onFailure: printFailure, onNote: printNote }),
  );
  console.log(`${sums.passed} passed, ${sums.failed} failed`);
  return sums.passed > 0 && sums.failed === 0 && !isInterrupted ? 0 : 1;
}

async function tryPackages(): Promise<number> {
  const wanted = values.replay?.split(':')[0] ?? values.story;
  const chosen = stories.filter(({ id }) => wanted === undefined || id === wanted);
  if (chosen.length === 0) {
    console.error(`No such story; there are ${stories.map(({ id }) => id).join(', ')}.`);
    return 1;
  }
  const undo = createUndo();
  try {
    const { together, jobs, every, seed } = values;
    const numbers = { isAtOnce: together, atOnce: Number(jobs), every: Number(every), seed: Number(seed) };
    const options = { stories: chosen, ...numbers, replay: values.replay, isOver: () => isInterrupted, onCase: printCase };
    return conclude(await packageCampaign({ teardown: (handler) => undo.add(async () => void (await handler())) }, options));
  } finally {
    await undo.run();
  }
}

function printCase(id: string, violations: readonly string[]): void {
  count();
  if (violations.length > 0) console.log(`FAILED ${id}\n${violations.map((text) => `    ${text}`).join('\n')}`);
}

function conclude(tallies: ReadonlyMap<string, Tally>): number {
  for (const [boundary, { tried, survived }] of tallies) console.log(`${boundary}: tried ${tried}, survived ${survived}`);
  const all = [...tallies.values()];
  const [tried, survived] = [all.reduce((sum, one) => sum + one.tried, 0), all.reduce((sum, one) => sum + one.survived, 0)];
  console.log(`${survived} passed, ${tried - survived} failed`);
  return tried > 0 && survived === tried && !isInterrupted ? 0 : 1;
}

async function inWorld<One extends { readonly id: string; readonly what: string }>(
  chosen: readonly One[],
  sums: { passed: number; failed: number },
  run: (world: World, one: One) => Promise<Counted>,
): Promise<void> {
  if (chosen.length === 0 || isInterrupted) return;
  const world = await openWorld({
    ...(values.budget === undefined ? {} : { callBudget: Number(values.budget) }),
    ...(values.against === undefined ? {} : { against: join(resolve(values.against), 'server', 'main.ts') }),
  });
  try {
    for (const one of chosen) {
      if (isInterrupted) break;
      const { cases, tried, survived, failures, seconds } = await run(world, one);
      sums.passed += survived;
      sums.failed += tried - survived;
      const count = failures.reduce((sum, { violations }) => sum + violations.length, 0);
      console.log(
        `${one.id} ${one.what}: tried ${tried} of ${cases}, survived ${survived}, violations ${count} (${seconds.toFixed(0)} s)`,
      );
    }
  } finally {
    await world.close();
  }
}

function chosenScenarios(): readonly Scenario[] {
  const [replayed, replayedStory] = values.replay?.split(':') ?? [];
  const ids = replayed === undefined ? values.scenario?.split(',') : [replayed];
  const story = replayedStory ?? values.story;
  return scenarios
    .filter(({ id }) => ids === undefined || ids.includes(id))
    .flatMap((scenario) => (story === undefined ? [scenario] : narrowed(scenario, story)));
}

function narrowed(scenario: Scenario, story: string): readonly Scenario[] {
  if ('stories' in scenario) {
    const stories = scenario.stories.filter(({ id }) => id === story);
    return stories.length === 0 ? [] : [{ ...scenario, stories }];
  }
  const cases = scenario.cases.filter(({ id }) => id.split(':')[1] === story);
  return cases.length === 0 ? [] : [{ ...scenario, cases }];
}

/** `--scenario S20` selects all scenarios whose names begin with S20. */
function chosenProcessScenarios(): readonly ProcessScenario[] {
  if (values.story !== undefined) return [];
  const wanted = values.replay === undefined ? values.scenario?.split(',') : [values.replay];
  return processScenarios.filter(
    ({ id }) => wanted === undefined || wanted.some((one) => id === one || id.startsWith(`${one}:`) || one.startsWith(`${id}:`)),
  );
}

function isSelected(id: string, index: number): boolean {
  if (values.replay !== undefined) return id === values.replay;
  return index % Number(values.every) === Number(values.seed) % Number(values.every);
}

function printNote(id: string, text: string): void {
  console.log(`    ${id}: ${text}`);
}

function printFailure({ id, violations }: Failure): void {
  console.log(`FAILED ${id}\n${violations.map((text) => `    ${text}`).join('\n')}`);
  console.log(`    again: npm run faults -- --replay ${id}`);
}

function printWithEvidence(failure: Failure, { evidence }: Outcome): void {
  printFailure(failure);
  if (values.replay === undefined) return;
  for (const { number, hookCall, what, outcome } of evidence?.portCalls ?? [])
    console.log(`    ${number} [call ${hookCall}] ${what}: ${outcome}`);
}
