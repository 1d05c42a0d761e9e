// What it costs to install packages whole. `packages`: a provider of 100 CRDs of 60 kB, beside Transactions of the engine that make as
// many in `content`, twenty in each, and beside `kubectl apply --server-side` of one file. `packages-growth`: more CRDs, and more packages.
// `packages-waiting`: what package transactions cost that wait for the Lock, and finished ones. `packages-memory`: what the hook takes for
// the same CRDs without packages and with them, and while it reads a package of 60 MiB.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../hooks/model/json.ts';
import { textAt } from '../../hooks/model/json.ts';
import { must, waitFor } from '../../test/support/client.ts';
import { type } from '../../test/support/kubectl.ts';
import { stagesPath } from '../../test/support/package-paths.ts';
import { conditionIn, type PackageWorld, startPackageWorld } from '../../test/support/package-world.ts';
import { definitionOf } from '../../test/support/registry/builder.ts';
import type { Undo } from '../demo/undo.ts';
import type { Line } from './figures.ts';
import { behindFinished, waitingForTheLock } from './idle-packages.ts';
import { crdBytes, definitions, largeDefinition } from './large-crds.ts';
import { type Cost, counterOf } from './package-requests.ts';
import { startFlags } from './world.ts';

const perTransaction = 20;

export async function measureInstalls(undo: Undo, row: string): Promise<readonly Line[]> {
  const t = { teardown: (handler: () => unknown) => undo.add(async () => void (await handler())) };
  // As in the image: else the memory is that of the compiler, and of a heap without a bound.
  const compiled = mkdtempSync(join(tmpdir(), 'janus-bench-compiled-'));
  undo.add(async () => rmSync(compiled, { recursive: true, force: true }));
  const start = (environment: object = {}, more: object = {}): Promise<PackageWorld> =>
    startPackageWorld(t, { flags: startFlags, environment: { NODE_COMPILE_CACHE: compiled, ...environment }, ...more });
  if (row === 'packages-memory') {
    const without = await start({ JANUS_PACKAGES: 'false' }, { isByHand: true });
    return peaks(without, await start());
  }
  const world = await start();
  // The first install fills caches and compiles code; it is not measured.
  await installed(world, 'warm', [largeDefinition('warm.org', 0)]);
  switch (row) {
    case 'packages':
      return besideOthers(world, undo);
    case 'packages-waiting':
      return [
        await waitingForTheLock(world),
        ...(await behindFinished(world, (name) => installed(world, name, definitions(`${name}.org`, 1)))),
      ];
    default:
      return growth(world);
  }
}

async function besideOthers(world: PackageWorld, undo: Undo): Promise<readonly Line[]> {
  const count = 100;
  const own = await installed(world, 'hundred', definitions('hundred.org', count));
  const inline = await byTransactions(world, definitions('inline.org', count));
  const lines: Line[] = [
    { row: `install-${count}-crds`, items: count, ...figuresOf(own, count) },
    { row: `inline-${count}-crds`, items: count, p50Ms: inline, ratioToLimit: ratio(own.ms, inline) },
  ];
  const kubectl = await byKubectl(world, undo, definitions('kubectl.org', count));
  return [...lines, { row: `kubectl-${count}-crds`, items: count, p50Ms: kubectl, ratioToLimit: ratio(own.ms, kubectl) }];
}

/** Each hook has made nothing before. */
async function peaks(without: PackageWorld, world: PackageWorld): Promise<readonly Line[]> {
  const count = 100;
  const plain = await costOf(without, () => byTransactions(without, definitions('inline.org', count)));
  const reading = await read(world, 60 * 2 ** 20);
  const own = await installed(world, 'hundred', definitions('hundred.org', count));
  const lineOf = (row: string, items: number, { ms, peakMiB }: Cost): Line => ({
    row,
    items,
    p50Ms: ms,
    hookPeakMemoryMiB: Math.round(peakMiB),
    addedMiB: Math.round(peakMiB - plain.peakMiB),
  });
  return [lineOf('without-packages', count, plain), lineOf('read-60-MiB', 1, reading), lineOf('with-packages', count, own)];
}

async function costOf(world: PackageWorld, work: () => Promise<unknown>): Promise<Cost> {
  const costSince = await counterOf(world);
  await work();
  return costSince();
}

