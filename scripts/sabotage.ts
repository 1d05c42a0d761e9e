// `npm run sabotage`: puts one deliberate fault after the other into a copy of the sources and runs the tests that must notice
// it. Prints which test caught each; one that no test catches is a failure. The last line is `N passed, N failed`.
// `--only NAME` (or NAME,NAME) tries some, `--list` names them all.
import { parseArgs } from 'node:util';
import { openCluster } from '../test/controlplane/existing.ts';
import { sabotages } from '../test/sabotage/all.ts';
import type { Sabotage } from '../test/sabotage/sabotage.ts';
import { openWorkshop, type Workshop } from '../test/sabotage/workshop.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    list: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '2' },
  },
});

// Interrupted, it finishes what it has begun and tells the figures so far.
let isInterrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (isInterrupted = true));

process.exitCode = await main();

async function main(): Promise<number> {
  const names = values.only?.split(',');
  const chosen = sabotages.filter(({ name }) => names === undefined || names.includes(name));
  if (chosen.length === 0 || values.list) {
    for (const { name, fault } of sabotages) console.log(`${name.padEnd(28)} ${fault}`);
    return values.list ? 0 : 1;
  }
  const cluster = await openCluster([]);
  const workshops = Array.from({ length: Number(values.jobs) }, () => openWorkshop(cluster.kubeconfig));
  try {
    return await tryAll(chosen, workshops);
  } finally {
    for (const workshop of workshops) workshop.close();
    await cluster.stop();
  }
}

async function tryAll(chosen: readonly Sabotage[], workshops: readonly Workshop[]): Promise<number> {
  // A test that fails without any fault would seem to catch them all.
  const files = [...new Set(chosen.flatMap(({ caughtBy }) => caughtBy))];
  const unsound: string[] = [];
  await shared(files, workshops, async (file, workshop) => {
    const verdict = await workshop.test(file);
    if (!verdict.isPassed) unsound.push(verdict.failure);
  });
  for (const failure of unsound) console.log(`FAILED without any fault: ${failure}`);
  if (unsound.length > 0) return 1;
  console.log(`${files.length} test files pass without a fault; ${chosen.length} faults are tried\n`);
  let [passed, failed] = [0, 0];
  await shared(chosen, workshops, async (sabotage, workshop) => {
    const verdict = await workshop.sabotaged(sabotage);
    if (verdict === undefined) failed += 1;
    else passed += 1;
    const found = verdict === undefined ? `SURVIVED ${sabotage.caughtBy.join(', ')}` : `caught by ${verdict.failure}`;
    console.log(`${sabotage.name.padEnd(28)} ${sabotage.fault}\n${' '.repeat(29)}${found}`);
  });
  console.log(`${passed} passed, ${failed} failed`);
  return passed > 0 && failed === 0 && !isInterrupted ? 0 : 1;
}

async function shared<Item>(
  items: readonly Item[],
  workshops: readonly Workshop[],
  work: (item: Item, workshop: Workshop) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  const worker = async (workshop: Workshop): Promise<void> => {
    for (const item of queue) if (!isInterrupted) await work(item, workshop);
  };
  await Promise.all(workshops.map(worker));
}
