// The hook's process ends at a random moment: by SIGKILL, or by SIGTERM, which lets it finish its current step.
import { setTimeout as sleep } from 'node:timers/promises';
import { commit4, requestRollback } from '../stories.ts';
import type { ProcessCase } from './case.ts';
import { chance, runOnce } from './follow.ts';
import { refusedLast } from './refused.ts';
import { type Site, seatOf } from './site.ts';

const stories = [commit4, refusedLast, requestRollback];
const runs = 100;

/** Both signals at the same moments, spread over the duration of a run without faults. */
export async function randomEndsOn(site: Site): Promise<readonly ProcessCase[]> {
  const start = performance.now();
  for (const story of stories) {
    const { violations } = await runOnce(site, story);
    if (violations.length > 0) throw new Error(`${story.id} does not even hold without faults:\n${violations.join('\n')}`);
  }
  const duration = (performance.now() - start) / stories.length;
  return Array.from({ length: runs }, (_, seed) => seed).flatMap((seed) =>
    (['SIGKILL', 'SIGTERM'] as const).map((signal) => endedAt(seed, signal, duration)),
  );
}

function endedAt(seed: number, signal: NodeJS.Signals, duration: number): ProcessCase {
  const story = stories[seed % stories.length] ?? commit4;
  return {
    id: `S20:random:${seed}:${signal}`,
    run: async (site) => {
      const { violations } = await runOnce(site, story, async () => {
        const hook = await seatOf(site).serving;
        await sleep(chance(seed) * duration);
        hook.signal(signal);
      });
      return violations;
    },
  };
}
