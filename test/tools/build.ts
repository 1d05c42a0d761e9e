// Builds the `tool` lines of a Go module, once for each content of go.mod, go.sum, sources and flags, into the user's cache. Whoever
// finds a cache directory finds it whole: it gets its name at the end.
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Module, requireGo, runGo } from './go.ts';
import { openProgress, type Progress } from './progress.ts';

export interface Tools extends Module {
  /** Begins the name of the cache directory. */
  readonly name: string;
  /** What the first build costs, in a clause: `7 to 9 minutes on 2 cores, plus some 700 MB of module downloads`. */
  readonly cost: string;
  /** For `go build`, beside those that make it reproducible. */
  readonly flags: readonly string[];
}

export type ReportLine = (line: string) => void;

// Without debugging information the compiler takes an eighth less time, and the linker (-s -w) would drop it in any case.
const commonFlags = ['-trimpath', '-buildvcs=false', '-mod=readonly', '-gcflags=all=-dwarf=false'];

/** The cache of this version. */
function cacheDirectory(tools: Tools, env: NodeJS.ProcessEnv): string {
  const hash = createHash('sha256');
  const sources = globSync('**/*.go', { cwd: tools.directory }).sort();
  for (const file of ['go.mod', 'go.sum', ...sources]) hash.update(readFileSync(join(tools.directory, file))).update('\0');
  hash.update(JSON.stringify([flagsOf(tools), process.platform, process.arch]));
  return inCache(`${tools.name}-${hash.digest('hex').slice(0, 16)}`, env);
}

/** `$XDG_CACHE_HOME/janus/<name>`, by default below `~/.cache`. */
export function inCache(name: string, env: NodeJS.ProcessEnv = process.env): string {
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'janus', name);
}

/**
 * Gives the directory with the binaries, each named after the folder of its package; builds them when they are not in the
 * cache. Two builds at once do the work twice; the first to end is used.
 */
export async function buildTools(tools: Tools, report: ReportLine, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const directory = cacheDirectory(tools, env);
  if (!existsSync(directory)) await build(tools, directory, report);
  return directory;
}

/** Gives what builds one program of that name, without symbols, and resolves with its path. */
export function buildsProgram(program: string, tools: Omit<Tools, 'flags'>): (report: ReportLine) => Promise<string> {
  return async (report) => join(await buildTools({ ...tools, flags: ['-ldflags', '-s -w'] }, report), program);
}

export function isCached(tools: Tools, env: NodeJS.ProcessEnv): boolean {
  return existsSync(cacheDirectory(tools, env));
}

function flagsOf({ flags }: Tools): readonly string[] {
  return [...commonFlags, ...flags];
}

async function build(tools: Tools, directory: string, report: ReportLine): Promise<void> {
  await requireGo(tools);
  report(`${tools.title} is built into ${directory}.`);
  report(`This happens once: ${tools.cost}; later starts take seconds.`);
  mkdirSync(join(directory, '..'), { recursive: true });
  removeAbandoned(directory);
  const unfinished = mkdtempSync(`${directory}.building-`);
  const remove = (): void => rmSync(unfinished, { recursive: true, force: true });
  process.once('exit', remove);
  const progress = openProgress(report);
  try {
    progress.begin('downloading modules');
    const packages = await countStale(tools, progress);
    progress.begin('compiling and linking', packages);
    await compile(tools, unfinished, progress);
    publish(unfinished, directory);
    report(`Built in ${progress.elapsed()}.`);
  } finally {
    progress.end();
    process.removeListener('exit', remove);
    remove();
  }
}

/** How many packages `go build` will compile: those that Go's own cache has not. */
async function countStale(tools: Tools, progress: Progress): Promise<number> {
  const format = '{{if .Stale}}{{.StaleReason}}{{else}}fresh{{end}}';
  const listed = await runGo(tools, ['list', '-deps', '-f', format, ...flagsOf(tools), 'tool'], progress.step);
  if (listed.code !== 0) throw new Error(`${tools.title}: go could not load the modules:\n${lastLines(listed.stderr)}`);
  return listed.stdout
    .split('\n')
    .filter((reason) => !['', 'fresh', 'not installed but available in build cache'].includes(reason)).length;
}

async function compile(tools: Tools, into: string, progress: Progress): Promise<void> {
  const built = await runGo(tools, ['build', '-v', ...flagsOf(tools), '-o', `${into}/`, 'tool'], progress.step);
  if (built.code !== 0) throw new Error(`${tools.title}: go could not build it:\n${lastLines(built.stderr)}`);
}

/** Gives a whole directory its name in the cache, unless another build was first. */
export function publish(unfinished: string, directory: string): void {
  try {
    renameSync(unfinished, directory);
  } catch (error) {
    if (!existsSync(directory)) throw error;
  }
}

/** Removes beside a cache directory what builds left that were killed more than a day ago. */
export function removeAbandoned(directory: string): void {
  const parent = join(directory, '..');
  for (const name of readdirSync(parent).filter((entry) => entry.includes('.building-'))) {
    const path = join(parent, name);
    // Another build may end, and rename its directory, at any moment.
    const begun = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (Date.now() - begun > 86_400_000) rmSync(path, { recursive: true, force: true });
  }
}

function lastLines(text: string): string {
  return text.split('\n').slice(-15).join('\n');
}
