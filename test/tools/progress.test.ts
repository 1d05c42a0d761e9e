// What a long build says of itself: how many packages are done of all, and which one is in hand; of a real build, of two packages.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import t from 'tap';
import { buildTools } from './build.ts';
import { requiredGo } from './go.ts';
import { openProgress } from './progress.ts';

const everyMs = 10_000;
t.beforeEach(() => mock.timers.enable({ apis: ['setInterval'] }));
t.afterEach(() => mock.timers.reset());

t.test('a line every ten seconds counts the finished steps', async (t) => {
  const lines: string[] = [];
  const progress = openProgress((line) => lines.push(line.trim().replace(/^\d+m\d\ds {2}/, '')));
  progress.begin('downloading modules');
  progress.step('k8s.io/api');
  mock.timers.tick(everyMs);
  progress.begin('compiling and linking', 3);
  for (const name of ['errors', 'fmt']) progress.step(name);
  mock.timers.tick(everyMs);
  progress.end();
  mock.timers.tick(everyMs);
  t.same(lines, [
    'downloading modules',
    'downloading modules: 1 (k8s.io/api)',
    'compiling and linking 3 packages',
    'compiling and linking: 2 of 3 packages (fmt)',
  ]);
});

t.test('a build counts the packages that it compiles, to the last', async (t) => {
  // Of this run alone, so that the cache of Go has none of it.
  const value = randomUUID();
  const directory = t.testdir({
    'go.mod': `module example.org/tiny\n\ngo ${requiredGo(join(import.meta.dirname, '../controlplane'))}\n\ntool example.org/tiny/program\n`,
    'go.sum': '',
    part: { 'part.go': `package part\n\nconst Value = "${value}"\n` },
    program: { 'main.go': 'package main\n\nimport "example.org/tiny/part"\n\nfunc main() { println(part.Value) }\n' },
  });
  const lines: string[] = [];
  const report = (line: string): void => {
    // What the last line would be, ten seconds on: it is printed before the count ends.
    if (line.startsWith('Built in')) mock.timers.tick(everyMs);
    lines.push(line);
  };
  const tools = { directory, title: 'A tiny program', name: 'tiny', cost: 'a second', flags: [] };
  const built = await buildTools(tools, report, { XDG_CACHE_HOME: join(directory, 'cache') });
  t.ok(existsSync(join(built, 'program')));
  const said = lines.join('\n');
  const [, all] = /compiling and linking (\d+) packages$/m.exec(said) ?? [];
  t.ok(Number(all) >= 2, said);
  t.match(said, new RegExp(`compiling and linking: ${all} of ${all} packages \\(example\\.org/tiny/program\\)$`, 'm'));
});
