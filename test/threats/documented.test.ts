// docs/threats.md against the tests: each threat is there once, and every test that it names exists, by file and by words.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '..', '..');
const rows = [
  ...readFileSync(join(root, 'docs', 'threats.md'), 'utf8').matchAll(/^\| \*\*T(\d+)\*\* (.*?) +\| (.*?) +\| (.*?) +\|$/gm),
].map(([, number = '', threat = '', , tests = '']) => ({ number: Number(number), threat, tests }));

t.test('every threat is there once', async (t) => {
  const numbers = Array.from({ length: 20 }, (_, index) => index + 1).filter((number) => number !== 18);
  t.same(
    rows.map(({ number }) => number),
    numbers,
  );
});

/** `path`: words of a test in it. */
const named = /((?:`test\/[\w./-]+\.test\.ts`(?: and )?)+)(?:: ([^.`]+))?/g;

for (const { number, threat, tests } of rows)
  t.test(`T${number} ${threat}`, async (t) => {
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
