// Runs the cases of a scenario in parallel and counts the results.
import { attempt } from './attempt.ts';
import type { Calm, Case, Outcome, Scenario } from './case.ts';
import { violations } from './invariants.ts';
import type { Story } from './story.ts';
import type { World } from './world.ts';

export interface Failure {
  readonly id: string;
  readonly violations: readonly string[];
}

interface Figures {
  readonly scenario: Scenario;
  /** The number of all cases. */
  readonly cases: number;
  readonly tried: number;
  readonly survived: number;
  readonly failures: readonly Failure[];
  readonly seconds: number;
}

interface CampaignOptions {
  /** Selects cases; all by default. */
  readonly select?: (id: string, index: number) => boolean;
  readonly atOnce?: number;
  /** Once this is true, no further case starts; the results say how many were tried. */
  readonly isOver?: () => boolean;
  readonly onFailure?: (failure: Failure, outcome: Outcome) => void;
}

export async function campaign(world: World, scenario: Scenario, options: CampaignOptions = {}): Promise<Figures> {
  const start = performance.now();
  const cases = await casesOf(world, scenario);
  const chosen = cases.filter(({ id }, index) => options.select?.(id, index) ?? true);
  const failures: Failure[] = [];
  let tried = 0;
  await sideBySide(chosen, options.atOnce ?? 8, async (one) => {
    if (options.isOver?.() === true) return;
    tried += 1;
    const result = await one.attempt(world);
    if (result.violations.length === 0) return;
    const failure = { id: one.id, violations: result.violations };
    failures.push(failure);
    options.onFailure?.(failure, result);
  });
  const seconds = (performance.now() - start) / 1000;
  return { scenario, cases: cases.length, tried, survived: tried - failures.length, failures, seconds };
}

async function casesOf(world: World, scenario: Scenario): Promise<readonly Case[]> {
  if ('cases' in scenario) return scenario.cases;
  const cases: Case[] = [];
  for (const story of scenario.stories) {
    const counted = await calm(world, story);
    const failed = { id: `${scenario.id}:${story.id}`, attempt: async () => ({ violations: counted.violations }) };
    cases.push(...(counted.violations.length > 0 ? [failed] : scenario.casesOf(story, counted)));
  }
  return cases;
}

type Counted = Calm & Outcome;

const known = new WeakMap<World, Map<Story, Counted>>();

/** Counts the calls of a story. If the story breaks an invariant even without faults, that is its only case. */
async function calm(world: World, story: Story): Promise<Counted> {
  const counted = known.get(world) ?? new Map<Story, Counted>();
  known.set(world, counted);
  const earlier = counted.get(story);
  if (earlier !== undefined) return earlier;
  const result = await attempt(world, story, {}, violations);
  const counts = { calls: result.evidence.portCalls, hookCalls: result.hookCalls, violations: result.violations };
  counted.set(story, counts);
  return counts;
}

async function sideBySide<Item>(items: readonly Item[], atOnce: number, work: (item: Item) => Promise<void>): Promise<void> {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
