// Two hooks and two loops in parallel over common Transactions, each loop with its own hook; in some runs one hook dies.
import { setTimeout as sleep } from 'node:timers/promises';
import { commit4, contention, requestRollback } from '../stories.ts';
import type { ProcessCase } from './case.ts';
import { chance, runOnce } from './follow.ts';
import { refusedLast } from './refused.ts';
import { type Site, seatOf } from './site.ts';

const stories = [commit4, refusedLast, requestRollback, contention];
const runs = 50;
const duration = 2_000;

export async function replicasOn(_: Site): Promise<readonly ProcessCase[]> {
  return Array.from({ length: runs }, (_, seed) => seed).map((seed) => {
    const story = stories[seed % stories.length] ?? commit4;
    const isKilled = seed % 4 === 3;
    const run = async (site: Site): Promise<readonly string[]> => {
      const { violations } = await runOnce(site, story, async () => (isKilled ? killLater(site, seed) : undefined));
      return violations;
    };
    return { id: `S20:replicas:${seed}:${story.id}${isKilled ? ':killed' : ''}`, run };
  });
}

async function killLater(site: Site, seed: number): Promise<void> {
  const hook = await seatOf(site, seed % 2).serving;
  await sleep(chance(seed) * duration);
  hook.signal('SIGKILL');
}
