// Runs the cases of a scenario with real processes, on several sites in parallel, and counts the results.
import type { Failure } from '../campaign.ts';
import type { World } from '../world.ts';
import type { ProcessCase, ProcessScenario } from './case.ts';
import { closeSite, openSite, type Site } from './site.ts';

interface ProcessFigures {
  readonly cases: number;
  readonly tried: number;
  readonly survived: number;
  readonly failures: readonly Failure[];
  readonly seconds: number;
}

interface ProcessOptions {
  readonly select?: (id: string, index: number) => boolean;
  readonly atOnce?: number;
  readonly isOver?: () => boolean;
  readonly onFailure?: (failure: Failure) => void;
  readonly onNote?: (id: string, text: string) => void;
}

export async function processCampaign(
  world: World,
  scenario: ProcessScenario,
  options: ProcessOptions = {},
): Promise<ProcessFigures> {
  const start = performance.now();
  const sites: Site[] = [];
  try {
    const first = await openSite(world, scenario.hooks);
    sites.push(first);
    const all = await scenario.casesOn(first);
    const chosen = all.filter(({ id }, index) => options.select?.(id, index) ?? true);
    const count = Math.min(options.atOnce ?? scenario.mostAtOnce, scenario.mostAtOnce, chosen.length);
    while (sites.length < count) sites.push(await openSite(world, scenario.hooks));
    const { failures, tried } = await tryAll(sites, chosen, options);
    const seconds = (performance.now() - start) / 1000;
    return { cases: all.length, tried, survived: tried - failures.length, failures, seconds };
  } finally {
    await Promise.all(sites.map(closeSite));
  }
}

async function tryAll(sites: readonly Site[], cases: readonly ProcessCase[], options: ProcessOptions) {
  const waiting = [...cases];
  const failures: Failure[] = [];
  let tried = 0;
  const work = async (site: Site): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      if (options.isOver?.() === true) return;
      tried += 1;
      const note = (text: string): void => options.onNote?.(next.id, text);
      const violations = await next.run(site, note).catch((error: unknown) => [`it threw: ${String(error)}`]);
      if (violations.length === 0) continue;
      const failure = { id: next.id, violations };
      failures.push(failure);
      options.onFailure?.(failure);
    }
  };
  await Promise.all(sites.map(work));
  return { failures, tried };
}
