// The control plane fails in the middle of eight concurrent Transactions, half of which are undone: a component ends and comes
// back, connections are reset, etcd is restored to an older state.
import { cpSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { at } from '../../../hooks/objects/json.ts';
import type { Component } from '../../controlplane/start.ts';
import type { Evidence } from '../evidence.ts';
import { read, targets } from '../run.ts';
import { commit4, requestRollback } from '../stories.ts';
import type { World } from '../world.ts';
import type { ProcessCase } from './case.ts';
import { atRest, chance, conclude, create, type Followed, prepare } from './follow.ts';
import { openRelay } from './relay.ts';
import { addSeat, closeSite, openSite, type Site, stopLoops } from './site.ts';

const stories = [commit4, requestRollback, commit4, requestRollback, commit4, requestRollback, commit4, requestRollback];
const moments = 4;
/** ms in which eight Transactions end here. */
const duration = 3_000;

const restarts: readonly (readonly [Component, NodeJS.Signals])[] = [
  ['kube-apiserver', 'SIGKILL'],
  ['kube-apiserver', 'SIGTERM'],
  ['etcd', 'SIGKILL'],
  ['kube-controller-manager', 'SIGKILL'],
];

export async function outagesOn(_: Site): Promise<readonly ProcessCase[]> {
  const seeds = Array.from({ length: moments }, (_, seed) => seed);
  return [
    ...restarts.flatMap(([component, signal]) => seeds.map((seed) => restarted(component, signal, seed))),
    ...seeds.map(reset),
    ...seeds.map(putBack),
  ];
}

function restarted(component: Component, signal: NodeJS.Signals, seed: number): ProcessCase {
  return {
    id: `S19:${component}:${signal}:${seed}`,
    run: async ({ world }) => {
      const site = await openSite(world, 1);
      try {
        return await tellAll(site, async () => {
          await sleep(momentOf(seed));
          await world.plane.restart(component, signal);
        });
      } finally {
        await closeSite(site);
      }
    },
  };
}

function momentOf(seed: number): number {
  return ((seed + chance(seed)) / moments) * duration;
}

interface Lived {
  readonly run: Followed;
  readonly before: Evidence['before'];
}

/** All have begun before anything goes wrong. */
async function begin(site: Site): Promise<readonly Lived[]> {
  const lives: Lived[] = [];
  for (const story of stories) {
    const run = await prepare(site, story);
    lives.push({ run, before: await targets(run) });
  }
  for (const { run } of lives) await create(run);
  return lives;
}

async function tellAll(site: Site, disturb: () => Promise<unknown>): Promise<readonly string[]> {
  const lives = await begin(site);
  const ended = lives.map(({ run }) => troubleOf(atRest(run)));
  await disturb();
  const troubles = await Promise.all(ended);
  const tales = await Promise.all(lives.map(({ run, before }) => conclude(run, before, [])));
  return [...troubles.flat(), ...tales.flatMap(({ violations }) => violations)];
}

function troubleOf(work: Promise<unknown>): Promise<readonly string[]> {
  return work.then(
    () => [],
    (error: unknown) => [String(error)],
  );
}

/** Every connection of the hook is reset, ten times. */
function reset(seed: number): ProcessCase {
  return {
    id: `S19:resets:${seed}`,
    run: async ({ world }) => {
      const relay = await openRelay(world);
      const site = await openSite(world, 1, relay.kubeconfig);
      try {
        return await tellAll(site, async () => {
          for (let time = 0; time < 10; time += 1) {
            await sleep(chance(seed * 10 + time) * 500);
            relay.reset();
          }
        });
      } finally {
        await closeSite(site);
        relay.close();
      }
    },
  };
}

/**
 * When all is over, etcd is restored to a moment in the middle: everything in the cluster is as it was then, only the hook
 * remembers more. As Kubernetes requires after a restore, every process with a cache of the API server's objects restarts.
 */
function putBack(seed: number): ProcessCase {
  return {
    id: `S19:etcd-put-back:${seed}`,
    run: async ({ world }) => {
      const site = await openSite(world, 1);
      try {
        return await live(site, seed);
      } finally {
        await closeSite(site);
      }
    },
  };
}

async function live(site: Site, seed: number): Promise<readonly string[]> {
  const { world } = site;
  const lives = await begin(site);
  const ended = Promise.all(lives.map(({ run }) => atRest(run)));
  await sleep(momentOf(seed));
  const kept = await keepState(world, seed);
  await ended;
  await stopLoops(site);
  await restoreState(world, kept);
  for (const { run } of lives) await forget(run);
  await addSeat(site);
  const troubles = await Promise.all(lives.map(({ run }) => troubleOf(atRest(run))));
  const tales = await Promise.all(lives.map(({ run, before }) => conclude(run, before, [])));
  return [...troubles.flat(), ...tales.flatMap(({ violations }) => violations.filter(isOfObjects))];
}

/** Events after the restored moment must happen again; requests from before it still exist. */
async function forget(run: Followed): Promise<void> {
  const annotations = at(await read(run, run.names.run), 'metadata', 'annotations');
  if (at(annotations, 'tx.janus.io/request-rollback') === undefined) run.happened.clear();
}

// The audit log shows both pasts: versions fall in it, and what was done before the restore is done again.
function isOfObjects(violation: string): boolean {
  return /^I(1|10|12|14|15) /.test(violation);
}

async function keepState({ plane, kubeconfig }: World, seed: number): Promise<string> {
  const [data, copy] = [join(dirname(kubeconfig), 'etcd'), join(dirname(kubeconfig), `etcd-${seed}`)];
  await plane.halt('etcd');
  cpSync(data, copy, { recursive: true });
  await plane.restart('etcd');
  return copy;
}

async function restoreState({ plane, kubeconfig }: World, copy: string): Promise<void> {
  const data = join(dirname(kubeconfig), 'etcd');
  await plane.halt('kube-controller-manager');
  await plane.halt('kube-apiserver');
  await plane.halt('etcd');
  renameSync(data, `${copy}-after`);
  renameSync(copy, data);
  // The two start in parallel: each is ready only with the other.
  await Promise.all([plane.restart('etcd'), plane.restart('kube-apiserver')]);
  await plane.restart('kube-controller-manager');
}
