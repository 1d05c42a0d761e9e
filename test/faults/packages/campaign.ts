// Every fault at every act of every story of package transactions: how many were tried, how many survived, by boundary.
import type { Teardown } from '../../support/client.ts';
import { type Act, boundaryOf, type Fault, type Plan } from '../../support/package-faults.ts';
import { clear, openSite, type Site, type Story, violationsOf } from './stories.ts';

export interface Tally {
  tried: number;
  survived: number;
}

interface Case {
  readonly story: Story;
  readonly fault: Fault;
  readonly act: Act;
}

interface CampaignOptions {
  readonly stories: readonly Story[];
  /** Both processes serve each call at once; otherwise they serve in turn. */
  readonly isAtOnce: boolean;
  /** Cases at once, each on a control plane of its own: there is one Lock in each. */
  readonly atOnce: number;
  /** Every how manieth case, from which one on. */
  readonly every: number;
  readonly seed: number;
  /** Only this case, as it was printed, such as `failing:67:dies after (Installing: get Transaction)`. */
  readonly replay?: string | undefined;
  readonly isOver: () => boolean;
  readonly onCase: (id: string, violations: readonly string[]) => void;
}

export async function packageCampaign(t: Teardown, options: CampaignOptions): Promise<ReadonlyMap<string, Tally>> {
  const open = (): Promise<Site> => openSite(t, { isAtOnce: options.isAtOnce, isInterrupted: options.isOver });
  const first = await open();
  const tallies = new Map<string, Tally>();
  const freeName = nameGiver();
  const chosen: Case[] = [];
  for (const story of options.stories) chosen.push(...casesOf(story, await actsOf(first, story, freeName())));
  const cases = selected(chosen, options);
  const queue = cases.values();
  const work = async (site: Site): Promise<void> => {
    for (const one of queue) {
      if (options.isOver()) return;
      await tried(site, { ...one, name: freeName() }, tallies, options);
    }
  };
  const others = Array.from({ length: Math.min(options.atOnce, cases.length) - 1 }, async () => work(await open()));
  await Promise.all([work(first), ...others]);
  return tallies;
}

function selected(all: readonly Case[], { every, seed, replay }: CampaignOptions): readonly Case[] {
  if (replay === undefined) return all.filter((_, index) => index % every === seed % every);
  const alike = all.filter((one) => withoutNumber(idOf(one)) === withoutNumber(replay));
  const distance = ({ act }: Case): number => Math.abs(act.number - Number(replay.split(':')[1]));
  return alike.toSorted((left, right) => distance(left) - distance(right)).slice(0, 1);
}

function idOf({ story, act, fault }: Case): string {
  return `${story.id}:${act.number}:${fault} (${act.phase}: ${act.what})`;
}

/** How often a story looks until something is so differs from time to time, and the numbers with it. */
function withoutNumber(id: string): string {
  return id.replace(/:\d+:/, ':');
}

function nameGiver(): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `p${count}`;
  };
}

/** Throws if the story does not end as it must without any fault. */
async function actsOf(site: Site, story: Story, name: string): Promise<readonly Act[]> {
  const violations = await violationsOf(site, story, name);
  if (violations.length > 0) throw new Error(`${story.id}, without a fault: ${violations.join('; ')}`);
  await clear(site, name);
  return [...site.driver.acts];
}

/**
 * A read changes nothing: a process that dies after a read leaves the same objects as a process that dies before the next write or
 * answer, and each call ends with an answer. So a read that fails is enough.
 */
const faultsOf: Readonly<Record<Act['kind'], readonly Fault[]>> = {
  write: ['dies before', 'dies after', 'dropped', '503', 'late', 'frozen'],
  read: ['503'],
  registry: ['dies before', 'dies after'],
  answer: ['dies before'],
};

/**
 * A registry that answers 503 makes a try fail, which is its right: its story is another one. Of reads that follow the same act in the
 * same phase, the first one counts: the code that made them is one place.
 */
function casesOf(story: Story, acts: readonly Act[]): readonly Case[] {
  const places = new Set<string>();
  const isRepeated = ({ kind, phase, what, number }: Act): boolean => {
    const place = `${phase}: ${acts[number - 1]?.what}, ${what}`;
    const isKnown = places.has(place);
    places.add(place);
    return kind === 'read' && isKnown;
  };
  return acts.filter((act) => !isRepeated(act)).flatMap((act) => faultsOf[act.kind].map((fault) => ({ story, fault, act })));
}

async function tried(
  site: Site,
  { name, ...one }: Case & { readonly name: string },
  tallies: Map<string, Tally>,
  { onCase, isOver }: CampaignOptions,
): Promise<void> {
  const { story, fault, act } = one;
  const violations = await violationsOf(site, story, name, once(act, fault)).catch((error: unknown) => [String(error)]);
  if (isOver()) return;
  const boundary = boundaryOf(act);
  const tally = tallies.get(boundary) ?? { tried: 0, survived: 0 };
  tally.tried += 1;
  if (violations.length === 0) tally.survived += 1;
  tallies.set(boundary, tally);
  if (violations.length === 0) await clear(site, name);
  onCase(idOf(one), violations);
}

/** The number of an act can move by what a watch brings: this act happens there. */
function once({ kind, what, phase, number }: Act, fault: Fault): Plan {
  let isDone = false;
  return (act) => {
    const isIt =
      !isDone &&
      act.number >= number &&
      act.kind === kind &&
      (act.what === what || act.number > number + 20) &&
      act.phase === phase;
    isDone ||= isIt;
    return isIt ? fault : undefined;
  };
}
