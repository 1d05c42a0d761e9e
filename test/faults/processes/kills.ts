// The hook's process dies at every request of a commit, of one with gates, and of an undo: before the request is sent, once the system has it, and once
// the API server has answered. Another process goes on, called by Metacontroller's loop.
import { gatedCommit } from '../gates.ts';
import { askBack, commit4, isFinished, requestRollback } from '../stories.ts';
import type { Story } from '../story.ts';
import type { ProcessCase } from './case.ts';
import { runOnce } from './follow.ts';
import { type Site, seatOf } from './site.ts';
import type { Moment, Strike } from './switch.ts';

const moments: readonly Moment[] = ['before', 'sent', 'after'];

interface Stretch {
  readonly id: string;
  /** Runs the stretch on the site; calls `arm` where its requests begin. */
  readonly run: (site: Site, arm: () => Promise<unknown>) => Promise<readonly string[]>;
}

const stretches: readonly Stretch[] = [
  {
    id: 'commit',
    run: async (site, arm) => {
      await arm();
      return (await runOnce(site, commit4)).violations;
    },
  },
  {
    id: 'gated',
    run: async (site, arm) => {
      await arm();
      return (await runOnce(site, gatedCommit)).violations;
    },
  },
  { id: 'undo', run: async (site, arm) => (await runOnce(site, askedBackOnce(arm))).violations },
];

function askedBackOnce(arm: () => Promise<unknown>): Story {
  const act: Story['events'][number]['act'] = async ({ controller }, names) => {
    await arm();
    await askBack(controller, names);
  };
  return { ...requestRollback, events: [{ when: isFinished('Committed'), act }] };
}

export async function killsOn(site: Site): Promise<readonly ProcessCase[]> {
  const cases: ProcessCase[] = [];
  for (const stretch of stretches) {
    const count = await requestsOf(stretch, site);
    for (let at = 1; at <= count; at += 1)
      cases.push(...moments.map((moment) => killed(stretch, { at, moment, signal: 'SIGKILL' })));
  }
  return cases;
}

/** The number of requests of a run without faults; its deletion at the end comes after all of them. */
async function requestsOf({ id, run }: Stretch, site: Site): Promise<number> {
  const hook = await seatOf(site).serving;
  const found = await run(site, () => hook.arm());
  if (found.length > 0) throw new Error(`${id} does not even hold without faults:\n${found.join('\n')}`);
  return (await hook.requests()).length;
}

function killed({ id, run }: Stretch, strike: Strike & { readonly at: number }): ProcessCase {
  return {
    id: `S20:kill:${id}:${strike.at}:${strike.moment}`,
    run: async (site) => {
      const seat = seatOf(site);
      const { deaths } = seat;
      const hook = await seat.serving;
      const found = await run(site, () => hook.arm(strike));
      if (seat.deaths > deaths) return found;
      const made = (await hook.requests()).length;
      await hook.arm();
      // A process that polls once a second polls less often if it is faster than when the requests were counted.
      if (made > 0 && made < strike.at) return found;
      return [...found, `no request ${strike.at} came: no process died`];
    },
  };
}
