// A part of `npm run faults -- --scenario S21` in every run of the suite: a share of the cases, spread over all deeds and moments,
// and the cases that a mistake would break first.
import t from 'tap';
import { share } from '../support/selection.ts';
import { campaign } from './campaign.ts';
import { scenarios } from './scenarios.ts';
import { openWorld } from './world.ts';

const every = share(12, 1) * 797;

/** Forgeries before the engine knows anything, deeds that do not show in the status, and marks during the deletion. */
const telling: readonly RegExp[] = [
  /^S21:request-rollback:(post-(prior|phantom-delete|role-binding)-as-first):always$/,
  /^S21:in-the-clear:(post-tagged-instead|copy-renumbered|copy-last-character|tag-none)-after-crash:crash\+1$/,
  /^S21:commit4:marks-(finalizer|annotations|of-the-gone|and-name):always$/,
];

const world = await openWorld();
t.teardown(() => world.close());

for (const scenario of scenarios.filter(({ id }) => id === 'S21'))
  t.test(`${scenario.id}: ${scenario.what}`, async (t) => {
    const isTelling = (id: string): boolean => telling.some((pattern) => pattern.test(id));
    const select = (id: string, index: number): boolean => index % every === 0 || isTelling(id);
    const { tried, failures } = await campaign(world, scenario, { select, atOnce: 4 });
    t.ok(tried > telling.length, 'there are cases');
    t.same(failures, [], `${tried} tried`);
  });
