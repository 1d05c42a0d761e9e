// docs/threats.md against the tests: each threat is there once, and every test that it names exists, by file and by words.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'threats.md'), 'utf8');

/** Rows of the table: the number and the title in the first column, the tests in the last one. */
const rows = [...page.matchAll(/^\| \*\*T(\d+)\*\* (.*?) +\| (.*) \| (.*?) +\|$/gm)].map(
  ([, number = '', title = '', , tests = '']) => ({ number: Number(number), title, tests }),
);

/** What others can write and the engine reads, as a title names it. */
const inputs = [
  '`transactions/status`',
  '`spec`',
  'annotations of a Transaction',
  'labels, annotations, finalizers, owners',
  'ConfigMaps beside a Transaction',
  'Leases',
  'Secrets, in the engine',
  'Events mislead',
  'discovery',
  'content of targets and of their dependents',
  '`managedFields`, `created-by`',
  'names, uids, versions and times',
  'admission webhooks',
  'body of a call',
  'clocks',
  'ServiceAccount, or its rights',
  'object with a gate',
  'Pods, ReplicaSets, Events or logs',
  'StorageClass',
  'labels of Transactions and ConfigMaps in the namespace of packages',
  'sources of contents',
];

t.test('the document lists every threat once', async (t) => {
  t.same(
    rows.map(({ number }) => number),
    Array.from({ length: 43 }, (_, index) => index + 1),
  );
  t.equal(page.match(/^\| ---/gm)?.length, 1, 'in one table');
});

t.test('the document lists every input of other writers once', async (t) => {
  for (const input of inputs) t.equal(rows.filter(({ title }) => title.includes(input)).length, 1, input);
});

/** `path`: words of a test in it. */
const named = /((?:`test\/[\w./-]+\.test\.ts`(?: and )?)+)(?:: ([^.`]+))?/g;

for (const { number, title, tests } of rows)
  t.test(`T${number} ${title}`, async (t) => {
    const found = [...tests.matchAll(named)];
    t.ok(found.length > 0, 'a test holds it');
    for (const [, files = '', words = ''] of found) {
      for (const path of files.match(/test\/[\w./-]+/g) ?? []) {
        t.ok(existsSync(join(root, path)), path);
        const texts = words === '' ? '' : sourcesBeside(path);
        t.ok(texts.includes(words.trim()), `${path} says "${words.trim()}"`);
      }
    }
  });

// Words stand in the file itself or in the tables beside it.
function sourcesBeside(path: string): string {
  const folder = path.replace(/\.test\.ts$/, '').replace('bad-transactions', 'bad');
  const tables = ['names', 'contents', 'counts', 'targets', 'forged', 'nobody', 'unreadable'].map(
    (name) => `${folder}/${name}.ts`,
  );
  return [path, ...tables]
    .filter((one) => existsSync(join(root, one)))
    .map((one) => readFileSync(join(root, one), 'utf8'))
    .join('\n');
}
