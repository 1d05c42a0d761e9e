// Measures several replicas; each call goes to the next replica. It measures an undo with one, two and three replicas. It measures how
// long an undo waits after a process was killed with a request in flight: not at all if the request names a version, the late window for
// a Create. It also measures how many of 100 concurrent Transactions one and two replicas commit per second.
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must } from '../../test/support/client.ts';
import { hookToken } from '../../test/support/hook-token.ts';
import { startInTurn } from '../../test/support/in-turn.ts';
import { type LoopKind, startLoop } from '../../test/support/metacontroller/loop.ts';
import { type RunningHook, startHook } from '../demo/hook.ts';
import type { Undo } from '../demo/undo.ts';
import { meterOf, together } from './child.ts';
import { type Figures, type Line, lineOf as measured } from './figures.ts';
import { measure, transactions } from './measure.ts';
import { percentile } from './ratios.ts';
import type { Row } from './rows.ts';
import { account, loopLabel, namespace, type World } from './world.ts';

const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;
const changes = 10;
const rounds = 5;

type Kind = 'Patch' | 'Create';

export async function measureReplicas(world: World, undo: Undo): Promise<readonly Line[]> {
  const lines: Line[] = [];
  for (const replicas of [1, 2, 3]) {
    const site = await openSite(world, undo, replicas);
    for (const kind of ['Patch', 'Create'] as const) lines.push(await undone(world, site, kind));
  }
  const site = await openSite(world, undo, 2);
  for (const kind of ['Patch', 'Create'] as const) lines.push(await afterKill(world, site, undo, kind));
  return lines;
}

const many: Row = { name: '', changes: 3, transactions: 100, concurrency: 100, hook: 'janus', flags: 'tuned' };
const manyRounds = 3;

/** One replica, then two in turn; the first round of each is a warm-up. */
export async function measureManyByReplicas(world: World, undo: Undo): Promise<readonly Line[]> {
  const sites = [await openSite(world, undo, 1), await openSite(world, undo, 2)];
  const all = sites.map((): Figures[] => []);
  for (let round = 0; round <= manyRounds; round += 1)
    for (const [index, site] of sites.entries()) all[index]?.push(await manyBy(world, site, round));
  return all.flatMap((rounds) => rounds.slice(1).map(measured));
}

async function manyBy(world: World, { label, hooks, loop }: Replicas, round: number): Promise<Figures> {
  const meter = together(hooks.map(({ process }) => meterOf(process)));
  const engine = { meter, loop, label, address: '' };
  const row = { ...many, name: `many-by-${hooks.length}-${round}` };
  const [figures] = await measure({ ...world, engine: async () => engine }, row);
  return figures as Figures;
}

interface Replicas {
  readonly label: string;
  readonly hooks: RunningHook[];
  readonly loop: LoopKind;
}

let count = 0;

async function openSite(world: World, undo: Undo, replicas: number): Promise<Replicas> {
  count += 1;
  const label = `replicas-${count}`;
  const hooks: RunningHook[] = [];
  for (let number = 0; number < replicas; number += 1) hooks.push(await startHook(world.client, world.kubeconfig, undo));
  const turns = await startInTurn(() => hooks.map(({ address }) => address));
  undo.add(() => turns.close());
  const loop = await startLoop({
    kubeconfig: world.kubeconfig,
    hookUrl: turns.address,
    token: hookToken,
    name: label,
    matchLabels: { [loopLabel]: label },
  });
  undo.add(() => loop.stop());
  return { label, hooks, loop: loop.kind };
}

async function undone(world: World, { label, hooks, loop }: Replicas, kind: Kind): Promise<Line> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { path, uid } = await begin(world, label, `${label}-${kind.toLowerCase()}-${round}`, kind);
    await world.followed.when(uid, 'Finished');
    times.push(await undoOf(world, path, uid));
  }
  return lineOf(`undo-${kind}-${hooks.length}`, loop, times);
}

async function undoOf(world: World, path: string, uid: string): Promise<number> {
  const sent = performance.now();
  must(await world.client.patch(path, { metadata: { annotations: { 'tx.janus.io/request-rollback': 'bench' } } }));
  return (await world.followed.when(uid, 'RolledBack')) - sent;
}

/** Kills both hooks in the middle of the changes. A third hook undoes the changes. */
async function afterKill(world: World, site: Replicas, undo: Undo, kind: Kind): Promise<Line> {
  const { path, uid } = await begin(world, site.label, `${site.label}-killed-${kind.toLowerCase()}`, kind);
  await world.followed.when(uid, 'Prepared');
  const killed = site.hooks.splice(0);
  for (const { process } of killed) process.kill('SIGKILL');
  must(await world.client.patch(path, { metadata: { annotations: { 'tx.janus.io/request-rollback': 'bench' } } }));
  const killedAt = performance.now();
  site.hooks.push(await startHook(world.client, world.kubeconfig, undo), await startHook(world.client, world.kubeconfig, undo));
  const took = (await world.followed.when(uid, 'RolledBack')) - killedAt;
  return lineOf(`undo-${kind}-killed`, site.loop, [took]);
}

async function begin(
  world: World,
  label: string,
  name: string,
  kind: Kind,
): Promise<{ readonly path: string; readonly uid: string }> {
  const names = Array.from({ length: changes }, (_, index) => `${name}-${index}`);
  if (kind === 'Patch')
    for (const one of names) must(await world.client.create(configMaps, { metadata: { name: one }, data: { version: '1' } }));
  const object: JsonObject = {
    apiVersion: 'tx.janus.io/v1alpha1',
    kind: 'Transaction',
    metadata: { name, labels: { [loopLabel]: label } },
    spec: {
      serviceAccountName: account,
      changes: names.map((one) => ({
        type: kind,
        target: { apiVersion: 'v1', kind: 'ConfigMap', name: one },
        content: { data: { version: '2' } },
      })),
    },
  };
  return {
    path: `${transactions}/${name}`,
    uid: textAt(must(await world.client.create(transactions, object)), 'metadata', 'uid') ?? '',
  };
}

function lineOf(row: string, loop: LoopKind, times: readonly number[]): Line {
  const figures = { p50Ms: Math.round(percentile(times, 0.5)), p99Ms: Math.round(percentile(times, 0.99)) };
  return { row, loop, hook: 'janus', items: changes, transactions: times.length, concurrency: 1, ...figures };
}
