// The commands in the documents: a test types each one, or docs/commands.md gives the reason why no test does.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import t from 'tap';
import {
  blocksFor,
  blocksOf,
  documents,
  isListed,
  listed,
  missingIn,
  readDocument as read,
  root,
  typists,
  typistsOf,
  unwrapped,
} from '../support/pages.ts';
import { typed } from '../support/typing.ts';

const blocks = documents.flatMap((document) => blocksOf(document));
const commands = blocks.flatMap((block) => block.commands.map((command) => ({ block, ...command })));
const leftOut = commands.filter(({ block, text }) => isListed(block.document, text));

t.test('each command of a document is typed by a test, or its row says why not', async (t) => {
  const [, table = ''] = read('docs/commands.md').split(/^\| -+ \|.*\n/m);
  t.equal(listed.length, table.trim().split('\n').length, 'every row is read');
  for (const { block, line, text } of commands.filter((command) => !leftOut.includes(command)))
    t.equal(typistsOf(block).length, 1, `${block.document}:${line}: ${text}: add a row to docs/commands.md, or a test`);
  const counted = `Tests type ${commands.length - leftOut.length} of ${commands.length} commands.`;
  const page = read('docs/commands.md').replace(/^Tests type \d+ of \d+ commands\./m, counted);
  if (process.env.JANUS_WRITE_DOCS === '1') writeFileSync(join(root, 'docs/commands.md'), page);
  t.ok(
    read('docs/commands.md').includes(counted),
    `${counted} JANUS_WRITE_DOCS=1 npm test -- test/documents/commands.test.ts writes it`,
  );
});

t.test('a command that no test types names scripts and tests that exist', async (t) => {
  const { scripts } = JSON.parse(read('package.json'));
  for (const { block, line, text } of leftOut) {
    const at = `${block.document}:${line}: ${text}`;
    for (const [, name = ''] of text.matchAll(/\bnpm run ([a-z:-]+)/g)) t.ok(scripts[name], at);
    for (const [path] of text.matchAll(/\btest\/[\w./-]+/g)) t.ok(existsSync(join(root, path)), at);
  }
});

t.test('a test types each script that a document names anywhere, or docs/commands.md says why not', async (t) => {
  const scriptsIn = (text: string) => [...text.matchAll(/npm run (?:-s )?([a-z][a-z:-]*[a-z])/g)].map(([, name = '']) => name);
  const named = new Set(documents.flatMap((document) => scriptsIn(read(document))));
  const known = [read('docs/commands.md'), ...commands.map(({ text }) => text)].flatMap(scriptsIn);
  t.ok(named.size > 20);
  t.same(
    [...named].filter((name) => !known.includes(name)),
    [],
  );
});

t.test('each row has an existing command, and names existing files', async (t) => {
  for (const { document, beginning, reason } of listed) {
    t.ok(
      commands.some(({ block, text }) => block.document === document && text.startsWith(beginning)),
      `${document}: ${beginning}`,
    );
    for (const [, path = ''] of reason.matchAll(/`((?:test|docs)\/[^`]+)`/g)) t.ok(existsSync(join(root, path)), path);
  }
});

t.test('a block has its exit code, and the output below it, of a terminal if it is marked', async (t) => {
  const found = ['README.md', 'docs/tutorial.md'].flatMap((document) => blocksOf(document));
  t.ok(found.filter(({ isScreen }) => isScreen).length >= 6);
  t.ok(found.filter(({ output, isScreen }) => output !== undefined && !isScreen).length >= 8);
  t.ok(found.some(({ exits }) => exits === 3));
});

t.test('each test that types blocks exists, and each of its blocks exists', async (t) => {
  for (const test of typists) {
    t.ok(existsSync(join(root, test)), test);
    t.ok(blocksFor(test).length > 0, test);
  }
});

t.test('a command that no longer exists, and an output that changed, are named with page and lines', async (t) => {
  const folder = t.testdir({
    'page.md':
      '# Page\n\n```sh\nls\njanus-of-yesterday\n```\n\n<!-- exits 2 -->\n```sh\ntrue\n```\n\n```sh\necho one\necho two\n```\n\n```text\none\n2\n```\n',
  });
  const page = join(folder, 'page.md');
  const faults: string[] = [];
  for (const block of blocksOf(page)) faults.push((await typed(t, block, { folder, env: {} })).fault ?? '');
  t.match(faults, [
    `${page}:4-5: janus-of-yesterday: expected exit code 0, found 127:\npage.md\n`,
    `${page}:10: true: expected exit code 2, found 0:\n`,
    `${page}:14-15: echo two: expected the line 2, found:\none\ntwo\n`,
  ]);
  t.match(faults[0], /janus-of-yesterday: (?:command )?not found/);
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
