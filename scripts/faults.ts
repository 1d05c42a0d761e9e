// `npm run faults`: tries every crash point, lost answer and foreign write on a real API server and prints a line for each
// scenario; the last line is `N passed, N failed`. `--scenario S02` (or S02,S04) and `--story commit4` narrow it,
// `--every 10 --seed 3` tries every tenth case from the third on, `--replay S02:commit4:17:after` one case with all its calls.
import { parseArgs } from 'node:util';
import { campaign, type Failure } from '../test/faults/campaign.ts';
import type { Outcome, Scenario } from '../test/faults/case.ts';
import { scenarios } from '../test/faults/scenarios.ts';
import { openWorld } from '../test/faults/world.ts';

const { values } = parseArgs({
  options: {
    scenario: { type: 'string' },
    story: { type: 'string' },
    replay: { type: 'string' },
    every: { type: 'string', default: '1' },
    seed: { type: 'string', default: '0' },
    jobs: { type: 'string', default: '8' },
  },
});

// Interrupted, it finishes what it has begun and tells the figures so far.
let isInterrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (isInterrupted = true));

process.exitCode = await main();

async function main(): Promise<number> {
  const chosen = chosenScenarios();
  if (chosen.length === 0) {
    console.error(`No such scenario or story; there are ${scenarios.map(({ id }) => id).join(', ')}.`);
    return 1;
  }
  const world = await openWorld();
  try {
    let [passed, failed] = [0, 0];
    for (const scenario of chosen) {
      if (isInterrupted) break;
      const options = { select: isSelected, atOnce: Number(values.jobs), onFailure: tell, isOver: () => isInterrupted };
      const figures = await campaign(world, scenario, options);
      passed += figures.survived;
      failed += figures.tried - figures.survived;
      const count = figures.failures.reduce((sum, { violations }) => sum + violations.length, 0);
      console.log(
        `${scenario.id} ${scenario.what}: tried ${figures.tried} of ${figures.cases}, survived ${figures.survived}, violations ${count} (${figures.seconds.toFixed(0)} s)`,
      );
    }
    console.log(`${passed} passed, ${failed} failed`);
    return passed > 0 && failed === 0 && !isInterrupted ? 0 : 1;
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

function isSelected(id: string, index: number): boolean {
  if (values.replay !== undefined) return id === values.replay;
  return index % Number(values.every) === Number(values.seed) % Number(values.every);
}

function tell({ id, violations }: Failure, { evidence }: Outcome): void {
  console.log(`FAILED ${id}\n${violations.map((text) => `    ${text}`).join('\n')}`);
  console.log(`    again: npm run faults -- --replay ${id}`);
  if (values.replay === undefined) return;
  for (const { number, hookCall, what, outcome } of evidence?.portCalls ?? [])
    console.log(`    ${number} [call ${hookCall}] ${what}: ${outcome}`);
}
