// Builds etcd, kube-apiserver and kube-controller-manager from the pinned modules, once for each content of go.mod,
// go.sum and flags, into the user's cache. Whoever finds a cache directory finds it whole: it gets its name at the end.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { moduleDirectory, requireGo, runGo } from './go.ts';
import { openProgress, type Progress } from './progress.ts';

export interface Binaries {
  readonly etcd: string;
  readonly 'kube-apiserver': string;
  readonly 'kube-controller-manager': string;
}

// Without the version flags discovery and kubectl would see v0.0.0.
const version = 'k8s.io/component-base/version';
const linkerFlags = `-s -w -X ${version}.gitVersion=v1.36.3 -X ${version}.gitMajor=1 -X ${version}.gitMinor=36`;
const buildFlags = ['-trimpath', '-buildvcs=false', '-mod=readonly', '-ldflags', linkerFlags];

/** The cache of this version: `$XDG_CACHE_HOME/janus/controlplane-<hash>`, by default below `~/.cache`. */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(moduleDirectory, file))).update('\0');
  hash.update(JSON.stringify([buildFlags, process.platform, process.arch]));
  const root = env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return join(root, 'janus', `controlplane-${hash.digest('hex').slice(0, 16)}`);
}

/** The binaries, built when they are not in the cache. Two builds at once do the work twice; the first to end is used. */
export async function buildBinaries(report: (line: string) => void): Promise<Binaries> {
  const directory = cacheDirectory();
  if (!existsSync(directory)) await build(directory, report);
  return {
    // `go build tool` names a binary after its folder, and etcd's is go.etcd.io/etcd/server/v3.
    etcd: join(directory, 'server'),
    'kube-apiserver': join(directory, 'kube-apiserver'),
    'kube-controller-manager': join(directory, 'kube-controller-manager'),
  };
}

async function build(directory: string, report: (line: string) => void): Promise<void> {
  await requireGo();
  report(`Building etcd, kube-apiserver and kube-controller-manager into ${directory}.`);
  report('This happens once: about 6 minutes on 2 cores, plus some 700 MB of module downloads; later starts take seconds.');
  mkdirSync(join(directory, '..'), { recursive: true });
  removeAbandoned(directory);
  const unfinished = mkdtempSync(`${directory}.building-`);
  const remove = (): void => rmSync(unfinished, { recursive: true, force: true });
  process.once('exit', remove);
  const progress = openProgress(report);
  try {
    progress.begin('downloading modules');
    const packages = await countPackages(progress);
    progress.begin('compiling', packages);
    await compile(unfinished, progress);
    publish(unfinished, directory);
    report(`Built the control plane in ${progress.elapsed()}.`);
  } finally {
    progress.end();
    process.removeListener('exit', remove);
    remove();
  }
}

async function countPackages(progress: Progress): Promise<number> {
  const listed = await runGo(['list', '-deps', '-mod=readonly', 'tool'], progress.step);
  if (listed.code !== 0) throw new Error(`go could not load the control plane's modules:\n${lastLines(listed.stderr)}`);
  return listed.stdout.trim().split('\n').length;
}

async function compile(into: string, progress: Progress): Promise<void> {
  const built = await runGo(['build', '-v', ...buildFlags, '-o', `${into}/`, 'tool'], progress.step);
  if (built.code !== 0) throw new Error(`go could not build the control plane:\n${lastLines(built.stderr)}`);
}

function publish(unfinished: string, directory: string): void {
  try {
    renameSync(unfinished, directory);
  } catch (error) {
    if (!existsSync(directory)) throw error;
  }
}

/** What builds left behind that were killed more than a day ago. */
function removeAbandoned(directory: string): void {
  const parent = join(directory, '..');
  for (const name of readdirSync(parent).filter((entry) => entry.includes('.building-'))) {
    const path = join(parent, name);
    if (Date.now() - statSync(path).mtimeMs > 86_400_000) rmSync(path, { recursive: true, force: true });
  }
}

function lastLines(text: string): string {
  return text.split('\n').slice(-15).join('\n');
}
