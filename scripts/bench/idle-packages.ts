// Measures the cost of idle package transactions: those that wait for the Lock, finished ones, and finished ones that are deleted at once.
import { setTimeout as delay } from 'node:timers/promises';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../../test/support/client.ts';
import { definitionPath, lockPath, ptxPath, stagesPath } from '../../test/support/package-paths.ts';
import { conditionIn, type PackageWorld, statusOf } from '../../test/support/package-world.ts';
import { definitionOf } from '../../test/support/registry/builder.ts';
import type { Line } from './figures.ts';
import { inParallel } from './measure.ts';
import { ratio } from './one-install.ts';
import { apiRequestsOf, type Cost, callsOf } from './package-requests.ts';

const waiting = 20;
const finished = 200;
const deleted = 300;
const seconds = 12;

/**
 * A Transaction of the engine waits at its gate, and keeps the Lease of a CRD. So the stage of the package transaction that has the Lock
 * waits, and all other package transactions wait for the Lock.
 */
export async function waitingForTheLock(world: PackageWorld): Promise<Line> {
  const { client, source } = world;
  await world.publish({ name: 'held', tag: 'v1.0.0', objects: [definitionOf('ones', 'held.org')] });
  await keepLease(world);
  await world.install('holder', `${source('held')}:v1.0.0`, { packageName: 'held' });
  await world.condition('holder', 'Validated', 'True');
  const alone = await requestsIn(world, seconds);
  const names = Array.from({ length: waiting }, (_, index) => `waiter-${index}`);
  for (const name of names) await world.install(name, `${source('held')}:v1.0.0`, { packageName: 'held' });
  const isWaiting = async (name: string): Promise<boolean> =>
    conditionIn(statusOf(await world.read(name)), 'Validated')?.reason === 'WaitingForLock';
  for (const name of names) await waitFor(() => isWaiting(name), `${name} to wait for the Lock`);
  const together = await requestsIn(world, seconds);
  for (const name of names) must(await client.delete(ptxPath(name)));
  for (const name of names) await waitFor(async () => (await client.get(ptxPath(name))).code === 404, `${name} to be gone`);
  // The holder's requests become fewer while it waits.
  const holder = (alone + (await requestsIn(world, seconds))) / 2;
  must(await client.delete(ptxPath('holder')));
  must(
    await client.patch(`${stagesPath}/keeps-the-lease`, { metadata: { annotations: { 'tx.janus.io/request-rollback': 'now' } } }),
  );
  await waitFor(async () => (await client.get(ptxPath('holder'))).code === 404, 'the holder to be gone', { timeoutMs: 600_000 });
  return {
    row: `waiting-${waiting}`,
    items: waiting,
    seconds,
    requestsOfHolder: holder,
    requestsOfAll: together,
  };
}

async function keepLease({ client }: PackageWorld): Promise<void> {
  const content = definitionOf('ones', 'held.org') as JsonObject;
  const target = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: 'ones.held.org' };
  const gate = { ready: { field: { path: '.metadata.labels.never' } }, timeout: '10m' };
  const spec = { serviceAccountName: 'janus-packages', changes: [{ type: 'Create', target, content, gate }] };
  const metadata = { name: 'keeps-the-lease' };
  must(
    await client.create(stagesPath, { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata, spec } as JsonObject),
  );
  await waitFor(async () => (await client.get(definitionPath('ones.held.org'))).code === 200, 'the CRD to be created');
}

async function requestsIn(world: PackageWorld, time: number): Promise<number> {
  const before = await apiRequestsOf(world);
  await delay(time * 1_000);
  return (await apiRequestsOf(world)) - before;
}

/** The loop makes a call for each new package transaction. The measurement must begin after all these calls are answered. */
async function calm(world: PackageWorld): Promise<void> {
  for (let [calls, before] = [await callsOf(world), -1]; calls !== before; [calls, before] = [await callsOf(world), calls])
    await delay(3_000);
}

export interface PausableWorld extends PackageWorld {
  /** Nobody calls about package transactions until the work is done. */
  withoutCalls(work: () => Promise<void>): Promise<void>;
}

/** Creates so many copies of a finished package transaction, which stay. */
async function fill(world: PausableWorld, model: JsonObject, count: number): Promise<readonly string[]> {
  const { client } = world;
  const names = Array.from({ length: count }, (_, index) => `finished-${index}`);
  await world.withoutCalls(async () => {
    for (const name of names) {
      const made = must(await client.create(ptxPath(), { ...model, metadata: { name }, status: {} }));
      must(await client.update(`${ptxPath(name)}/status`, { ...made, status: at(model, 'status') ?? {} }));
    }
  });
  await calm(world);
  return names;
}

type Install = (name: string) => Promise<Cost>;

/** Installs a package while nothing is finished, and returns the cost. No history is deleted from then on. */
async function installFirst({ client }: PackageWorld, install: Install, name: string): Promise<Cost> {
  must(await client.patch(lockPath, { metadata: { annotations: { 'pkg.crossplane.io/transaction-history-limit': '0' } } }));
  return install(name);
}

/** One install alone, and one while many finished package transactions are deleted at once. */
export async function besideDeletions(world: PausableWorld, install: Install): Promise<readonly Line[]> {
  const { client } = world;
  const alone = await installFirst(world, install, 'alone');
  const names = await fill(world, await world.read('alone'), deleted);
  // The DELETE requests of the user, and the first call about each, keep the machine busy by themselves: what follows is measured.
  const before = await callsOf(world);
  await world.withoutCalls(() => inParallel(names, 16, async (name) => void must(await client.delete(ptxPath(name)))));
  const began = performance.now();
  await waitFor(async () => (await callsOf(world)) >= before + deleted, 'a call about each');
  const beside = await install('beside');
  const left = async (): Promise<number> =>
    (await client.list(ptxPath())).items.filter((one) => textAt(one, 'metadata', 'name')?.startsWith('finished-')).length;
  await waitFor(async () => (await left()) === 0, 'all to be gone', { timeoutMs: 600_000, everyMs: 500 });
  const seconds = Math.round(performance.now() - began) / 1_000;
  return [
    { row: 'install-alone', items: 1, p50Ms: alone.ms, apiRequests: alone.apiRequests },
    {
      ...{ row: `install-beside-${deleted}-deletions`, items: 1, p50Ms: beside.ms, apiRequests: beside.apiRequests },
      ...{ ratioToLimit: ratio(beside.ms, alone.ms), goneSeconds: seconds },
    },
  ];
}

/** One install before, and one install after, many finished package transactions exist. */
export async function behindFinished(world: PausableWorld, install: Install): Promise<readonly Line[]> {
  const before = await installFirst(world, install, 'before');
  await fill(world, await world.read('before'), finished);
  const after = await install('after');
  const line = (row: string, { ms, apiRequests }: Cost): Line => ({ row, items: 1, p50Ms: ms, apiRequests });
  return [line('before-finished', before), line(`behind-${finished}-finished`, after)];
}
