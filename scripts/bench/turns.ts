// Measures rows several times, in turn with the engine of another checkout. A single run cannot show a difference of a few per cent.
import { type Line, percentile, rounded } from './ratios.ts';
import type { Row } from './rows.ts';

const marked = /-turn-\d+$/;

/** Repeats the rows, each time under a name of its own. Rows that only warm up a hook occur once. */
export function inTurns(rows: readonly Row[], turns: number): readonly Row[] {
  if (turns === 1) return rows;
  const isMeasured = ({ name }: Row): boolean => !name.endsWith('warm-up');
  const each = Array.from({ length: turns }, (_, turn) =>
    rows.filter(isMeasured).map((row) => ({ ...row, name: `${row.name}-turn-${turn + 1}` })),
  );
  // The first engine of a turn finds the machine in another state than the second, so the order alternates.
  const inOrder = each.map((turn, number) => (number % 2 === 0 ? turn : turn.toReversed()));
  return [...rows.filter((row) => !isMeasured(row)), ...inOrder.flat()];
}

const figures: readonly (readonly [what: string, of: (line: Line) => number])[] = [
  ['time', timeOf],
  ['CPU of the hook', (line) => Number(line.hookCpuPerCallMs) * Number(line.hookCalls)],
  ['requests', requestsOf],
];

/** For each row with turns: the ratio of its median to that of the other checkout, and the minimum and maximum of single turns. */
export function ratiosOfTurns(lines: readonly Line[]): readonly string[] {
  const own = Map.groupBy(lines.filter(isTurn), ({ row }) => `${row}`.replace(marked, ''));
  return [...own].flatMap(([name, turns]) => {
    const others = own.get(`against-${name}`);
    if (others === undefined) return [];
    // A row beside a load has only times.
    return figures.flatMap(([what, of]) => {
      const [mine, theirs] = [turns.map(of), others.map(of)];
      const single = mine.map((value, turn) => value / (theirs[turn] ?? Number.NaN)).toSorted((one, other) => one - other);
      const spread = `${rounded(single.at(0) ?? Number.NaN, 2)} to ${rounded(single.at(-1) ?? Number.NaN, 2)}`;
      const median = percentile(mine, 0.5) / percentile(theirs, 0.5);
      if (Number.isNaN(median)) return [];
      return [`${what}, row ${name}, median of ${turns.length} to that of the other checkout: ${rounded(median, 3)} (${spread})`];
    });
  });
}

/** Whether the measurement is one of several of its row. */
export function isTurn({ row }: Line): boolean {
  return marked.test(`${row}`);
}

/** ms of a Transaction. For concurrent Transactions: the time of all, divided by their number. */
function timeOf({ p50Ms, transactionsPerSecond, concurrency }: Line): number {
  return Number(concurrency) > 1 ? 1_000 / Number(transactionsPerSecond) : Number(p50Ms);
}

function requestsOf({ requests }: Line): number {
  return Object.values((requests ?? { none: Number.NaN }) as Readonly<Record<string, number>>).reduce(
    (sum, count) => sum + count,
    0,
  );
}
