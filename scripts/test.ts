// `npm test`: starts one control plane for all test files, if any of them needs one (see needs-cluster.ts), runs the files with
// tap, and prints as the last line how many tests (see tap-results.ts) passed and failed. `npm test -- test/hooks` runs some files.
// Options go to tap (`--bail`, `--jobs=1`), except `--use-existing-cluster`, which uses the cluster of KUBECONFIG instead, `--kubernetes 1.34`,
// which runs what uses the API server on that version, `--results FILE`, `--all` (`npm run test:all`), and `--shard 1/4`.
import { type ChildProcess, spawn } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, normalize } from 'node:path';
import { createInterface } from 'node:readline';
import { openCluster } from '../test/controlplane/existing.ts';
import { variable } from '../test/controlplane/versions.ts';
import { filesInAllOnly } from '../test/support/selection.ts';
import { buildNeeded } from '../test/tools/needed.ts';
import { needCluster, usesApiServer } from './needs-cluster.ts';
import { writePackage } from './pack-cli/package.ts';
import { type FileResults, fileByFile, noResults, type Results, sum } from './tap-results.ts';
import { readTestOptions, type TestOptions } from './test-options.ts';

const root = join(import.meta.dirname, '..');
const tap = join(root, 'node_modules', 'tap', 'dist', 'esm', 'run.mjs');

// Guards against hanging, per file. Tests wait for conditions, not for time. A named file may generate cases for hours.
const hangGuardSeconds = { suite: 900, named: 6 * 3600 };

/**
 * For @tapjs/processinfo, which tap loads into each test process. It reads every module again, for coverage and `tap --changed`, which
 * takes a third of the processor time of a start. `/./` excludes all modules. tap sets this variable, but does not document it. If it had
 * no effect, tests would only be slower.
 */
const nothingRecorded = '_TAPJS_PROCESSINFO_EXCLUDE_=/./';

/**
 * tap enables source maps, which takes a quarter of the processor time of a start: Node reads the map of each module. Node strips types
 * in place, so lines and columns of our sources are right without maps.
 */
const withoutSourceMaps = '--node-arg=--no-enable-source-maps';

let running: ChildProcess | undefined;
let interrupted: NodeJS.Signals | undefined;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupt(signal));

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  let options: TestOptions;
  try {
    options = readTestOptions(args);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }
  let results: Results;
  try {
    results = await runAll(args, options);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    results = { ...noResults, failed: 1 };
  }
  if (options.results !== undefined) writeFileSync(options.results, JSON.stringify(results));
  return conclude(results);
}

async function runAll(args: readonly string[], given: TestOptions): Promise<Results> {
  const { named, tap: options, kubernetes } = given;
  const files = chosenFiles(given);
  if (files.length === 0)
    throw new Error('No test files found: name files or folders that hold *.test.ts, or none for all of test/.');
  process.env.JANUS_TESTS = given.all ? 'all' : 'selected';
  // Tests that start a control plane read this variable.
  if (kubernetes !== undefined) process.env[variable] = kubernetes;
  await buildTapWithOurPlugins();
  await buildNeeded(files, (line) => console.error(line));
  if (files.some((file) => file.startsWith('test/cli/'))) process.env.JANUS_TEST_CLI = await packedCli();
  const guard = `--timeout=${named.length === 0 ? hangGuardSeconds.suite : hangGuardSeconds.named}`;
  if (!needCluster(files)) return runTap([guard, ...options], files, undefined);
  const controlPlane = await openCluster(args);
  try {
    return await runTap([guard, ...options], files, controlPlane.kubeconfig);
  } finally {
    await controlPlane.stop();
  }
}

/** The command line for test/support/cli.ts: to pack it takes seconds, and a dozen files start it. */
async function packedCli(): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'janus-packed-cli-'));
  process.on('exit', () => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, 'package');
  mkdirSync(folder);
  await writePackage(folder);
  return folder;
}

