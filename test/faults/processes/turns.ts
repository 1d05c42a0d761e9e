// Replicas behind one address: each call of one loop goes to another hook. And sixty concurrent Transactions, of which a third
// commits, a third fails and a third is undone, while the hooks are ended every few seconds, one after the other.
import { setTimeout as sleep } from 'node:timers/promises';
import { gatedCommit, gateFails } from '../gates.ts';
import { targets } from '../run.ts';
import { commit4, contention, deleteMidCommit, failAt3, requestRollback } from '../stories.ts';
import type { Story } from '../story.ts';
import type { World } from '../world.ts';
import type { Note, ProcessCase } from './case.ts';
import { atRest, chance, conclude, create, type Disturbance, type Followed, prepare, runOnce } from './follow.ts';
import { armedAtThird, deletedAtThird, deleteInWindow, failInWindow } from './mid-window.ts';
import { refusedLast } from './refused.ts';
import { closeSite, openTurns, type Site, seatOf } from './site.ts';

interface Told {
  readonly story: Story;
  /** JANUS_CALL_BUDGET; the default without it. */
  readonly callBudget?: string;
  readonly first?: Disturbance;
  readonly disturb?: Disturbance;
}

const inWindows: readonly Told[] = [
  ...[commit4, refusedLast, requestRollback, contention, gatedCommit, gateFails, failInWindow].map((story) => ({ story })),
  { story: deleteInWindow, first: armedAtThird, disturb: deletedAtThird },
];
/** Events in the middle of these are stored only if each call handles one target. */
const oneByOne: readonly Told[] = [failAt3, deleteMidCommit].map((story) => ({ story, callBudget: '0' }));
const rounds = 6;

export async function turnsOn(_: Site): Promise<readonly ProcessCase[]> {
  return [2, 3].flatMap((hooks) =>
    [...inWindows, ...oneByOne].flatMap(({ story, callBudget, disturb, first }) =>
      Array.from({ length: rounds }, (_, seed): ProcessCase => {
        const isRandom = seed % 2 === 1;
        return {
          id: `S20:turns:${hooks}:${story.id}:${seed}${isRandom ? ':random' : ''}`,
          run: ({ world }) =>
            withTurns(
              world,
              { hooks, seed: isRandom ? seed : undefined, callBudget },
              async (site) => (await runOnce(site, story, disturb, first)).violations,
            ),
        };
      }),
    ),
  );
}

interface Turns {
  readonly hooks: number;
  /** Selects the hooks at random with this seed; in turn without it. */
  readonly seed: number | undefined;
  /** The default without it. */
  readonly callBudget?: string | undefined;
}

async function withTurns<Result>(
  world: World,
  { hooks, seed, callBudget }: Turns,
  work: (site: Site) => Promise<Result>,
): Promise<Result> {
  const pick =
    seed === undefined ? undefined : (count: number, number: number) => Math.floor(chance(seed * 1_000 + number) * count);
  const site = await openTurns(world, { hooks, callBudget, pick });
  try {
    return await work(site);
  } finally {
    await closeSite(site);
  }
}

const transactions = 60;
/** ms. */
const between = 4_000;
/** ms. All are followed at once: looks at the pace of a single one take the machine from the hooks. */
const betweenLooks = 2_000;

export async function restartsOn(_: Site): Promise<readonly ProcessCase[]> {
  return (['SIGTERM', 'SIGKILL'] as const).map((signal) => ({
    id: `S20:restarts:${signal}`,
    run: ({ world }, note) => withTurns(world, { hooks: 2, seed: 7 }, (site) => restarted(site, signal, note)),
  }));
}

const mixed = [commit4, refusedLast, requestRollback] as const;

async function restarted(site: Site, signal: NodeJS.Signals, note: Note): Promise<readonly string[]> {
  const lives: { readonly run: Followed; readonly before: Awaited<ReturnType<typeof targets>> }[] = [];
  for (let which = 0; which < transactions; which += 1) {
    const run = await prepare(site, mixed[which % mixed.length] ?? commit4);
    lives.push({ run, before: await targets(run) });
  }
  const over = new AbortController();
  const restarting = restartInTurn(site, signal, over.signal);
  const begun = performance.now();
  const times: number[] = [];
  const ends = lives.map(async ({ run }) => {
    await create(run);
    await atRest(run, betweenLooks);
    times.push(performance.now() - begun);
  });
  const troubles = (await Promise.allSettled(ends)).flatMap((end) => (end.status === 'rejected' ? [String(end.reason)] : []));
  over.abort();
  const restarts = await restarting;
  note(
    `${transactions} Transactions, ${restarts} restarts by ${signal}; the slowest took ${(Math.max(...times) / 1_000).toFixed(1)} s`,
  );
  const tales = await Promise.all(lives.map(({ run, before }) => conclude(run, before, [])));
  return [...troubles, ...tales.flatMap(({ violations }) => violations)];
}

async function restartInTurn(site: Site, signal: NodeJS.Signals, over: AbortSignal): Promise<number> {
  for (let count = 0; ; count += 1) {
    await sleep(between, undefined, { signal: over }).catch(() => undefined);
    if (over.aborted) return count;
    const hook = await seatOf(site, count % 2).serving;
    hook.signal(signal);
    await hook.gone;
  }
}