/** A package of so many bytes is read as a whole, and then refused, since nobody has what it requires. */
async function read(world: PackageWorld, bytes: number): Promise<Cost> {
  const objects = definitions('large.org', Math.ceil(bytes / crdBytes));
  await world.publish({ name: 'large', tag: 'v1.0.0', requires: { absent: '>=v1.0.0' }, objects });
  return costOf(world, () => ended(world, 'large', 'False'));
}

async function growth(world: PackageWorld): Promise<readonly Line[]> {
  const lines: Line[] = [];
  for (const count of [10, 100, 400]) {
    const cost = await installed(world, `crds${count}`, definitions(`crds${count}.org`, count));
    lines.push({ row: `install-${count}-crds`, items: count, ...figuresOf(cost, count) });
  }
  for (const count of [10, 50, 200]) {
    const cost = await installedTree(world, count);
    lines.push({ row: `install-${count}-packages`, items: count, ...figuresOf(cost, count) });
  }
  return lines;
}

function figuresOf({ ms, apiRequests, registryRequests, peakMiB }: Cost, count: number): Line {
  const each = {
    eachMs: ratio(ms, count),
    apiRequestsEach: ratio(apiRequests, count),
    registryRequestsEach: ratio(registryRequests, count),
  };
  return { p50Ms: ms, ...each, hookPeakMemoryMiB: Math.round(peakMiB) };
}

function ratio(one: number, other: number): number {
  return Math.round((100 * one) / other) / 100;
}

/** From creation to Finished. */
async function installed(world: PackageWorld, name: string, objects: readonly object[]): Promise<Cost> {
  await world.publish({ name, tag: 'v1.0.0', objects });
  return timed(world, name);
}

/** A package that requires all others, each with one small CRD. */
async function installedTree(world: PackageWorld, count: number): Promise<Cost> {
  const names = Array.from({ length: count - 1 }, (_, index) => `of${count}-${index}`);
  for (const [index, name] of names.entries())
    await world.publish({ name, tag: 'v1.0.0', objects: [definitionOf(`thing${index}s`, `of${count}.org`)] });
  const requires = Object.fromEntries(names.map((name) => [name, '>=v1.0.0']));
  await world.publish({ name: `tree${count}`, tag: 'v1.0.0', requires });
  return timed(world, `tree${count}`);
}

function timed(world: PackageWorld, name: string): Promise<Cost> {
  return costOf(world, () => ended(world, name, 'True'));
}

/** Installs it; its end must have that status of `Ready`. */
async function ended(world: PackageWorld, name: string, isReady: 'True' | 'False'): Promise<void> {
  await world.install(name, `${world.source(name)}:v1.0.0`, { packageName: name, retryLimit: 1 });
  const status = await world.finished(name);
  if (conditionIn(status, 'Ready')?.status !== isReady)
    throw new Error(`expected ${name} to end with Ready ${isReady}: ${JSON.stringify(status)}`);
}

/** ms for Transactions that make the same, one after the other, as the same ServiceAccount. */
async function byTransactions({ client }: PackageWorld, objects: readonly object[]): Promise<number> {
  const begin = performance.now();
  for (let start = 0; start < objects.length; start += perTransaction) {
    const name = `inline-${start}`;
    const changes = objects.slice(start, start + perTransaction).map((content) => ({
      type: 'Create',
      target: {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        name: textAt(content as JsonObject, 'metadata', 'name'),
      },
      gate: { at: 'AtEnd' },
      content,
    }));
    const spec = { serviceAccountName: 'janus-packages', changes };
    must(
      await client.create(stagesPath, {
        apiVersion: 'tx.janus.io/v1alpha1',
        kind: 'Transaction',
        metadata: { name },
        spec,
      } as JsonObject),
    );
    const phase = async (): Promise<string | undefined> =>
      textAt(must(await client.get(`${stagesPath}/${name}`)), 'status', 'phase');
    await waitFor(async () => (await phase()) === 'Committed', `${name} to be Committed`, { timeoutMs: 600_000 });
  }
  return Math.round(performance.now() - begin);
}

async function byKubectl({ plane }: PackageWorld, undo: Undo, objects: readonly object[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'janus-bench-crds-'));
  undo.add(async () => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'crds.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  const begin = performance.now();
  const { code, output } = await type('kubectl apply --server-side -f crds.json', folder, { KUBECONFIG: plane.kubeconfig });
  if (code !== 0) throw new Error(`kubectl failed: ${output}`);
  return Math.round(performance.now() - begin);
}
