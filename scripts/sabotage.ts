// `npm run sabotage`: puts one deliberate fault after the other into a copy of the sources, and runs the tests that must detect it.
// It prints the test that caught each fault. A fault that no test catches is a failure. The last line is `N passed, N failed`. `--only NAME`
// (or NAME,NAME) tries some, `--list` prints all: name, fault, tests.
import { parseArgs } from 'node:util';
import { openCluster } from '../test/controlplane/existing.ts';
import { sabotages } from '../test/sabotage/all.ts';
import type { Sabotage } from '../test/sabotage/sabotage.ts';
import { openWorkshop, type Verdict, type Workshop } from '../test/sabotage/workshop.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    list: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '2' },
  },
});

// When interrupted, it finishes the fault in progress and prints the results so far.
let isInterrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (isInterrupted = true));

const soundness = new Map<string, Promise<Verdict>>();

process.exitCode = await main();

async function main(): Promise<number> {
  const names = values.only?.split(',');
  const chosen = sabotages.filter(({ name }) => names === undefined || names.includes(name));
  if (chosen.length === 0 || values.list) {
    for (const { name, fault, caughtBy } of sabotages)
      console.log(`${name.padEnd(28)} ${fault}\n${' '.repeat(29)}${caughtBy.join(', ')}`);
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
  let [passed, failed] = [0, 0];
  await shared(chosen, workshops, async (sabotage, workshop) => {
    const { isCaught, verdictText } = await judged(sabotage, workshop);
    if (isCaught) passed += 1;
    else failed += 1;
    console.log(`${sabotage.name.padEnd(28)} ${sabotage.fault}\n${' '.repeat(29)}${verdictText}`);
  });
  console.log(`${passed} passed, ${failed} failed`);
  return passed > 0 && failed === 0 && !isInterrupted ? 0 : 1;
}

async function judged(
  sabotage: Sabotage,
  workshop: Workshop,
): Promise<{ readonly isCaught: boolean; readonly verdictText: string }> {
  const verdict = await workshop.sabotaged(sabotage);
  if (verdict === undefined) return { isCaught: false, verdictText: `SURVIVED ${sabotage.caughtBy.join(', ')}` };
  if (verdict.failure === undefined)
    return { isCaught: false, verdictText: `NO RESULT ${verdict.file} ended, and no test had failed` };
  const plain = await withoutFault(verdict.file, workshop);
  return plain.isPassed
    ? { isCaught: true, verdictText: `caught by ${verdict.failure}` }
    : { isCaught: false, verdictText: `FAILED without any fault: ${plain.failure ?? `${plain.file} ended without a result`}` };
}

/** Runs the test without a fault, because a test that always fails would seem to catch every fault. */
function withoutFault(file: string, workshop: Workshop): Promise<Verdict> {
  const known = soundness.get(file) ?? workshop.test(file);
  soundness.set(file, known);
  return known;
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
