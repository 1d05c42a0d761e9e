// The bench as people run it: each row is a line of JSON with all its figures, and a table follows.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { against, chosenRows } from '../scripts/bench/rows.ts';
import { inTurns, ratiosOfTurns } from '../scripts/bench/turns.ts';

const root = join(import.meta.dirname, '..');
const run = (...args: readonly string[]) =>
  promisify(execFile)('npm', ['run', '--silent', 'bench', '--', ...args], { cwd: root, timeout: 300_000 });

t.test('npm run bench prints the figures of a row', async (t) => {
  const { stdout } = await run('--rows', 'tiny');
  const [first = '', ...rest] = stdout.split('\n');
  const line = JSON.parse(first);
  t.match(line, { row: 'tiny', loop: /^(double|metacontroller)$/, flags: 'tuned', hook: 'janus', items: 2, transactions: 1 });
  const measured = ['p50Ms', 'p99Ms', 'transactionsPerSecond', 'readsPerItem', 'writesPerItem', 'limitMs', 'ratioToLimit'];
  for (const key of measured) t.ok(Number.isFinite(line[key]) && line[key] > 0, `${key}: ${line[key]}`);
  const onLinux = process.platform === 'linux';
  for (const key of ['hookCpuPerCallMs', 'hookPeakMemoryMiB']) t.equal(line[key] > 0, onLinux, `${key} is known on Linux only`);
  t.ok(line.hookCalls >= 3, 'one for the preparation, one for the changes, one for the release');
  t.equal(line.dryRunsPerItem, 1, 'dry runs stand apart');
  t.ok(line.reviewsPerItem > 0, 'access reviews stand apart');
  t.equal(line.requests['APPLY configmaps'], 2, 'each change is written once, and what the bench writes does not count');
  t.equal(line.requests['POST transactions'], undefined, 'what the bench creates does not count');
  t.match(rest.join('\n'), /^Through (the real Metacontroller|a double of Metacontroller).*\n\n +row +hook +items/m);
});

t.test('the reference hook and the engine make equal requests', async (t) => {
  const { stdout } = await run('--rows', 'tiny,requests-tiny');
  const [engine, compared] = stdout
    .split('\n')
    .slice(0, 2)
    .map((line) => JSON.parse(line));
  t.match([engine.hook, compared.hook], ['janus', 'requests']);
  // PUT leases are left out: so short a Transaction renews no lock, and the control plane renews Leases of its own at any moment.
  const writes = Object.keys(engine.requests).filter((key) => !/^(GET|LIST) |reviews$|^PUT leases$/.test(key));
  t.ok(writes.length >= 5, writes.join(', '));
  for (const key of writes)
    t.equal(compared.requests[key], engine.requests[key], `${key}: ${engine.requests[key]}, ${compared.requests[key]}`);
  // What the engine has to learn first about a cluster that it has just met; a call more or less costs its own reads.
  const reads = (line: typeof engine): number => line.readsPerItem * line.items;
  const ofCalls = 4 * Math.abs(engine.hookCalls - compared.hookCalls);
  const extra = reads(engine) - reads(compared);
  const compare = `reads: ${reads(engine)} in ${engine.hookCalls} calls, ${reads(compared)} in ${compared.hookCalls}`;
  t.ok(extra >= -2 - ofCalls && extra <= 6 + ofCalls, compare);
});

t.test('the bench prints rows in turns under their own names, and ratios of medians', async (t) => {
  const rows = against(chosenRows(['warm-up', '3'])).filter(({ hook }) => hook !== 'bare' && hook !== 'requests');
  const names = inTurns(rows, 2).map(({ name }) => name);
  const [there, back] = [
    ['against-3-turn-1', '3-turn-1'],
    ['3-turn-2', 'against-3-turn-2'],
  ];
  t.same(names, ['against-warm-up', 'warm-up', ...there, ...back], 'the second turn the other way round');
  const line = (row: string, p50Ms: number, hookCalls: number) => ({
    ...{ row, p50Ms, hookCalls, hookCpuPerCallMs: 10, concurrency: 1 },
    requests: { GET: hookCalls, PUT: 1 },
  });
  const lines = [
    line('3-turn-1', 90, 4),
    line('3-turn-2', 110, 4),
    line('against-3-turn-1', 100, 5),
    line('against-3-turn-2', 100, 5),
  ];
  t.same(ratiosOfTurns(lines), [
    'time, row 3, median of 2 to that of the other checkout: 0.9 (0.9 to 1.1)',
    'CPU of the hook, row 3, median of 2 to that of the other checkout: 0.8 (0.8 to 0.8)',
    'requests, row 3, median of 2 to that of the other checkout: 0.833 (0.83 to 0.83)',
  ]);
});

t.test('the bench refuses an unknown row', async (t) => {
  await t.rejects(run('--rows', 'nine'), { code: 1, stderr: /expected rows out of tiny, .*; found nine/ });
});

t.test('the bench refuses an invalid number of turns', async (t) => {
  await t.rejects(run('--rows', '3', '--against', '.', '--turns', 'few'), {
    code: 1,
    stderr: /--turns: expected a number from 1 to 99, found few/,
  });
});
