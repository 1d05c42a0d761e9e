// The measurements of a row, as a line of JSON and as a line of the table.
import type { LoopKind } from '../../test/support/metacontroller/loop.ts';
import { appliesBeside, type Line, percentile, ratio, rounded } from './ratios.ts';
import type { Requests, sumsOf } from './requests.ts';
import type { Row } from './rows.ts';
import { isTurn, ratiosOfTurns } from './turns.ts';

export interface Figures {
  readonly row: Row;
  readonly loop: LoopKind;
  /** ms of each Transaction, from its creation (or from its rollback request) to its end. */
  readonly times: readonly number[];
  /** Milliseconds for all Transactions. */
  readonly elapsed: number;
  /** ms for as many plain apply patches, one after the other, as one Transaction has changes. */
  readonly limit: number;
  readonly requests: Requests;
  readonly sums: ReturnType<typeof sumsOf>;
  /** Calls of the hook. */
  readonly calls: number;
  /** ms of the hook's CPU. */
  readonly cpu: number | undefined;
  /** The maximum of MiB. */
  readonly memory: number | undefined;
  readonly undoOf?: Figures;
}

export type { Line } from './ratios.ts';

export function lineOf(figures: Figures): Line {
  const { row, loop, times, elapsed, limit, requests, sums, calls, cpu, memory, undoOf } = figures;
  const items = row.changes * row.transactions;
  const each = (count: number): number => rounded(count / items, 2);
  const time = row.concurrency > 1 ? elapsed / row.transactions : percentile(times, 0.5);
  return {
    row: row.name,
    loop,
    flags: row.flags,
    hook: row.hook,
    items: row.changes,
    transactions: row.transactions,
    concurrency: row.concurrency,
    p50Ms: rounded(percentile(times, 0.5)),
    p99Ms: rounded(percentile(times, 0.99)),
    transactionsPerSecond: rounded((row.transactions / elapsed) * 1000, 2),
    readsPerItem: each(sums.reads),
    writesPerItem: each(sums.writes),
    dryRunsPerItem: each(sums.dryRuns),
    reviewsPerItem: each(sums.reviews),
    eventsPerItem: each(sums.events),
    hookCalls: calls,
    ...(cpu === undefined ? {} : { hookCpuPerCallMs: rounded(cpu / Math.max(1, calls), 2) }),
    ...(memory === undefined ? {} : { hookPeakMemoryMiB: rounded(memory) }),
    limitMs: rounded(limit),
    ratioToLimit: rounded(time / limit, 2),
    ...(undoOf === undefined ? {} : { ratioToCommit: rounded(percentile(times, 0.5) / percentile(undoOf.times, 0.5), 2) }),
    requests: Object.fromEntries(requests),
  };
}

const columns: readonly (readonly [title: string, key: string])[] = [
  ['row', 'row'],
  ['hook', 'hook'],
  ['items', 'items'],
  ['tx', 'transactions'],
  ['at once', 'concurrency'],
  ['p50 ms', 'p50Ms'],
  ['p99 ms', 'p99Ms'],
  ['tx/s', 'transactionsPerSecond'],
  ['reads/item', 'readsPerItem'],
  ['writes/item', 'writesPerItem'],
  ['dry runs', 'dryRunsPerItem'],
  ['reviews', 'reviewsPerItem'],
  ['calls', 'hookCalls'],
  ['CPU ms/call', 'hookCpuPerCallMs'],
  ['peak MiB', 'hookPeakMemoryMiB'],
  ['limit ms', 'limitMs'],
  ['ratio', 'ratioToLimit'],
  ['to commit', 'ratioToCommit'],
];

export function tableOf(lines: readonly Line[]): string {
  const cells = [columns.map(([title]) => title), ...lines.map((line) => columns.map(([, key]) => String(line[key] ?? '')))];
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) => row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  ')).join('\n');
}

function perChange(line: Line | undefined): number | undefined {
  return typeof line?.p50Ms === 'number' && typeof line.items === 'number' ? line.p50Ms / line.items : undefined;
}

