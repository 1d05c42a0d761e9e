// The commands in the documents: a test types each one, or docs/commands.md gives the reason why no test does.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const documents = ['*.md', 'docs/*.md', 'charts/**/*.md', 'examples/**/*.md', 'test/*.md'].flatMap((pattern) =>
  globSync(pattern, { cwd: root }),
);

/** What of a document a test types, and which one. */
const typed: Readonly<Record<string, { readonly test: string; readonly section: RegExp }>> = {
  'README.md': { test: 'test/demo.test.ts', section: /^Use\n/ },
  'docs/runbooks.md': { test: 'test/monitoring/runbooks.test.ts', section: /^[^\n]*\n\n\*\*\(followed\)\*\*/ },
  'docs/sealing.md': { test: 'test/threats/rotation.test.ts', section: /(?:)/ },
};

/** The lines of blocks of shell, each with what it is continued by, without the blocks that a test types. */
function commandsOf(document: string): readonly string[] {
  const sections = read(document).split(/^## /m);
  const rest = sections.filter((section) => typed[document]?.section.test(section) !== true);
  const blocks = rest.flatMap((section) => [...section.matchAll(/^```(?:sh|bash|shell|console)\n([\s\S]*?)^```/gm)]);
  return blocks.flatMap(([, block = '']) =>
    block
      .replaceAll(/\\\n\s*/g, '')
      .split('\n')
      .filter((line) => line.trim() !== ''),
  );
}

const [, table = ''] = read('docs/commands.md').split(/^\| -+ \|.*\n/m);
const rows = [...table.matchAll(/^\| `(\S+)` +\| `([^`]*)`[` ]* +\| (.+?) +\|$/gm)].map(
  ([, document = '', beginning = '', reason = '']) => ({ document, beginning, reason }),
);

t.test('each command of a document is typed by a test, or its row says why not', async (t) => {
  t.equal(rows.length, table.trim().split('\n').length, 'every row is read');
  let seen = 0;
  for (const document of documents)
    for (const command of commandsOf(document)) {
      seen += 1;
      const found = rows.some((row) => row.document === document && command.startsWith(row.beginning));
      t.ok(found, `${document}: ${command}: add a row to docs/commands.md, or a test`);
    }
  t.ok(seen > 50);
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
      commandsOf(document).some((command) => command.startsWith(beginning)),
      `${document}: ${beginning}`,
    );
    for (const [, path = ''] of reason.matchAll(/`((?:test|docs)\/[^`]+)`/g)) t.ok(existsSync(join(root, path)), path);
  }
});

t.test('a test that types a document reads it', async (t) => {
  for (const [document, { test }] of Object.entries(typed)) t.match(read(test), document, test);
});
