// SIGSTOP freezes a hook at a write of a target. Another process finishes its Transaction, or undoes it. Then the first one wakes
// up, not before the lifetime of a write is over. Nothing that it still sends may take effect.
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../../support/client.ts';
import { askBack, commit4, requestRollback } from '../stories.ts';
import type { Story } from '../story.ts';
import type { World } from '../world.ts';
import type { ProcessCase } from './case.ts';
import { atRest, type Disturbance, runOnce } from './follow.ts';
import type { HookProcess } from './hook.ts';
import { addSeat, closeSite, openSite, type Site, seatOf } from './site.ts';
import type { Moment, Strike } from './switch.ts';

const frozenFor = 35_000;
const moments: readonly Moment[] = ['before', 'sent', 'after'];

interface Continuation {
  readonly id: string;
  readonly story: Story;
  readonly isAskedBack: boolean;
}

/** What the other process does meanwhile. */
const continuations: readonly Continuation[] = [
  { id: 'committed', story: commit4, isAskedBack: false },
  { id: 'undone', story: { ...requestRollback, events: [] }, isAskedBack: true },
];

export async function freezesOn({ world }: Site): Promise<readonly ProcessCase[]> {
  const writes = await withSite(world, targetWrites);
  return continuations.flatMap((continuation) =>
    writes.flatMap((at) => moments.map((moment) => frozen(continuation, { at, moment, signal: 'SIGSTOP' }))),
  );
}

async function withSite<Result>(world: World, work: (site: Site) => Promise<Result>): Promise<Result> {
  const site = await openSite(world, 1);
  try {
    return await work(site);
  } finally {
    await closeSite(site);
  }
}

/** The numbers of the requests of a commit that change a target: its last writes, one for each change. */
async function targetWrites(site: Site): Promise<readonly number[]> {
  const hook = await seatOf(site).serving;
  await hook.arm();
  const counted = Promise.withResolvers<readonly string[]>();
  await runOnce(site, commit4, async (run) => {
    await atRest(run);
    counted.resolve(await hook.requests());
  });
  const isWrite = (text: string): boolean =>
    /^(POST|PUT|PATCH|DELETE) \/api\/v1\/namespaces\//.test(text) && !text.includes('dryRun');
  const writes = (await counted.promise).flatMap((text, index) => (isWrite(text) ? [index + 1] : []));
  return writes.slice(-4);
}

function frozen(continuation: Continuation, strike: Strike): ProcessCase {
  return {
    id: `S20:freeze:${continuation.id}:${strike.at}:${strike.moment}`,
    run: ({ world }) => withSite(world, (site) => freeze(site, continuation, strike)),
  };
}

async function freeze(site: Site, { story, isAskedBack }: Continuation, strike: Strike): Promise<readonly string[]> {
  const hook = await seatOf(site).serving;
  await hook.arm(strike);
  const awake = { from: '', until: '' };
  const disturb: Disturbance = async (run) => {
    await waitFor(() => hook.isStopped(), 'the hook to be frozen', { timeoutMs: 240_000 });
    const over = sleep(frozenFor);
    if (isAskedBack) await askBack(site.world.controller, run.names);
    await addSeat(site);
    await Promise.all([atRest(run), over]);
    awake.from = new Date().toISOString();
    hook.signal('SIGCONT');
    await quiet(hook);
    awake.until = new Date().toISOString();
  };
  const { violations, events } = await runOnce(site, story, disturb);
  const late = events.filter(
    ({ actor, verb, code, received }) =>
      actor === 'account' && verb !== 'get' && code < 300 && received > awake.from && received < awake.until,
  );
  return [...violations, ...late.map(({ verb, key }) => `${verb} of ${key} landed after all was over`)];
}

/** The hook answers again, and sends nothing more. */
async function quiet(hook: HookProcess): Promise<void> {
  for (let [last, next] = [-1, 0]; last !== next; ) {
    [last, next] = [next, (await hook.requests()).length];
    await sleep(1_000);
  }
}
