// The links of the documents lead somewhere, and the index names every page.
import { existsSync, globSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import t from 'tap';
import { documents, readDocument, root } from '../support/pages.ts';

const pages = [...documents, ...globSync('docs/decisions/*.md', { cwd: root })];

interface Link {
  readonly page: string;
  readonly line: number;
  readonly target: string;
}

/** The links of a page to files of the repository, outside code. */
function linksOf(page: string): readonly Link[] {
  const prose = readDocument(page).replaceAll(/^```[\s\S]*?^```/gm, (code) => code.replaceAll(/[^\n]/g, ''));
  return prose.split('\n').flatMap((text, index) => {
    const targets = [...text.replaceAll(/`[^`]*`/g, '').matchAll(/\]\((?!https?:)([^)]+)\)/g)];
    return targets.map(([, target = '']) => ({ page, line: index + 1, target }));
  });
}

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string): readonly string[] {
  const headings = [...readDocument(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title);
  return headings.map((title) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** What is wrong with a link; undefined if it leads somewhere. */
function faultOf({ page, line, target }: Link): string | undefined {
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? page : normalize(join(dirname(page), file));
  if (!existsSync(join(root, path))) return `${page}:${line}: ${target}: there is no ${path}`;
  if (anchor === undefined || anchorsOf(path).includes(anchor)) return undefined;
  return `${page}:${line}: ${target}: ${path} has no heading with the anchor #${anchor}`;
}

t.test('each link leads to a file, and to a heading of it', async (t) => {
  const links = pages.flatMap(linksOf);
  t.ok(links.length > 200, `${links.length} links`);
  t.same(
    links.map(faultOf).filter((fault) => fault !== undefined),
    [],
  );
});

t.test('a link that leads nowhere is named with its page and line', async (t) => {
  const link = { page: 'docs/cli.md', line: 7 };
  t.equal(faultOf({ ...link, target: 'gone.md' }), 'docs/cli.md:7: gone.md: there is no docs/gone.md');
  const fault = 'docs/cli.md:7: ../README.md#gone: README.md has no heading with the anchor #gone';
  t.equal(faultOf({ ...link, target: '../README.md#gone' }), fault);
  t.equal(faultOf({ ...link, target: '#exit-codes' }), undefined);
});

t.test('docs/README.md names every page of docs', async (t) => {
  const named = linksOf('docs/README.md').map(({ target }) => target.split('#')[0]);
  const missing = globSync('docs/*.md', { cwd: root }).filter((page) => !named.includes(page.slice('docs/'.length)));
  t.same(missing, ['docs/README.md'], 'add a row with the question that the page answers');
});

t.test('docs/concepts.md is short', async (t) => {
  const written = readDocument('docs/concepts.md').replace(/<!-- transitions -->[\s\S]*?<!-- end -->/, '');
  const words = written.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
  t.ok(words.length <= 900, `${words.length} words`);
});

t.test(
  'docs/comparison.md has an answer of each tool to each question, with a link into a fixed version, or says that none was found',
  async (t) => {
    const [head = '', ...sections] = readDocument('docs/comparison.md').split(/^## /m);
    const cellsOf = (text: string): readonly (readonly string[])[] =>
      [...text.matchAll(/^\| ([A-Z]\w[^|]*|nelm|kapp) +\|([^|]+)\|([^|]*)\|/gm)].map((row) =>
        row.slice(1).map((cell) => cell.trim()),
      );
    const tools = ['Janus', ...cellsOf(head).map(([tool = '']) => tool)];
    t.same(tools, ['Janus', 'Helm 4', 'kapp', 'Argo CD', 'Flux', 'nelm']);
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
