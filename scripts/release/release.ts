// `npm run release -- vX.Y.Z [folder [binaries]]`: makes the assets of a release in that folder (build/release), without network. `binaries`
// is a folder with the archives of all platforms (`npm run pack:binary`). The workflow runs it, and publishes the assets. If it refuses, it prints one sentence, writes nothing, and exits with 1.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { openKustomize } from '../../test/packaging/kustomize.ts';
import { type Assets, makeAssets, notesOf } from './assets.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const manifest = JSON.parse(read('package.json')) as { readonly version: string };

try {
  await release(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`npm run release: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

async function release([tag = '', given = 'build/release', binaries]: readonly string[]): Promise<void> {
  const folder = resolve(root, given);
  const { version } = manifest;
  if (tag !== `v${version}`) throw new Error(`expected the tag v${version}, as in package.json, found "${tag}".`);
  const changelog = read('CHANGELOG.md');
  notesOf(changelog, version);
  if (existsSync(folder)) throw new Error(`${given} exists already: remove it, or name another folder.`);
  const removals: (() => unknown)[] = [];
  const render = await openKustomize({ teardown: (removal) => removals.push(removal) });
  try {
    const sources = { version, changelog, render, commandLine: packedCommandLine() };
    publish(
      await makeAssets({ ...sources, ...(binaries !== undefined && { binaries: filesIn(resolve(root, binaries)) }) }),
      folder,
    );
  } finally {
    for (const remove of removals) await remove();
  }
  process.stdout.write(`${globSync('*', { cwd: folder }).sort().join('\n')}\n`);
}

/** Writes all assets, or none. */
function publish(assets: Assets, folder: string): void {
  const unfinished = `${folder}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  for (const [name, bytes] of assets) writeFileSync(join(unfinished, name), bytes);
  mkdirSync(dirname(folder), { recursive: true });
  renameSync(unfinished, folder);
}

/** The package of the command line, by its name. */
function packedCommandLine(): Assets {
  const folder = mkdtempSync(join(tmpdir(), 'janus-release-'));
  try {
    const { status } = spawnSync('npm', ['run', 'pack:cli', '--silent', '--', folder], { cwd: root, stdio: ['ignore', 2, 2] });
    if (status !== 0) throw new Error('npm run pack:cli failed, see above.');
    return filesIn(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function filesIn(folder: string): Assets {
  return new Map(globSync('*', { cwd: folder }).map((name) => [name, readFileSync(join(folder, name))]));
}