function chosenFiles({ named, kubernetes, all, shard = { index: 1, of: 1 } }: TestOptions): readonly string[] {
  return testFiles(named)
    .filter((file) => kubernetes === undefined || usesApiServer(file))
    .filter((file) => all || !filesInAllOnly.has(file.replace(/^test\/(.*)\.test\.ts$/, '$1')))
    .filter((_, index) => index % shard.of === shard.index - 1);
}

function testFiles(named: readonly string[]): readonly string[] {
  const places = named.length === 0 ? ['test'] : named;
  return places.flatMap((place) =>
    statSync(join(root, place)).isDirectory() ? globSync(join(place, '**/*.test.ts'), { cwd: root }).sort() : [normalize(place)],
  );
}

/**
 * tap's default plugins load a compiler of their own. Node's type stripping makes it unnecessary, and TypeScript 7 breaks it. .taprc
 * leaves these plugins out, but tap rebuilds itself too late for the present run.
 */
async function buildTapWithOurPlugins(): Promise<void> {
  const built = readFileSync(join(root, 'node_modules', '@tapjs', 'test', 'test-built', 'dist', 'esm', 'index.js'), 'utf8');
  if (!built.includes('@tapjs/typescript')) return;
  const { code } = await runNode([tap, 'build'], process.env, () => undefined);
  if (code !== 0)
    throw new Error('tap could not be built with the plugins of .taprc; remove .tap and node_modules, and try again.');
}

async function runTap(options: readonly string[], files: readonly string[], kubeconfig?: string): Promise<Results> {
  const env = { ...process.env, KUBECONFIG: kubeconfig, JANUS_TEST_KUBECONFIG: kubeconfig };
  const missing = new Set(files);
  let results = noResults;
  const parser = fileByFile((file) => {
    results = sum(results, file);
    missing.delete(file.file);
    printResult(file);
  });
  const settings = ['--reporter=tap', '--jobs=4', withoutSourceMaps, `--test-env=${nothingRecorded}`];
  const args = [tap, 'run', ...settings, ...options, ...files];
  const { code } = await runNode(args, env, (line) => parser.write(`${line}\n`));
  parser.end();
  return code === 0 ? results : sum(results, withoutResult(missing, results.failed));
}

/** After a timeout tap 21 loses the results of other files: a file without a result has not passed. */
function withoutResult(files: ReadonlySet<string>, failedOtherwise: number): Results {
  const failures = [...files].map((file) => `${file}: tap reported no result for it`);
  if (failures.length === 0 && failedOtherwise === 0) failures.push('tap itself failed without naming a test');
  return { ...noResults, failed: failures.length, failures };
}

/** Runs in a process group of its own, so that all its processes can be ended together. */
function runNode(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  onLine: (line: string) => void,
): Promise<{ readonly code: number | null }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
    running = child;
    createInterface({ input: child.stdout }).on('line', onLine);
    child.on('error', reject);
    child.on('close', (code) => {
      running = undefined;
      resolve({ code });
    });
  });
}

function printResult({ file, passed, failed, skipped, failures, seconds }: FileResults): void {
  console.log(
    `${failed === 0 ? 'ok    ' : 'FAILED'} ${file}: ${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''} (${seconds.toFixed(0)} s)`,
  );
  for (const failure of failures) console.log(`\n${failure}\n`);
}

/** Ends the tests; then the control plane stops and the counts are printed. Before any test runs, it ends at once. */
function interrupt(signal: NodeJS.Signals): void {
  interrupted ??= signal;
  if (running?.pid === undefined) process.exit(conclude({ ...noResults, failed: 1 }));
  try {
    process.kill(-running.pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}

/** Returns the exit code: 0 only if a test passed, and no test failed. */
function conclude({ passed, failed, skipped, failures }: Results): number {
  if (failures.length > 0) console.log(`\nFailed:\n${failures.map((failure) => `  ${failure.split('\n')[0]}`).join('\n')}`);
  if (skipped > 0) console.log(`${skipped} skipped`);
  if (interrupted !== undefined) console.log(`Ended early by ${interrupted}.`);
  console.log(`${passed} passed, ${failed} failed`);
  return passed > 0 && failed === 0 && interrupted === undefined ? 0 : 1;
}
