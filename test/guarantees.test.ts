// docs/guarantees.md against reality: its promises are counted, the files, tests, scenarios and commands that it names exist.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { processScenarios } from './faults/processes/scenarios.ts';
import { scenarios } from './faults/scenarios.ts';

const root = join(import.meta.dirname, '..');
const text = readFileSync(join(root, 'docs', 'guarantees.md'), 'utf8');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const quoted = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);

/** Rows of the table of promises: number, promise, how the engine keeps it, and what shows it. */
const promises = [...text.matchAll(/^\| +(\d+) +\| (.+?) +\| (.+?) +\| (.+?) +\|$/gm)].map(
  ([, number = '', promise = '', how = '', shown = '']) => ({ number: Number(number), promise, how, shown }),
);

t.test('promises are numbered, and a test, a scenario or a command shows each', async (t) => {
  t.same(
    promises.map(({ number }) => number),
    Array.from({ length: 22 }, (_, index) => index + 1),
  );
  for (const { promise, shown } of promises) {
    t.match(promise, /^\*\*/, 'it has a title');
    t.match(shown, /`(test\/|S\d|npm run )/, promise);
  }
  t.match(text, /\n## Not promised\n[\s\S]*\n## Known limits\n/);
});

t.test('the files that the page names exist', async (t) => {
  const top = /(?<![\w./-])(?:docs|hooks|manifests|schemas|scripts|server|test)(?:\/[\w.-]+)+/g;
  const paths = new Set(quoted.flatMap((code) => code.match(top) ?? []));
  t.ok(paths.size > 20);
  for (const path of paths) t.ok(existsSync(join(root, path)), path);
});

t.test('the commands that the page names can be run', async (t) => {
  const commands = quoted.filter((code) => code.startsWith('npm '));
  t.ok(commands.length > 5);
  for (const command of commands) {
    const [, script = ''] = /^npm (?:run )?([a-z-]+)/.exec(command) ?? [];
    t.type(manifest.scripts[script], 'string', command);
  }
});

t.test('the scenarios that the page names exist', async (t) => {
  const named = quoted.filter((code) => /^S\d\d/.test(code)).flatMap((code) => code.split(','));
  const known = [...scenarios, ...processScenarios].map(({ id }) => id);
  t.ok(named.length > 5);
  for (const id of named)
    t.ok(
      known.some((one) => one === id || one.startsWith(`${id}:`)),
      id,
    );
});
