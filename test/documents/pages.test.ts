// The links of the documents lead somewhere, and the index names every page.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { faultOf, faultsOf, linksOf, pagesIn } from '../../scripts/site/pages.ts';
import { menuOf, textOf } from '../../scripts/site/stage.ts';
import { readDocument, root } from '../support/pages.ts';

const pages = pagesIn(root);

t.test('each link leads to a file, and to a heading of it; an index names each page', async (t) => {
  const links = pages.paths.flatMap((page) => linksOf(pages, page));
  t.ok(links.length > 200, `${links.length} links`);
  t.same(faultsOf(pages), []);
});

t.test('a link that leads nowhere is named with its page and line', async (t) => {
  const link = { page: 'docs/cli.md', line: 7 };
  t.equal(faultOf(pages, { ...link, target: 'gone.md' }), 'docs/cli.md:7: gone.md: there is no docs/gone.md');
  const fault = 'docs/cli.md:7: ../README.md#gone: README.md has no heading with the anchor #gone';
  t.equal(faultOf(pages, { ...link, target: '../README.md#gone' }), fault);
  t.equal(faultOf(pages, { ...link, target: '#exit-codes' }), undefined);
});

const folder = t.testdir({
  'a.ts': '',
  docs: {
    'README.md': '# All\n\n| **Begin** | |\n| How? | [how.md](how.md#one) |\n| Why? | [decisions](decisions) |\n',
    'how.md':
      '<!-- mark -->\n# How\n\n## One\n\n[a](../a.ts), [all](README.md), `[no](link.md)`\n\n```text\n<!-- kept -->\n[no](link.md)\n```\n',
    decisions: { '0001-one.md': '# 1. One\n' },
  },
});

t.test('a page that no index names is named with the index, and so is each link that leads nowhere', async (t) => {
  t.same(faultsOf(pagesIn(folder)), []);
  writeFileSync(join(folder, 'docs/new.md'), '# New\n\n[gone](gone.md)\n');
  const faults = [
    'docs/new.md:3: gone.md: there is no docs/gone.md',
    'docs/new.md: docs/README.md does not name it: add a row with the question that it answers',
  ];
  t.same(faultsOf(pagesIn(folder)), faults);
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/site.ts'), folder], { encoding: 'utf8' });
  t.same([status, stderr], [1, `${faults.join('\n')}\n`], 'the build of the site fails');
});

t.test('the site has the index as its menu, links to sources by address, and code as it is', async (t) => {
  const text = textOf(pagesIn(folder), 'docs/how.md', 'https://example.org/janus');
  const prose = '# How\n\n## One\n\n[a](https://example.org/janus/blob/main/a.ts), [all](index.md), `[no](link.md)`\n\n';
  t.equal(text, `${prose}\`\`\`text\n<!-- kept -->\n[no](link.md)\n\`\`\`\n`);
  const items = [
    { text: 'How?', link: '/docs/how#one' },
    { text: 'Why?', link: '/docs/decisions/' },
  ];
  t.same(menuOf(pagesIn(folder)), [{ text: 'Begin', items }]);
  t.ok(menuOf(pages).flatMap((group) => group.items).length > 30);
});

t.test('docs/concepts.md is short', async (t) => {
  const written = readDocument('docs/concepts.md').replace(/<!-- transitions -->[\s\S]*?<!-- end -->/, '');
  const words = written.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
  t.ok(words.length <= 900, `${words.length} words`);
});

t.test(
  'docs/comparison.md has an answer of each tool to each question, with a link into a fixed version, or says that none was found',
  async (t) => {
    const [head = '', ...all] = readDocument('docs/comparison.md').split(/^## /m);
    // The table of `npm run compare` has columns of its own (test/compare.test.ts).
    const sections = all.filter((section) => !section.startsWith('Measured\n'));
    const cellsOf = (text: string): readonly (readonly string[])[] =>
      [...text.matchAll(/^\| ([A-Z]\w[^|]*|nelm|kapp|katomik|aalpar\/janus) +\|([^|]+)\|([^|]*)\|/gm)].map((row) =>
        row.slice(1).map((cell) => cell.trim()),
      );
    const tools = ['Janus', ...cellsOf(head).map(([tool = '']) => tool)];
    t.same(tools, ['Janus', 'aalpar/janus', 'Helm 4', 'katomik', 'kapp', 'Argo CD', 'Flux', 'nelm']);
    t.ok(sections.length >= 10);
    for (const section of sections) {
      const cells = cellsOf(section);
      t.same(
        cells.map(([tool]) => tool),
        tools,
        section.slice(0, section.indexOf('\n')),
      );
      for (const [tool, answer = '', where = ''] of cells)
        t.ok(where !== '' || answer.startsWith('Not found'), `${tool}: ${answer}`);
    }
    const sources = sections.flatMap((section) => section.match(/https:[^)]+/g) ?? []);
    for (const source of sources)
      t.match(source, /^https:\/\/github\.com\/[\w-]+\/[\w-]+\/blob\/(?:v\d+\.\d+\.\d+|[0-9a-f]{40})\//);
  },
);
