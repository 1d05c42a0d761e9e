// How much memory an engine keeps: one engine serves many Transactions, one after the other, each from its creation until it is
// gone.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createSync } from '../../hooks/transactions/reconcile.ts';
import { clock } from '../../server/clock.ts';
import { attempt } from '../faults/attempt.ts';
import { requestRollback } from '../faults/stories.ts';
import type { World } from '../faults/world.ts';
import { engineNamespace } from '../support/install.ts';
import { manifests } from '../support/manifests.ts';
import { surface } from '../support/surface.ts';

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;

/** Returns the heap in MiB after each tenth of them, after garbage collection. */
export async function runSteadily(world: World, count: number, report: (line: string) => void): Promise<readonly number[]> {
  const engine = createSync({
    cluster: world.cluster,
    sealer: world.sealer,
    manifests,
    clock,
    timing: { stepDeadline: 20_000, writeTimeout: 10_000 },
    engineNamespace,
    record: surface,
  });
  const heaps: number[] = [];
  for (let done = 1; done <= count; done += 1) {
    const { run } = await attempt(world, requestRollback, { engine });
    world.audit.take(run.names.run); // what came after its end would weigh on the scales
    if (done % Math.max(1, Math.floor(count / 10)) !== 0) continue;
    heaps.push(heapOf());
    report(`${done} Transactions: ${weight()}`);
  }
  return heaps;
}

function heapOf(): number {
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/** The memory of this process, in words. */
export function weight(): string {
  return `heap ${heapOf().toFixed(1)} MiB, process ${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB`;
}
