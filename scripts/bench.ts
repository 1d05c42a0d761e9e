// `npm run bench`: measures the cost of Transactions, on a control plane of its own. After each row it prints one line of JSON on standard
// output, and at the end the table. `--rows 10,many` measures only these rows, also rows on demand (scripts/bench/rows.ts). `--against DIR`
// measures each row first with the engine of another checkout (set up by npm ci), on one control plane. `--turns 5` measures 5 times, in
// turn, and prints ratios of medians. `--round-trip 5ms` puts a network between the API server and all clients. `--trace out.html` draws one Transaction on a time line instead, with the changes of the row in
// `--rows`. `--profile folder` stores a CPU profile of the hook in that folder.
import { constants } from 'node:os';
import { parseArgs } from 'node:util';
import { parseDuration } from '../hooks/objects/time.ts';
import { besideOthers, measureBeside } from './bench/beside.ts';
import { deletesBeside, measureDeletes } from './bench/deletes.ts';
import { comparisons, type Line, lineOf, tableOf } from './bench/figures.ts';
import { measureFinished } from './bench/finished.ts';
import { measureGates } from './bench/gates.ts';
import { measureInstalls } from './bench/installs.ts';
import { measureKinds } from './bench/kinds.ts';
import { measure } from './bench/measure.ts';
import { measurePackages } from './bench/packages.ts';
import { measureReleases, rollbacksBeside } from './bench/releases.ts';
import { against, besidePackage, chosenRows, type Row } from './bench/rows.ts';
import { drawTrace } from './bench/trace.ts';
import { inTurns } from './bench/turns.ts';
import { startWorld, type World } from './bench/world.ts';
import { createUndo } from './demo/undo.ts';

const undo = createUndo();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => void undo.run().then(() => process.exit(128 + constants.signals[signal])));

/** Rows that measure more than one series of Transactions, by their name. */
const special: Readonly<Record<string, (world: World) => Promise<readonly Line[]>>> = {
  finished: measureFinished,
  'fifty-deletes': measureDeletes,
  kinds: measureKinds,
  releases: measureReleases,
  gates: measureGates,
};

process.exit(await main());

async function main(): Promise<number> {
  try {
    const { values } = parseArgs({
      options: {
        rows: { type: 'string' },
        trace: { type: 'string' },
        profile: { type: 'string' },
        against: { type: 'string' },
        'round-trip': { type: 'string', default: '0ms' },
        turns: { type: 'string', default: '1' },
      },
    });
    const named = chosenRows(values.rows?.split(',') ?? []);
    const chosen = values.against === undefined ? named : inTurns(against(named), turnsOf(values.turns));
    const roundTrip = parseDuration(values['round-trip']) ?? Number.NaN;
    await (values.trace === undefined ? run(chosen, { ...values, roundTrip }) : drawTrace(undo, values.trace, tracedOf(named)));
    return 0;
  } catch (error) {
    process.stderr.write(`The bench failed: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  } finally {
    await undo.run();
  }
}

function turnsOf(text: string): number {
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  throw new Error(`--turns: expected a number from 1 to 99, found ${text}`);
}

/** The first of the named rows that measures the engine; the row of ten changes if none is named. */
function tracedOf(named: readonly Row[]): Row {
  const own = named.filter(({ hook, name }) => hook === 'janus' && name !== 'warm-up');
  return own.length === 1 ? (own[0] as Row) : (chosenRows(['10'])[0] as Row);
}

interface Compared {
  readonly roundTrip: number;
  readonly profile?: string | undefined;
  readonly against?: string | undefined;
}

async function run(chosen: readonly Row[], { profile, against: other, roundTrip }: Compared): Promise<void> {
  const ofEngine = chosen.filter(({ packages, installs }) => packages !== true && installs !== true);
  if (ofEngine.length > 0) {
    const world = await startWorld(undo, {
      profile,
      against: other,
      roundTrip,
      packages: ofEngine.some(({ beside }) => beside === besidePackage),
    });
    const lines: Line[] = [];
    for (const row of ofEngine) lines.push(...printed(await linesOf(world, row)));
    printed(world.starts);
    const loop = lines[0]?.loop === 'metacontroller' ? 'the real Metacontroller' : 'a double of Metacontroller';
    printTable(lines, `Through ${loop}, on an API server of its own`);
  }
  for (const { name } of chosen.filter(({ installs }) => installs === true))
    printTable(printed(await measureInstalls(undo, name)), 'Installs of packages, on a control plane of their own');
  if (chosen.some(({ packages }) => packages === true))
    printTable(printed(await measurePackages(undo, profile)), 'Trees of packages, from a registry of its own');
}

async function linesOf(world: World, row: Row): Promise<readonly Line[]> {
  if (row.beside !== undefined) return measureBeside(world, row, row.beside);
  return (await special[row.name]?.(world)) ?? (await measure(world, row)).map(lineOf);
}

function printed(lines: readonly Line[]): readonly Line[] {
  for (const line of lines) process.stdout.write(`${JSON.stringify(line)}\n`);
  return lines;
}

function printTable(lines: readonly Line[], title: string): void {
  process.stdout.write(`\n${title}:\n\n${tableOf(lines)}\n\n`);
  for (const sentence of [...comparisons(lines), ...besideOthers(lines), ...deletesBeside(lines), ...rollbacksBeside(lines)])
    process.stdout.write(`${sentence}\n`);
}
