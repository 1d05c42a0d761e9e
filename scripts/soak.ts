// `npm run soak`: runs eight Transactions at a time over twelve shared objects, while processes die, answers are lost, late or
// duplicated, and other clients write. After each seed it checks the invariants with the audit log and the objects. `--seeds 2000 --from
// 1` selects how many; `--seed 17` runs one, and prints every call. The last line is `N passed, N failed`. `--large`: each
// ConfigMap that exists holds 300 kB beside its fields. `--steady 1000` measures instead how much memory one engine keeps over that
// many Transactions.
import { parseArgs } from 'node:util';
import { openWorld } from '../test/faults/world.ts';
import { runSeed, type SeedResult } from '../test/soak/soak.ts';
import { runSteadily, weight } from '../test/soak/steady.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    jobs: { type: 'string', default: '4' },
    large: { type: 'boolean', default: false },
    steady: { type: 'string' },
  },
});

const largeBytes = 300_000;

/** Seeds per control plane: its objects and its audit log would otherwise fill the disk. */
const seedsOfAWorld = 100;

// When interrupted, it finishes the seed in progress and prints the results so far.
let isInterrupted = false;
if (values.steady === undefined)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (isInterrupted = true));

process.exitCode = values.steady === undefined ? await main() : await steady(Number(values.steady));

async function main(): Promise<number> {
  const from = Number(values.seed ?? values.from);
  const count = values.seed === undefined ? Number(values.seeds) : 1;
  const seeds = Array.from({ length: count }, (_, index) => from + index);
  const results: SeedResult[] = [];
  for (let first = 0; first < seeds.length && !isInterrupted; first += seedsOfAWorld) {
    results.push(...(await inOneWorld(seeds.slice(first, first + seedsOfAWorld))));
    console.log(figuresOf(results));
  }
  const failed = results.filter(({ violations }) => violations.length > 0).length;
  console.log(`${results.length - failed} passed, ${failed} failed`);
  return results.length > 0 && failed === 0 && !isInterrupted ? 0 : 1;
}

async function steady(count: number): Promise<number> {
  const world = await openWorld();
  try {
    const mebibytes = await runSteadily(world, count, (line) => console.log(line));
    const grown = (mebibytes.at(-1) ?? 0) - (mebibytes[0] ?? 0);
    console.log(`heap grew by ${grown.toFixed(1)} MiB from the first tenth to the last of ${count} Transactions`);
    return 0;
  } finally {
    await world.close();
  }
}

async function inOneWorld(seeds: readonly number[]): Promise<readonly SeedResult[]> {
  const world = await openWorld();
  const results: SeedResult[] = [];
  const queue = seeds.values();
  const worker = async (): Promise<void> => {
    for (const seed of queue) {
      if (isInterrupted) return;
      const result = await runSeed(world, seed, values.large ? largeBytes : 0);
      printResult(result);
      // The record of thousands of calls would take more memory than the measured engine.
      results.push({ ...result, calls: [] });
    }
  };
  try {
    await Promise.all(Array.from({ length: Number(values.jobs) }, worker));
  } finally {
    await world.close();
  }
  return results;
}

function printResult({ seed, violations, calls }: SeedResult): void {
  if (values.seed !== undefined) for (const call of calls) console.log(`    ${call}`);
  if (violations.length === 0) return;
  console.log(`FAILED seed ${seed}\n${violations.map((text) => `    ${text}`).join('\n')}`);
  console.log(`    again: npm run soak -- --seed ${seed}${values.large ? ' --large' : ''}`);
}

function figuresOf(results: readonly SeedResult[]): string {
  const sum = (of: (result: SeedResult) => number): number => results.reduce((total, result) => total + of(result), 0);
  const most = (of: (result: SeedResult) => number): number => Math.max(...results.map(of));
  const phases = [...new Set(results.flatMap(({ ends }) => Object.keys(ends)))].sort();
  const ends = phases.map((phase) => `${sum((result) => result.ends[phase] ?? 0)} ${phase}`).join(', ');
  return [
    `${results.length} seeds, ${sum(({ faults }) => faults)} faults, ${sum(({ portCalls }) => portCalls)} calls of the API server`,
    `Transactions: ${ends}`,
    `most steps of one Transaction ${most(({ mostSteps }) => mostSteps)}, with its waiting ${most(({ mostCalls }) => mostCalls)}`,
    `violations ${sum(({ violations }) => violations.length)}; ${weight()}`,
  ].join('; ');
}
