// docs/plan.md against the tests: what it says that no plan can know is shown by a test of that name, and each such test is named there.
import { readFileSync } from 'node:fs';
import t from 'tap';

const page = readFileSync('docs/plan.md', 'utf8');
const [, section = ''] = page.split('## What no plan can know\n');
/** Several words in code quotes are the name of a test, but for commands. */
const named = section.split('`').filter((text, index) => index % 2 === 1 && text.includes(' ') && !text.startsWith('janus '));

function testsIn(file: string): readonly string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^t\.test\('([^']+)'/gm)].map(([, name = '']) => name);
}

const limits = testsIn('test/plan/limits.test.ts');

t.test('each case names tests that are there', async (t) => {
  const rows = section.split('\n').filter((line) => /^\| (?!Case|-)/.test(line));
  t.ok(rows.length >= 7);
  for (const row of rows)
    t.ok(
      named.some((name) => row.includes(`\`${name}\``)),
      row.slice(0, 60),
    );
  const known = [...limits, ...testsIn('test/plan/plan.test.ts')];
  t.same(
    named.filter((name) => !known.includes(name)),
    [],
  );
});

t.test('each test of a limit is named', async (t) => {
  t.ok(limits.length >= 10);
  t.same(
    limits.filter((name) => !named.includes(name)),
    [],
  );
});
