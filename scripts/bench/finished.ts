// Measures how thousands of finished Transactions slow down a new Transaction, and the start of a loop. The loop calls the hook once for
// each Transaction.
import { at, type JsonObject } from '../../hooks/objects/json.ts';
import { must } from '../../test/support/client.ts';
import { hookToken } from '../../test/support/hook-token.ts';
import { startLoop } from '../../test/support/metacontroller/loop.ts';
import { type Line, lineOf } from './figures.ts';
import { inParallel, measure, transactions } from './measure.ts';
import { between, countRequests, sumsOf } from './requests.ts';
import type { Row } from './rows.ts';
import { loopLabel, type World } from './world.ts';

const many = 10_000;
const label = 'finished';
const atOnce = 16;
const row: Row = { name: 'before-finished', changes: 3, transactions: 20, concurrency: 1, hook: 'janus', flags: 'tuned' };

export async function measureFinished(world: World): Promise<readonly Line[]> {
  const before = await linesOf(world, row);
  await fill(world, `${transactions}/${row.name}-0`);
  const after = await linesOf(world, { ...row, name: 'after-finished' });
  return [...before, ...after, await restart(world)];
}

async function linesOf(world: World, which: Row): Promise<readonly Line[]> {
  return (await measure(world, which)).map(lineOf);
}

/** Creates copies of a finished Transaction, with the marks of a loop of that name. */
async function fill({ client }: World, path: string): Promise<void> {
  const model = must(await client.get(path));
  const labels = { [loopLabel]: label };
  const finalizers = [`metacontroller.io/compositecontroller-${label}`];
  const names = Array.from({ length: many }, (_, index) => `${label}-${index}`);
  await inParallel(names, atOnce, async (name) => {
    const object: JsonObject = { ...model, metadata: { labels, name }, status: {} };
    must(await client.create(transactions, object));
    // As Metacontroller does: the admission policy refuses a new Transaction with its finalizer.
    const made = must(await client.patch(`${transactions}/${name}`, { metadata: { finalizers } }));
    must(await client.update(`${transactions}/${name}/status`, { ...made, status: at(model, 'status') ?? {} }));
  });
}

async function restart(world: World): Promise<Line> {
  const { meter, address } = await world.engine('janus', 'tuned');
  meter.resetPeak();
  const [steps, begin, before] = [meter.steps(), performance.now(), await countRequests(world.client)];
  const loop = await startLoop({
    kubeconfig: world.kubeconfig,
    hookUrl: address,
    token: hookToken,
    name: label,
    matchLabels: { [loopLabel]: label },
  });
  await meter.reached(steps + many);
  const elapsed = performance.now() - begin;
  const requests = between(before, await countRequests(world.client), new Map());
  await loop.stop();
  const sums = sumsOf(new Map([...requests].filter(([key]) => key.includes(' transactions'))));
  return {
    row: 'restart',
    loop: loop.kind,
    hook: 'janus',
    items: 3,
    transactions: many,
    hookCalls: meter.steps() - steps,
    readsPerTransaction: sums.reads / many,
    writesPerTransaction: sums.writes / many,
    transactionsPerSecond: Math.round((many / elapsed) * 1000),
    hookPeakMemoryMiB: Math.round(meter.peakMemory() ?? Number.NaN),
    requests: Object.fromEntries(requests),
  };
}
