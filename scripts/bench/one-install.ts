// Installs one whole package, and measures the cost.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../../test/support/client.ts';
import { stagesPath } from '../../test/support/package-paths.ts';
import { conditionIn, type PackageWorld } from '../../test/support/package-world.ts';
import { definitionOf } from '../../test/support/registry/builder.ts';
import type { Line } from './figures.ts';
import { type Cost, counterOf } from './package-requests.ts';

const perTransaction = 20;

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
  return costOf(world, () => ended(world, name, 'True'));
}

/** Installs the package. At the end `Ready` must have that status. */
export async function ended(world: PackageWorld, name: string, isReady: 'True' | 'False'): Promise<void> {
  await world.install(name, `${world.source(name)}:v1.0.0`, { packageName: name, retryLimit: 1 });
  await finishedWith(world, name, isReady);
}

/** Waits for the end of the package transaction. Throws if `Ready` has another status. */
export async function finishedWith(world: PackageWorld, name: string, isReady: 'True' | 'False'): Promise<void> {
  const status = await world.finished(name);
  if (conditionIn(status, 'Ready')?.status !== isReady)
    throw new Error(`expected ${name} to end with Ready ${isReady}: ${JSON.stringify(status)}`);
}

/** ms for Transactions that make these objects, one after the other, as one ServiceAccount. */
export async function byTransactions({ client }: PackageWorld, objects: readonly object[]): Promise<number> {
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
