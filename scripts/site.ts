// `npm run site`: builds the documentation site into build/site from the pages of the repository. A link that leads nowhere, or a page that
// no index names, fails the build. The first build installs the generator; later builds need no network. An
// argument names the folder of another repository.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { installGenerator } from './site/install.ts';
import { faultsOf, pagesIn } from './site/pages.ts';
import { stage } from './site/stage.ts';

const root = process.argv[2] ?? join(import.meta.dirname, '..');
const folder = join(root, 'build/pages');
const out = join(root, 'build/site');

process.exitCode = await main();

async function main(): Promise<number> {
  const pages = pagesIn(root);
  const faults = faultsOf(pages);
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) return 1;
  const program = await installGenerator((line) => console.error(line));
  const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const address = repository.url.replace(/^git\+|\.git$/g, '');
  stage(pages, { folder, modules: resolve(program, '../../..'), out, repository: address });
  const building = spawn(process.execPath, [program, 'build', folder], { stdio: ['ignore', 2, 2] });
  const [code] = await once(building, 'close');
  if (code === 0) console.log(`${pages.paths.length} pages are in ${out}`);
  return code ?? 1;
}
