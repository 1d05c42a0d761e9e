// Documents with lists agree with the code.
import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { parse } from 'yaml';

const docs = new URL('../../docs/', import.meta.url);
const manifest = JSON.parse(readFileSync(new URL('../package.json', docs), 'utf8'));

t.test('docs/dependencies.md names each dependency, and no other', async (t) => {
  const [, run = '', develop = ''] = readFileSync(new URL('dependencies.md', docs), 'utf8').split(/^## /m);
  const named = (section: string): readonly string[] =>
    [...section.matchAll(/^\| ([@\w/-]*\w) +\|(?! for )/gm)].map(([, name = '']) => name);
  t.same(named(run).toSorted(), Object.keys(manifest.dependencies).sort());
  t.same(named(develop).toSorted(), Object.keys(manifest.devDependencies).sort());
});

t.test('each decision has a record of three parts, or one that includes it, and links lead to records', async (t) => {
  const files = readdirSync(new URL('decisions/', docs)).sort();
  const numbers: number[] = [];
  for (const file of files) {
    const text = readFileSync(new URL(`decisions/${file}`, docs), 'utf8');
    const number = Number(file.slice(0, 4));
    const included = /\n\nIt includes decisions? ([\d, and]+)\.\n/.exec(text)?.[1] ?? '';
    numbers.push(number, ...(included.match(/\d+/g) ?? []).map(Number));
    t.match(file, /^\d{4}-[a-z0-9-]+\.md$/);
    t.match(text, new RegExp(`^# ${number}\\. .+\n\nStatus: accepted\n`), file);
    t.same(
      [...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title),
      ['Context', 'Decision', 'Consequences'],
      file,
    );
  }
  t.same(
    numbers.toSorted((left, right) => left - right),
    Array.from({ length: 55 }, (_, index) => index + 1),
  );
  const pages = ['../README.md', '../SECURITY.md', '../CONTRIBUTING.md', ...readdirSync(docs, { recursive: true })];
  for (const page of pages.map(String).filter((name) => name.endsWith('.md')))
    for (const [, name = ''] of readFileSync(new URL(page, docs), 'utf8').matchAll(/\]\([^)]*?(\d{4}-[a-z0-9-]+\.md)/g))
      t.ok(files.includes(name), `${page}: ${name}`);
});

t.test(
  'the Pods request the memory that a thousand Transactions at once were measured to take, and are allowed all peaks',
  async (t) => {
    const figures = readFileSync(new URL('performance.md', docs), 'utf8');
    t.match(figures, /^npm run bench -- --rows .*thousand, thousand-again/m, 'the command that prints them');
    const thousand = [...figures.matchAll(/^\|.*memory of the hook.*\(([\d.]+) MiB\).*\| `(thousand\S*)`/gm)];
    t.same(
      thousand.map(([, , row]) => row),
      ['thousand', 'thousand-again'],
    );
    const [, largest] = /^\| 10 MiB in 12 sources, the hook's peak +\| (\d+) MiB/m.exec(figures) ?? [];
    const peak = Math.max(...thousand.map(([, mebibytes]) => Number(mebibytes)));
    const text = readFileSync(new URL('../manifests/deployment.yaml', docs), 'utf8');
    const { requests, limits } = parse(text).spec.template.spec.containers[0].resources;
    const requested = Number.parseInt(requests.memory, 10);
    t.same([requests.memory, limits.memory], [`${requested}Mi`, `${Number.parseInt(limits.memory, 10)}Mi`]);
    t.ok(requested >= peak && requested < 1.1 * peak, `${requested} MiB for ${peak}`);
    t.ok(Number.parseInt(limits.memory, 10) > Number(largest), `${limits.memory} for ${largest} MiB`);
  },
);
