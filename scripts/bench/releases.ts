// Measures a rollback over 25 releases of 100 objects, beside one such release, and a rollback over one of them.
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must } from '../../test/support/client.ts';
import type { Line } from './figures.ts';
import { transactions } from './measure.ts';
import { percentile, ratio, rounded } from './ratios.ts';
import { between, countRequests, sumsOf } from './requests.ts';
import { account, loopLabel, type World } from './world.ts';

const amount = 25;
const objects = 100;
const fieldManager = 'bench-releases';

interface Timed {
  readonly ms: number;
  readonly reads: number;
}

export async function measureReleases(world: World): Promise<readonly Line[]> {
  const { label, meter } = await world.engine('janus', 'tuned');
  const run = (name: string, spec: JsonObject): Promise<Timed> => runOne(world, label, name, spec);
  const times: number[] = [];
  for (let release = 0; release <= amount; release += 1) {
    const { ms } = await run(`release-${release}`, { changes: changesOf(release) });
    times.push(ms);
  }
  // The first ones warm the hook up.
  const one = lineFor('release-100', percentile(times.slice(-5), 0.5));
  meter.resetPeak();
  const far = await run('back-25', { rollback: { to: 'release-0' } });
  const memory = meter.peakMemory();
  await run('release-next', { changes: changesOf(amount + 1) });
  const near = await run('back-1', { rollback: { to: 'back-25' } });
  return [
    one,
    lineFor('rollback-over-1', near.ms, near.reads),
    {
      ...lineFor('rollback-over-25', far.ms, far.reads),
      ...(memory === undefined ? {} : { hookPeakMemoryMiB: rounded(memory) }),
    },
  ];
}

async function runOne(world: World, label: string, name: string, spec: JsonObject): Promise<Timed> {
  const before = await countRequests(world.client);
  const object: JsonObject = {
    apiVersion: 'tx.janus.io/v1alpha1',
    kind: 'Transaction',
    metadata: { name, labels: { [loopLabel]: label } },
    spec: { serviceAccountName: account, fieldManager, ...spec },
  };
  const sent = performance.now();
  const uid = textAt(must(await world.client.create(transactions, object)), 'metadata', 'uid') ?? '';
  const committed = await world.followed.when(uid, 'Committed');
  await world.followed.when(uid, 'Finished');
  const { reads } = sumsOf(between(before, await countRequests(world.client), new Map()));
  return { ms: committed - sent, reads };
}

function changesOf(release: number): readonly JsonObject[] {
  return Array.from({ length: objects }, (_, index) => ({
    type: 'Apply',
    content: {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `released-${index}` } },
      data: { version: `${release}`, other: 'x'.repeat(1000) },
    },
  }));
}

function lineFor(row: string, ms: number, reads?: number): Line {
  return { row, hook: 'janus', items: objects, transactions: 1, p50Ms: rounded(ms), ...(reads === undefined ? {} : { reads }) };
}

/** The times of rollbacks to that of one release, in words. */
export function rollbacksBeside(lines: readonly Line[]): readonly string[] {
  const one = lines.find(({ row }) => row === 'release-100');
  return lines
    .filter(({ row }) => `${row}`.startsWith('rollback-over-'))
    .flatMap(({ row, p50Ms }) => ratio(p50Ms, one?.p50Ms, `time of row ${row}, to one release of ${objects} objects`));
}
