// Measures how large targets slow down a shared hook: how long its event loop is blocked, and how long probes take meanwhile. There are
// three Transactions. The first has forty objects of 45 000 short keys, and is refused. The second changes and undoes two of these objects.
// The third has forty objects of 1 MB, and is refused.
import { setTimeout as sleep } from 'node:timers/promises';
import { at, isList, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../../test/support/client.ts';
import type { Line } from './figures.ts';
import { configMaps, inParallel, transactions } from './measure.ts';
import { percentile, rounded } from './ratios.ts';
import { account, loopLabel, type World } from './world.ts';

const count = 40;
const atOnce = 4;
const patience = { timeoutMs: 1_800_000 };

/** ms between two probes. */
const pause = 100;

const shortKeys = Object.fromEntries(Array.from({ length: 45_000 }, (_, index) => [`k${index}`, '']));
const megabyte = { other: 'x'.repeat(1_000_000) };

type Engine = Awaited<ReturnType<World['engine']>>;

export async function measureHeavy(world: World): Promise<readonly Line[]> {
  const engine = await world.engine('janus', 'tuned');
  const heavy = await createTargets(world, 'keys', shortKeys);
  const refused = await watched(engine, 'targets-heavy', () => ended(world, engine, 'keys', heavy));
  const few = await watched(engine, 'two-heavy', () => ended(world, engine, 'two', heavy.slice(0, 2)));
  const undone = await watched(engine, 'rollback-two-heavy', () => undo(world, 'two'));
  const large = await createTargets(world, 'text', megabyte);
  return [refused, few, undone, await watched(engine, 'targets-1mb', () => ended(world, engine, 'text', large))];
}

async function createTargets({ client }: World, prefix: string, data: JsonObject): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, index) => `heavy-${prefix}-${index}`);
  await inParallel(names, atOnce, async (name) => void must(await client.create(configMaps, { metadata: { name }, data })));
  return names;
}

async function watched({ address, meter }: Engine, row: string, work: () => Promise<Json | undefined>): Promise<Line> {
  meter.resetPeak();
  await longestDelay(address);
  const over = new AbortController();
  const probing = probe(address, over.signal);
  const begin = performance.now();
  const status = await work();
  const elapsed = performance.now() - begin;
  over.abort();
  return {
    row,
    p50Ms: rounded(elapsed),
    ...(meter.peakMemory() === undefined ? {} : { hookPeakMemoryMiB: rounded(meter.peakMemory() ?? 0) }),
    longestDelayMs: rounded(await longestDelay(address)),
    longestProbeMs: rounded(percentile(await probing, 1)),
    phase: textAt(status, 'phase'),
    message: textAt(status, 'message'),
  };
}

/** The longest block of the event loop since the last call, in ms (monitorEventLoopDelay, which a scrape resets). */
async function longestDelay(address: string): Promise<number> {
  const text = await (await fetch(`${address}/metrics`)).text();
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1]) * 1_000;
}

async function probe(address: string, over: AbortSignal): Promise<readonly number[]> {
  const times: number[] = [];
  while (!over.aborted) {
    const sent = performance.now();
    await (await fetch(`${address}/healthz`)).text();
    times.push(performance.now() - sent);
    await sleep(pause);
  }
  return times;
}

async function ended(world: World, { label }: Engine, name: string, targets: readonly string[]): Promise<Json | undefined> {
  const changes = targets.map((target) => ({
    target: { apiVersion: 'v1', kind: 'ConfigMap', name: target },
    type: 'Patch',
    content: { data: { color: 'green' } },
  }));
  const metadata = { name: `heavy-${name}`, labels: { [loopLabel]: label } };
  const spec = { serviceAccountName: account, lockWait: '1h', changes };
  must(await world.client.create(transactions, { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata, spec }));
  return statusOnce(world, name, isFinished);
}

async function undo(world: World, name: string): Promise<Json | undefined> {
  const annotations = { 'tx.janus.io/request-rollback': 'bench' };
  must(await world.client.patch(`${transactions}/heavy-${name}`, { metadata: { annotations } }));
  return statusOnce(world, name, (status) => textAt(status, 'phase') === 'RolledBack');
}

function statusOnce({ client }: World, name: string, isWanted: (status: Json | undefined) => boolean): Promise<Json> {
  const read = async (): Promise<Json | undefined> => {
    const status = at(must(await client.get(`${transactions}/heavy-${name}`)), 'status');
    return isWanted(status) ? status : undefined;
  };
  return waitFor(read, `the end of Transaction heavy-${name}`, patience);
}

function isFinished(status: Json | undefined): boolean {
  const conditions = at(status, 'conditions');
  const all = isList(conditions) ? conditions : [];
  return all.some((one) => textAt(one, 'type') === 'Finished' && textAt(one, 'status') === 'True');
}
