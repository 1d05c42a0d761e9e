// A part of `npm run faults` in every run of the suite: a share of the cases of each scenario, spread over all of its calls. Faults
// that the whole campaign has found stand here by name.
import t from 'tap';
import { everyNth, share } from '../support/selection.ts';
import { type Attempt, attempt } from './attempt.ts';
import { campaign } from './campaign.ts';
import type { Scenario } from './case.ts';
import { wrongAnswers } from './errors.ts';
import { violations } from './invariants.ts';
import type { Board, Fault } from './port.ts';
import { scenarios } from './scenarios.ts';
import { commit4, requestRollback } from './stories.ts';
import type { Story } from './story.ts';
import { openWorld, type World } from './world.ts';

/** `npm run test:all` tries every n-th case, `npm test` a quarter of them; `npm run faults` tries all. S21 has a file of its own: adversary.test.ts. */
const shares: Readonly<Record<string, number>> = {
  S01: 489,
  S02: 14409,
  S03: 14409,
  S04: 3681,
  S05: 24033,
  S06: 993,
  S07: 14409,
  S08: 9561,
  S09: 993,
  S10: 14409,
  S11: 7209,
  S12: 11961,
  S13: 285,
  S14: 189,
  S15: 19209,
  S16: 141,
  S17: 1197,
  S22: 4809,
  S25: 277,
};

const world = await openWorld();
t.teardown(() => world.close());

for (const scenario of scenarios) {
  const every = (shares[scenario.id] ?? 0) * share(10, 1);
  if (every === 0) continue;
  t.test(`${scenario.id}: ${scenario.what}`, async (t) => {
    const { tried, failures } = await campaign(world, shortened(scenario), {
      select: (_, index) => index % every === 0,
      atOnce: 4,
    });
    t.not(tried, 0, 'there are cases');
    t.same(failures, [], `${tried} tried`);
  });
}

/** Before its cases, a campaign runs each story without faults, which takes most of the time of a few cases. */
function shortened(scenario: Scenario): Scenario {
  return 'stories' in scenario ? { ...scenario, stories: everyNth(3, scenario.stories) } : scenario;
}

t.test('the first try of a Create lands late: it does not come back once it is undone', async (t) => {
  const calm = await attempt(world, requestRollback, {}, violations);
  const number = calm.evidence.portCalls.findIndex(({ what }) => what === `send create ConfigMap ${calm.run.names.a}`) + 1;
  for (const crash of [false, true]) {
    const faults = new Map<number, Fault>([[number, { kind: 'late', calls: 10_000, crash }]]);
    const { violations: found, evidence } = await attempt(world, requestRollback, { faults });
    t.match(evidence.portCalls[number - 1], { what: /^send create ConfigMap run\d+-a$/ });
    t.same(found, [], crash ? 'its process has died' : 'only the answer was lost');
  }
});

/** Runs the story with one wrong answer, at a call that is identified by the calls before it. */
async function withAnswer(world: World, story: Story, id: string, isThere: (board: Board) => boolean): Promise<Attempt> {
  const failure = wrongAnswers.find((one) => one.id === id)?.failure;
  if (failure === undefined) throw new Error(`no wrong answer ${id}`);
  const calm = await attempt(world, story, {}, violations);
  const calls = calm.evidence.portCalls;
  const number = calls.findIndex((_, index) => isThere({ ...calm.run.board, calls: calls.slice(0, index + 1) })) + 1;
  return attempt(world, story, { faults: new Map([[number, { kind: 'fails', failure }]]) }, () => []);
}

t.test('a kind that is no longer served once locks are taken: nothing is changed, and no lock is left', async (t) => {
  const afterLocks = ({ calls }: Board): boolean =>
    calls.at(-1)?.method === 'resource' && calls.some(({ what }) => what.startsWith('send create Lease'));
  const { evidence } = await withAnswer(world, commit4, '404', afterLocks);
  t.match([...evidence.ends.values()], [{ phase: 'Failed', message: /serves no kind ConfigMap/ }]);
  t.same(evidence.leftovers, []);
  t.same(
    evidence.events.filter(({ actor, verb }) => actor === 'account' && verb !== 'get'),
    [],
  );
});
