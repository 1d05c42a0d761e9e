// The documentation site as `npm run site` builds it, without a network: its links lead to pages and headings, and it can be searched.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { installGenerator } from '../../scripts/site/install.ts';
import { pagesIn } from '../../scripts/site/pages.ts';
import { root } from '../support/pages.ts';

const out = join(root, 'build/site');
const base = '/janus-on-metacontroller/';

await installGenerator((line) => t.comment(line));
const offline = { ...process.env, NODE_OPTIONS: `--import=${join(import.meta.dirname, 'without-network.mjs')}` };
const built = spawnSync(process.execPath, [join(root, 'scripts/site.ts')], { encoding: 'utf8', env: offline });

t.test('the build needs no network, and makes a file of each page', async (t) => {
  t.equal(built.status, 0, built.stderr);
  for (const path of pagesIn(root).paths) {
    const file = path.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html');
    t.ok(existsSync(join(out, file)), file);
  }
});

const files = globSync('**/*.html', { cwd: out });
const text = new Map(files.map((file) => [file, readFileSync(join(out, file), 'utf8')]));

/** The file that an address of the site is served from. */
function fileOf(path: string): string | undefined {
  const inside = path.slice(base.length);
  return [inside, `${inside}.html`, `${inside}index.html`, `${inside}/index.html`].find((file) => text.has(file));
}

t.test('each link of the site leads to a page, and to a heading of it', async (t) => {
  const links = [...text].flatMap(([file, html]) =>
    [...html.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => ({ file, to: new URL(href, `http://site${base}${file}`) })),
  );
  const inside = links.filter(({ to }) => to.host === 'site' && !/\/assets\/|\.(?:css|svg)$/.test(to.pathname));
  t.ok(inside.length > 2000, `${inside.length} links`);
  const wrong = inside.filter(({ to }) => {
    const file = fileOf(to.pathname);
    return file === undefined || (to.hash !== '' && !text.get(file)?.includes(`id="${decodeURIComponent(to.hash.slice(1))}"`));
  });
  t.same([...new Set(wrong.map(({ file, to }) => `${file}: ${to.pathname}${to.hash}`))], []);
  const sources = links.filter(({ to }) => to.href.startsWith('https://github.com/janus-io/'));
  for (const { to } of sources) {
    const [, path = ''] = to.pathname.split('/blob/main/');
    t.ok(existsSync(join(root, decodeURIComponent(path))), to.href);
  }
});

t.test('it can be searched, and loads nothing from other hosts', async (t) => {
  const [index = ''] = globSync('assets/chunks/*localSearchIndex*.js', { cwd: out });
  t.match(readFileSync(join(out, index), 'utf8'), 'janus undo');
  for (const [file, html] of text) t.notMatch(html, /<(?:script|img|link)[^>]+(?:src|href)="https?:/, file);
});
