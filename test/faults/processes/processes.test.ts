// A part of what `npm run faults` tries with real processes, in every run of the suite: some requests at which the hook is killed,
// in a commit and in an undo; a hook that is frozen at the write of a Create while everything is undone; two hooks in parallel, and
// in turn.
import t from 'tap';
import { openWorld } from '../world.ts';
import { processCampaign } from './campaign.ts';
import { processScenarios } from './scenarios.ts';

/** This test tries every n-th case; `npm run faults` tries all. */
const shares: Readonly<Record<string, number>> = {
  'S20:kill': 211,
  'S20:random': 100,
  'S20:freeze': 24,
  'S20:replicas': 50,
  'S20:turns': 60,
};

const world = await openWorld();
t.teardown(() => world.close());
t.jobs = processScenarios.length;

await Promise.all(
  processScenarios
    .filter(({ id }) => id in shares)
    .map((scenario) =>
      t.test(`${scenario.id}: ${scenario.what}`, async (t) => {
        const share = shares[scenario.id] ?? 1;
        const select = (_: string, index: number): boolean => index % share === Math.floor(share / 2);
        const { tried, failures } = await processCampaign(world, scenario, { select, atOnce: 2 });
        t.not(tried, 0, 'there are cases');
        t.same(failures, [], `${tried} tried`);
      }),
    ),
);