/** The figures of a gate that was open for five minutes. */
function openGate(line: Line | undefined): readonly string[] {
  if (line === undefined) return [];
  return [
    `a gate that was open for 5 minutes: ${line.gateRequests} requests, and seen to be ready ${line.p50Ms} ms after it was`,
  ];
}

/** The comparisons of two rows of one run, as sentences. */
export function comparisons(lines: readonly Line[]): readonly string[] {
  const find = (name: string): Line | undefined => lines.find(({ row }) => row === name);
  const compared = (name: string, key: string, what: string): readonly string[] =>
    ['bare', 'requests'].flatMap((hook) =>
      ratio(find(name)?.[key], find(`${hook}-${name}`)?.[key], `${what}, row ${name}, to that of the ${hook} hook`),
    );
  const others = lines.flatMap(({ row }) => (find(`against-${row}`) === undefined || isTurn({ row }) ? [] : [`${row}`]));
  const againstIt = (name: string): readonly string[] => [
    ...ratio(find(name)?.p50Ms, find(`against-${name}`)?.p50Ms, `time, row ${name}, to that of the other checkout`),
    ...ratio(
      find(name)?.transactionsPerSecond,
      find(`against-${name}`)?.transactionsPerSecond,
      `per second, row ${name}, to that`,
    ),
  ];
  return [
    ...others.flatMap(againstIt),
    ...ratiosOfTurns(lines),
    ...ratio(find('gates-100')?.p50Ms, find('gates-none')?.p50Ms, 'time of ten changes beside 100 open gates, to that without'),
    ...openGate(find('gate-5m')),
    ...appliesBeside(find),
    ...ratio(perChange(find('500')), perChange(find('50')), 'time of each change, row 500, to that of row 50'),
    ...['3', '10', '100'].flatMap((name) => compared(name, 'p50Ms', 'time')),
    ...compared('many', 'transactionsPerSecond', 'Transactions per second'),
    ...ratio(
      find('after-finished')?.p50Ms,
      find('before-finished')?.p50Ms,
      'time beside 10 000 finished Transactions to that before',
    ),
    ...['10', '200'].flatMap((count) =>
      ['kubectl', 'helm'].flatMap((program) =>
        ratio(
          find(`beside-${count}`)?.p50Ms,
          find(`${program}-${count}`)?.p50Ms,
          `time of ${count} changes to that of ${program} for these objects`,
        ),
      ),
    ),
    ...['10', '50'].flatMap((size) =>
      ratio(
        perChange(find('packages-200')),
        perChange(find(`packages-${size}`)),
        `time of each package of 200 to that of ${size}`,
      ),
    ),
    ...ratio(find('replace-60-crds')?.p50Ms, find('family-60-crds')?.p50Ms, 'time of a Replace to an install of as many objects'),
    ...lines
      .filter(({ decideShare }) => decideShare !== undefined)
      .flatMap(({ row, decideMs, p50Ms, againMs, ratioToLimit }) => [
        `time, row ${row}, to a client that only fetches the manifests and layers: ${ratioToLimit}`,
        ...ratio(decideMs, p50Ms, `resolution alone, row ${row}, to all`),
        ...ratio(againMs, p50Ms, `from the cache, row ${row}, to the first time`),
      ]),
    ...ratio(find('thousand')?.p99Ms, find('thousand')?.p50Ms, 'p99 to p50, row thousand'),
    ...ratio(
      find('thousand-again')?.hookPeakMemoryMiB,
      find('thousand')?.hookPeakMemoryMiB,
      'peak memory of a second thousand to that of the first',
    ),
    ...ratio(
      find('default-flags')?.p50Ms,
      find('3')?.p50Ms,
      'time with the default flags of Metacontroller to that with the tuned ones',
    ),
    ...['10', 'many'].flatMap((name) => compared(name, 'hookCpuPerCallMs', 'CPU of the hook per call')),
  ];
}
