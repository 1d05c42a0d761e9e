// `npm run compare` on few objects: the table of docs/comparison.md has its rows, and says what the tools did.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { readDocument, root } from './support/pages.ts';

const [, section = ''] = readDocument('docs/comparison.md').split(/^## Measured\n/m);

/** The cells of a table's rows, by the first one. */
function rowsOf(table: string): ReadonlyMap<string, readonly string[]> {
  const lines = table.split(/^## /m)[0]?.match(/^\| .*$/gm) ?? [];
  const rows = lines.map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
  return new Map(rows.map(([name = '', ...cells]) => [name, cells]));
}

t.test('the measured table of docs/comparison.md is what the tools do', async (t) => {
  const run = promisify(execFile)('npm', ['run', '--silent', 'compare', '--', '--changes', '5', '--rounds', '1'], { cwd: root });
  const [measured, written] = [rowsOf((await run).stdout), rowsOf(section)];
  t.match(measured.get('time for 5 changes')?.slice(0, 4), Array(4).fill(/^\d+\.\d\d s$/));
  const killed = measured.get('objects changed by a client that is killed half way') ?? [];
  t.match(killed[0], '5 of 5; the same command again succeeds: 5', 'the engine goes on');
  for (const cell of killed.slice(0, 4)) t.match(cell, /^\d of 5; the same command again /);
  for (const row of ['objects as before after a release that fails', 'and their `managedFields`', 'a hotfix in between'])
    t.same(written.get(row), measured.get(row), row);
  t.same(
    [...written.keys()].filter((name) => name.startsWith('time for')),
    [10, 100, 200].map((count) => `time for ${count} changes`),
  );
});
