// docs/guarantees.md against reality: the files that it names exist, its commands can be run, its promises are counted.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { processScenarios } from './faults/processes/scenarios.ts';
import { scenarios } from './faults/scenarios.ts';

const root = join(import.meta.dirname, '..');
const text = readFileSync(join(root, 'docs', 'guarantees.md'), 'utf8');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const [promises = '', others = ''] = text.split('## Not promised');

/** A command may go on in the next line. */
const quoted = [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replaceAll(/\s+/g, ' '));
const commands = quoted.filter((code) => code.startsWith('npm '));

t.test('promises are numbered, and each names what it rests on and what shows it', async (t) => {
  const numbered = promises.split(/^(?=\d+\. )/m).slice(1);
  t.same(
    numbered.map((promise) => Number.parseInt(promise, 10)),
    numbered.map((_, index) => index + 1),
  );
  t.ok(numbered.length >= 12);
  for (const promise of numbered) {
    t.match(promise, /^\d+\. +\*\*/, 'it has a title');
    t.match(promise, /`npm (test|run)/, 'a command shows it');
  }
  t.match(others, /\nKnown holes:\n/);
});

t.test('the files that it names exist', async (t) => {
  const top = /(?<![\w./-])(?:docs|hooks|manifests|schemas|scripts|server|test)(?:\/[\w.-]+)+/g;
  const paths = new Set(quoted.flatMap((code) => code.match(top) ?? []));
  t.ok(paths.size > 20);
  for (const path of paths) t.ok(existsSync(join(root, path)), path);
});

t.test('its commands can be run', async (t) => {
  t.ok(commands.length > 12);
  for (const command of commands) {
    const [, script = ''] = /^npm (?:run )?([a-z-]+)/.exec(command) ?? [];
    t.type(manifest.scripts[script], 'string', command);
  }
});

t.test('the scenarios that it names are there', async (t) => {
  const named = commands.flatMap((command) => / --scenario ([\w,:]+)/.exec(command)?.[1]?.split(',') ?? []);
  const known = [...scenarios, ...processScenarios].map(({ id }) => id);
  t.ok(named.length > 5);
  for (const id of named)
    t.ok(
      known.some((one) => one === id || one.startsWith(`${id}:`)),
      id,
    );
});
