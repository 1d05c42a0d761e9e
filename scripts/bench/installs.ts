// Measures the cost of installs of whole packages. `packages-growth` installs CRDs of 60 kB, and packages, each compared with kubectl. Each
// of these rows has a control plane of its own, because each further CRD costs the API server more. `packages-replace` measures a Replace of
// a family beside the install of the family. `packages-waiting` measures package transactions that wait for the Lock, and finished ones.
// `packages-deletions` measures an install while finished ones are deleted at once.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PackageWorld, startPackageWorld, type WorldOptions } from '../../test/support/package-world.ts';
import { createUndo, type Undo } from '../demo/undo.ts';
import type { Line } from './figures.ts';
import { behindFinished, besideDeletions, type PausableWorld, waitingForTheLock } from './idle-packages.ts';
import { byKubectl, madeIn } from './kubectl-floor.ts';
import { definitions, largeDefinition } from './large-crds.ts';
import { figuresOf, installed, installedTree, ratio } from './one-install.ts';
import type { Cost } from './package-requests.ts';
import { besideTheirInstalls } from './replaces.ts';
import { startFlags } from './world.ts';

/** Starts a control plane with its hook, which ends when that `undo` runs. */
type Start<World extends PackageWorld = PackageWorld> = (undo: Undo, more?: WorldOptions) => Promise<World>;

export async function measureInstalls(undo: Undo, row: string): Promise<readonly Line[]> {
  // Compiled as in the image. Otherwise the memory of the compiler, and of a heap without a limit, would be measured.
  const compiled = mkdtempSync(join(tmpdir(), 'janus-bench-compiled-'));
  undo.add(async () => rmSync(compiled, { recursive: true, force: true }));
  const start: Start = (own, more = {}) =>
    startPackageWorld(
      { teardown: (handler: () => unknown) => own.add(async () => void (await handler())) },
      { flags: startFlags, environment: { NODE_COMPILE_CACHE: compiled }, ...more },
    );
  switch (row) {
    case 'packages-growth':
      return growth(undo, start);
    case 'packages-replace':
      return inWorld(undo, start, besideTheirInstalls);
    case 'packages-deletions':
      return inWorld(undo, pausable(start), (world) =>
        besideDeletions(world, (name) => installed(world, name, definitions(`${name}.org`, 10))),
      );
    default:
      return inWorld(undo, pausable(start), async (world) => [
        await waitingForTheLock(world),
        ...(await behindFinished(world, (name) => installed(world, name, definitions(`${name}.org`, 1)))),
      ]);
  }
}

function pausable(start: Start): Start<PausableWorld> {
  return async (undo) => {
    const world = await start(undo, { isByHand: true });
    let loop = await world.startPackageLoop(world.address);
    const withoutCalls: PausableWorld['withoutCalls'] = async (work) => {
      await loop.stop();
      await work();
      loop = await world.startPackageLoop(world.address);
    };
    return { ...world, withoutCalls };
  };
}

/** Works on a control plane of its own, which ends afterwards. */
async function inWorld<Result, World extends PackageWorld>(
  undo: Undo,
  start: Start<World>,
  work: (world: World) => Promise<Result>,
): Promise<Result> {
  const own = createUndo();
  undo.add(() => own.run());
  try {
    const world = await start(own);
    // The first install is not measured, because it fills caches and compiles code.
    await installed(world, 'warm', [largeDefinition('warm.org', 0)]);
    return await work(world);
  } finally {
    await own.run();
  }
}

async function growth(undo: Undo, start: Start): Promise<readonly Line[]> {
  const beside = (what: string, count: number, install: (world: PackageWorld) => Promise<Cost>): Promise<readonly Line[]> =>
    besideKubectl(undo, start, { what, count, install });
  const lines: Line[] = [];
  for (const count of [10, 100, 400])
    lines.push(...(await beside('crds', count, (world) => installed(world, 'large', definitions('large.org', count)))));
  for (const count of [10, 50, 200]) lines.push(...(await beside('packages', count, (world) => installedTree(world, count))));
  return lines;
}

interface Grown {
  readonly what: string;
  readonly count: number;
  readonly install: (world: PackageWorld) => Promise<Cost>;
}

/** An install, and then kubectl for the objects of the install. */
async function besideKubectl(undo: Undo, start: Start, { what, count, install }: Grown): Promise<readonly Line[]> {
  const [cost, objects] = await inWorld(
    undo,
    start,
    async (world) => [await install(world), await madeIn(world, (group) => /^(large|of\d+)\.org$/.test(group))] as const,
  );
  const kubectl = await inWorld(undo, start, (world) => byKubectl(world, objects));
  return [
    { row: `install-${count}-${what}`, items: count, ...figuresOf(cost, count), ratioToLimit: ratio(cost.ms, kubectl) },
    { row: `kubectl-${count}-${what}`, items: objects.length, p50Ms: kubectl, eachMs: ratio(kubectl, count) },
  ];
}
