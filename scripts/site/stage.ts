// Copies the pages to a folder outside git, as the generator reads them: its names for indexes, links to sources as addresses, no marks.
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { anchorOf, type Pages, pathOf, withLinks } from './pages.ts';

interface Stage {
  /** The folder, which is emptied first. */
  readonly folder: string;
  /** The folder of modules that the generator is in. */
  readonly modules: string;
  readonly out: string;
  /** The address of the repository. */
  readonly repository: string;
}

/** The generator serves index.md of a folder at the address of the folder. */
const staged = (path: string): string => path.replace(/(?<=^|\/)README\.md$/, 'index.md');

export function stage(pages: Pages, place: Stage): void {
  rmSync(place.folder, { recursive: true, force: true });
  for (const path of pages.paths) write(join(place.folder, staged(path)), textOf(pages, path, place.repository));
  for (const path of globSync('docs/images/*.svg', { cwd: pages.root })) cpSync(join(pages.root, path), join(place.folder, path));
  write(join(place.folder, 'docs/decisions/index.md'), decisionsOf(pages));
  write(join(place.folder, '.vitepress/config.mjs'), configOf(pages, place));
  // The generator otherwise reads the one of the project.
  write(join(place.folder, 'tsconfig.json'), '{}\n');
  symlinkSync(place.modules, join(place.folder, 'node_modules'));
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const read = ({ root }: Pages, path: string): string => readFileSync(join(root, path), 'utf8');

/** A page as the generator reads it. */
export function textOf(pages: Pages, page: string, repository: string): string {
  const withoutMarks = read(pages, page).replaceAll(/^```[\s\S]*?^```|^<!-- .* -->\n/gm, (match) =>
    match.startsWith('`') ? match : '',
  );
  return withLinks(withoutMarks, (target) => {
    const path = pathOf(page, target);
    const isServed = pages.paths.includes(path) || path === 'docs/decisions' || path.endsWith('.svg');
    if (!isServed) return `${repository}/blob/main/${path}`;
    return target.replace(/README\.md/, 'index.md').replace(/^decisions\/?$/, 'decisions/index.md');
  });
}

function titleOf(pages: Pages, path: string): string {
  return /^# (.+)$/m.exec(read(pages, path))?.[1] ?? path;
}

function decisionsOf(pages: Pages): string {
  const records = pages.paths.filter((path) => path.startsWith('docs/decisions/'));
  return `# Decisions\n\n${records.map((path) => `- [${titleOf(pages, path)}](${basename(path)})`).join('\n')}\n`;
}

interface Group {
  readonly text: string;
  readonly items: readonly { readonly text: string; readonly link: string }[];
}

/** The index by question, as the menu of the site. */
export function menuOf(pages: Pages): readonly Group[] {
  const index = 'docs/README.md';
  const groups = read(pages, index).split(/^\| \*\*/m);
  return groups.slice(1).map((group) => {
    const rows = [...group.matchAll(/^\| ([A-Z][^|]*?) +\| \[[^\]]*\]\(([^)]+)\)/gm)];
    const items = rows.map(([, text = '', target = '']) => {
      const [, anchor] = target.split('#');
      const path = staged(pathOf(index, target)).replace(/(?:index)?\.md$/, '');
      const folder = path.endsWith('decisions') ? '/' : '';
      return { text, link: `/${path}${folder}${anchor === undefined ? '' : `#${anchor}`}` };
    });
    return { text: group.split('**')[0] ?? '', items };
  });
}

function configOf(pages: Pages, { out, repository }: Stage): string {
  const config = {
    title: 'Janus',
    description: 'Several Kubernetes changes as one unit',
    base: `/${basename(repository)}/`,
    outDir: out,
    cleanUrls: true,
    themeConfig: {
      search: { provider: 'local' },
      nav: [
        { text: 'Tutorial', link: '/docs/tutorial' },
        { text: 'All pages', link: '/docs/' },
      ],
      sidebar: menuOf(pages).map((group) => ({ ...group, collapsed: false })),
      outline: 'deep',
      socialLinks: [{ icon: 'github', link: repository }],
    },
  };
  // GitHub shows these pages, too: anchors are as there, and neither bare names, braces nor HTML have a meaning of their own.
  return `const anchorOf = ${anchorOf};
export default { ...${JSON.stringify(config, null, 2)}, markdown: { html: false, linkify: false, attrs: { disable: true }, anchor: { slugify: anchorOf } } };
`;
}
