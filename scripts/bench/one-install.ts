// Installs one whole package, and measures the cost.
import { conditionIn, type PackageWorld } from '../../test/support/package-world.ts';
import { definitionOf } from '../../test/support/registry/builder.ts';
import type { Line } from './figures.ts';
import { type Cost, counterOf } from './package-requests.ts';

export async function costOf(world: PackageWorld, work: () => Promise<unknown>): Promise<Cost> {
  const costSince = await counterOf(world);
  await work();
  return costSince();
}

/** Publishes a package of these objects, and installs it: from creation to Finished. */
export async function installed(world: PackageWorld, name: string, objects: readonly object[]): Promise<Cost> {
  await world.publish({ name, tag: 'v1.0.0', objects });
  return timed(world, name);
}

/** A package that requires all other packages. Each of them has one small CRD. */
export async function installedTree(world: PackageWorld, count: number): Promise<Cost> {
  const names = Array.from({ length: count - 1 }, (_, index) => `of${count}-${index}`);
  for (const [index, name] of names.entries())
    await world.publish({ name, tag: 'v1.0.0', objects: [definitionOf(`thing${index}s`, `of${count}.org`)] });
  const requires = Object.fromEntries(names.map((name) => [name, '>=v1.0.0']));
  await world.publish({ name: `tree${count}`, tag: 'v1.0.0', requires });
  return timed(world, `tree${count}`);
}

function timed(world: PackageWorld, name: string): Promise<Cost> {
  return costOf(world, async () => {
    await world.install(name, `${world.source(name)}:v1.0.0`, { packageName: name, retryLimit: 1 });
    await finished(world, name);
  });
}

/** Waits for the end of the package transaction. Throws if it is not Ready. */
export async function finished(world: PackageWorld, name: string): Promise<void> {
  const status = await world.finished(name);
  if (conditionIn(status, 'Ready')?.status !== 'True')
    throw new Error(`expected ${name} to end with Ready True: ${JSON.stringify(status)}`);
}

export function figuresOf({ ms, cpuMs, apiRequests, registryRequests, peakMiB }: Cost, count: number): Line {
  return {
    p50Ms: ms,
    eachMs: ratio(ms, count),
    hookCpuEachMs: ratio(cpuMs, count),
    apiRequestsEach: ratio(apiRequests, count),
    registryRequestsEach: ratio(registryRequests, count),
    hookPeakMemoryMiB: Math.round(peakMiB),
  };
}

export function ratio(one: number, other: number): number {
  return Math.round((100 * one) / other) / 100;
}
