// The commands in the documents: a test types each one, or docs/commands.md gives the reason why no test does.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import t from 'tap';
import {
  type Block,
  blocksOf,
  documents,
  isTypedAsHowTo,
  isTypedInDemo,
  missingIn,
  readDocument as read,
  root,
  unwrapped,
} from '../support/pages.ts';

/** The sections of docs/runbooks.md whose commands a test types. */
const followed = [...read('docs/runbooks.md').matchAll(/^## (.+)\n\n\*\*\(followed\)\*\*/gm)].map(([, title]) => title);

/** Which blocks a test types. */
const typing: Readonly<Record<string, (block: Block) => boolean>> = {
  'test/demo.test.ts': (block) => isTypedInDemo(block) || isTypedAsHowTo(block),
  'test/monitoring/runbooks.test.ts': ({ document, section }) => document === 'docs/runbooks.md' && followed.includes(section),
  'test/threats/rotation.test.ts': ({ document }) => document === 'docs/sealing.md',
};

const blocks = documents.flatMap(blocksOf);
const isTyped = (block: Block): boolean => Object.values(typing).some((types) => types(block));
const untyped = blocks
  .filter((block) => !isTyped(block))
  .flatMap(({ document, commands }) => commands.map((command) => ({ document, ...command })));

const [, table = ''] = read('docs/commands.md').split(/^\| -+ \|.*\n/m);
const rows = [...table.matchAll(/^\| `(\S+)` +\| `([^`]*)`[` ]* +\| (.+?) +\|$/gm)].map(
  ([, document = '', beginning = '', reason = '']) => ({ document, beginning, reason }),
);

t.test('each command of a document is typed by a test, or its row says why not', async (t) => {
  t.equal(rows.length, table.trim().split('\n').length, 'every row is read');
  for (const { document, line, text } of untyped) {
    const found = rows.some((row) => row.document === document && text.startsWith(row.beginning));
    t.ok(found, `${document}:${line}: ${text}: add a row to docs/commands.md, or a test`);
  }
  const all = blocks.flatMap(({ commands }) => commands).length;
  const counted = `Tests type ${all - untyped.length} of ${all} commands.`;
  const page = read('docs/commands.md').replace(/^Tests type \d+ of \d+ commands\./m, counted);
  if (process.env.JANUS_WRITE_DOCS === '1') writeFileSync(join(root, 'docs/commands.md'), page);
  t.ok(
    read('docs/commands.md').includes(counted),
    `${counted} JANUS_WRITE_DOCS=1 npm test -- test/documents/commands.test.ts writes it`,
  );
});

t.test('each script that a document names anywhere is in docs/commands.md', async (t) => {
  const ours = read('docs/commands.md');
  const named = documents
    .filter((document) => document !== 'docs/commands.md')
    .flatMap((document) => [...read(document).matchAll(/npm run (?:-s )?([a-z][a-z:-]*[a-z])/g)].map(([, name = '']) => name));
  t.ok(named.length > 20);
  t.same(
    [...new Set(named)].filter((name) => !ours.includes(`\`npm run ${name}`)),
    [],
  );
});

t.test('each row has an existing command, and names existing files', async (t) => {
  for (const { document, beginning, reason } of rows) {
    t.ok(
      untyped.some((command) => command.document === document && command.text.startsWith(beginning)),
      `${document}: ${beginning}`,
    );
    for (const [, path = ''] of reason.matchAll(/`((?:test|docs)\/[^`]+)`/g)) t.ok(existsSync(join(root, path)), path);
  }
});

t.test('a block has its exit code, and the output below it, of a terminal if it is marked', async (t) => {
  const found = blocks.filter(isTypedInDemo);
  t.ok(found.filter(({ isScreen }) => isScreen).length >= 6);
  t.ok(found.filter(({ output, isScreen }) => output !== undefined && !isScreen).length >= 8);
  t.ok(found.some(({ exits }) => exits === 3));
});

t.test('a test that types blocks reads their documents, and there are such blocks', async (t) => {
  for (const [test, types] of Object.entries(typing)) {
    const found = blocks.filter(types);
    t.ok(found.length > 0, test);
    const names = [...new Set(found.map(({ document }) => document))];
    for (const name of names) t.match(read(test), name, `${test}: ${name}`);
  }
});

t.test('the output that a page shows is compared line by line, without what differs in each run', async (t) => {
  const shown = 'a 0:01\n…\nPod web-1-abcde: at 2026-01-01T00:00:00Z\nend';
  t.equal(missingIn('a 0:07\nb\nc\nPod web-2-fghij: at 2026-11-26T19:02:55Z\nend\n', shown), undefined);
  t.equal(missingIn('a 0:07\nb\n', shown), 'Pod web-POD: at TIME');
  t.equal(missingIn('one\ntwo\n', 'one'), 'nothing more, but two');
  t.equal(missingIn('one\ntwo\n', 'one\n…'), undefined);
  t.equal(missingIn('one\nthree\n', 'one\ntwo'), 'two');
  const screen = (pod: string) => `✗ r-1 failed: Pod\n  web-1-${pod}: it waits\n  for an image.\n  2 objects are as before.`;
  t.equal(missingIn(unwrapped(screen('fghij')), unwrapped(screen('abcde'))), undefined);
  t.equal(unwrapped(screen('abcde')), '✗ r-1 failed: Pod web-1-abcde: it waits for an image.\n  2 objects are as before.');
  t.equal(missingIn('NAME   AGE\nr      3m4s\n', 'NAME   AGE\nr      14s'), undefined);
});
