// docs/threats.md against the tests: each threat is there once, and every test that it names exists, by file and by words.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'threats.md'), 'utf8');

/** Rows of a table: the letter, the number and the title in the first column, the tests in the last one. */
const rows = [...page.matchAll(/^\| \*\*([TN])(\d+)\*\* (.*?) +\| (.*) \| (.*?) +\|$/gm)].map(
  ([, letter = '', number = '', title = '', , tests = '']) => ({ letter, number: Number(number), title, tests }),
);

function numbersOf(letter: string): readonly number[] {
  return rows.filter((row) => row.letter === letter).map(({ number }) => number);
}

function upTo(last: number): readonly number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}

t.test('the document lists every threat once', async (t) => {
  t.same(numbersOf('T'), upTo(36));
});

t.test('the document lists every input of other writers once', async (t) => {
  t.same(numbersOf('N'), upTo(21));
});

/** `path`: words of a test in it. */
const named = /((?:`test\/[\w./-]+\.test\.ts`(?: and )?)+)(?:: ([^.`]+))?/g;

for (const { letter, number, title, tests } of rows)
  t.test(`${letter}${number} ${title}`, async (t) => {
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
