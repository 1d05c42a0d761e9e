// Documents that list something agree with what is there.
import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';

const docs = new URL('../../docs/', import.meta.url);
const manifest = JSON.parse(readFileSync(new URL('../package.json', docs), 'utf8'));

t.test('docs/dependencies.md names each dependency, and no other', async (t) => {
  const [, run = '', develop = ''] = readFileSync(new URL('dependencies.md', docs), 'utf8').split(/^## /m);
  const named = (section: string): readonly string[] =>
    [...section.matchAll(/^\| ([@\w/-]*\w) +\|(?! for )/gm)].map(([, name = '']) => name);
  t.same(named(run).toSorted(), Object.keys(manifest.dependencies).sort());
  t.same(named(develop).toSorted(), Object.keys(manifest.devDependencies).sort());
});

t.test('decisions are numbered without gaps and have four parts', async (t) => {
  const files = readdirSync(new URL('decisions/', docs)).sort();
  for (const [index, file] of files.entries()) {
    const text = readFileSync(new URL(`decisions/${file}`, docs), 'utf8');
    t.match(file, new RegExp(`^${String(index + 1).padStart(4, '0')}-[a-z0-9-]+\\.md$`));
    t.match(text, new RegExp(`^# ${index + 1}\\. .+\n\nStatus: \\w+\n`), file);
    t.same(
      [...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title),
      ['Context', 'Decision', 'Consequences'],
      file,
    );
  }
});
