// Another file needs each export: an export is a promise, and an unused export promises nothing.
import t from 'tap';
import { unusedExports } from './support/exports.ts';
import { readSources, type Source } from './support/sources.ts';

const exporting = (text: string): Source => ({ path: 'server/a.ts', text });
const importing = (text: string): Source => ({ path: 'server/kubernetes/b.ts', text });

for (const [reason, a, b, unused] of [
  ['no file imports it', 'export function used() {}', 'const used = 1;', ['used']],
  ['it is imported', 'export function used() {}', "import { used } from '../a.ts';", []],
  ['as a type', 'export interface Used {}', "import { type Used } from '../a.ts';", []],
  ['among types', 'export type Used = 1;', "import type { One, Used } from '../a.ts';", []],
  ['under another name', 'export const used = 1;', "import { used as mine } from '../a.ts';", []],
  ['from another file of that name', 'export const used = 1;', "import { used } from './a.ts';", ['used']],
  ['when needed', 'export class Used {}', "const { Used } = await import('../a.ts');", []],
  ['when needed, by its name', 'export const used = 1;', "(await import('../a.ts')).used();", []],
  ['all of it', 'export const used = 1;', "import * as a from '../a.ts';", []],
  ['a list', 'const one = 1;\nconst two = 2;\nexport { one, two as three };', "import { three } from '../a.ts';", ['one']],
  ['prose is no export', '// export const used\nconst text = `\nexport const used = 1;\n`;', '', []],
] as const)
  t.test(`found or not: ${reason}`, async (t) => {
    t.same(
      unusedExports([exporting(a)], [exporting(a), importing(b)]).map(({ name }) => name),
      unused,
    );
  });

const all = readSources('hooks', 'cli', 'server', 'schemas', 'scripts', 'test');

t.test('every export is named by another file', async (t) => {
  t.ok(all.length > 400);
  t.same(unusedExports(all, all), []);
});
