// The pages of the documentation, their links, and what is wrong with them: a link that leads nowhere, a page that no index names.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const patterns = ['*.md', 'docs/**/*.md', 'charts/**/*.md', 'examples/**/*.md', 'test/*.md'];

/** The pages that list others by question. */
const indexes = ['docs/README.md', 'README.md'] as const;

/** A repository, and its pages by their paths in it. */
export interface Pages {
  readonly root: string;
  readonly paths: readonly string[];
}

interface Link {
  readonly page: string;
  readonly line: number;
  readonly target: string;
}

export function pagesIn(root: string): Pages {
  return { root, paths: patterns.flatMap((pattern) => globSync(pattern, { cwd: root }).toSorted()) };
}

/** Code, which holds no links; or the target of a link that is not to a foreign host. */
const codeOrLink = /^```[\s\S]*?^```|`[^`\n]*`|(?<=\]\()(?!https?:)[^)\s]+(?=\))/gm;

/** Replaces the targets of the links of a page. */
export function withLinks(text: string, replace: (target: string) => string): string {
  return text.replaceAll(codeOrLink, (match) => (match.startsWith('`') ? match : replace(match)));
}

/** The links of a page to files of the repository. */
export function linksOf({ root }: Pages, page: string): readonly Link[] {
  const text = readFileSync(join(root, page), 'utf8');
  const found = [...text.matchAll(codeOrLink)].filter(([match]) => !match.startsWith('`'));
  return found.map((match) => ({ page, line: text.slice(0, match.index).split('\n').length, target: match[0] }));
}

/** The path in the repository that a link leads to. */
export function pathOf(page: string, target: string): string {
  const [file = ''] = target.split('#');
  return file === '' ? page : normalize(join(dirname(page), file)).replace(/\/$/, '');
}

/** The anchor that GitHub gives to a heading. */
export function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

/** What is wrong with a link; undefined if it leads somewhere. */
export function faultOf({ root }: Pages, { page, line, target }: Link): string | undefined {
  const path = pathOf(page, target);
  if (!existsSync(join(root, path))) return `${page}:${line}: ${target}: there is no ${path}`;
  const [, anchor] = target.split('#');
  if (anchor === undefined) return undefined;
  const titles = [...readFileSync(join(root, path), 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title);
  if (titles.map(anchorOf).includes(anchor)) return undefined;
  return `${page}:${line}: ${target}: ${path} has no heading with the anchor #${anchor}`;
}

/** An index names a page, or the folder of the page. */
function unnamedIn(pages: Pages): readonly string[] {
  const present = indexes.filter((index) => pages.paths.includes(index));
  const named = present.flatMap((index) => linksOf(pages, index)).map(({ page, target }) => pathOf(page, target));
  const isNamed = (path: string): boolean => named.includes(path) || (named.includes(dirname(path)) && dirname(path) !== '.');
  return pages.paths.filter((path) => !indexes.some((index) => index === path) && !isNamed(path));
}

/** What must be corrected before there is a site. */
export function faultsOf(pages: Pages): readonly string[] {
  const [index] = indexes;
  const dead = pages.paths.flatMap((page) => linksOf(pages, page)).map((link) => faultOf(pages, link));
  const unnamed = unnamedIn(pages).map(
    (page) => `${page}: ${index} does not name it: add a row with the question that it answers`,
  );
  return [...dead.filter((fault) => fault !== undefined), ...unnamed];
}
