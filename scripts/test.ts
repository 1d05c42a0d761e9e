// `npm test`: starts one control plane for all test files, if any of them needs one (see needs-cluster.ts), runs the files with
// Node, and prints as the last line how many tests (see tap-results.ts) passed and failed. `npm test -- test/hooks` runs some files.
// Options: `--grep TITLE`, the files with a test of that title; `--jobs 1`, the files at once; `--use-existing-cluster`, which uses the
// cluster of KUBECONFIG instead; `--kubernetes 1.34`, which runs what uses the API server on that version; `--results FILE`; `--all`
// (`npm run test:all`); and `--shard 1/4`.
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, normalize } from 'node:path';
import { openCluster } from '../test/controlplane/existing.ts';
import { variable } from '../test/controlplane/versions.ts';
import { filesInAllOnly } from '../test/support/selection.ts';
import { buildNeeded } from '../test/tools/needed.ts';
import { needCluster, usesApiServer } from './needs-cluster.ts';
import { writePackage } from './pack-cli/package.ts';
import { type FileResults, noResults, type Results, sum } from './tap-results.ts';
import { runFiles, stopFiles } from './test-files.ts';
import { readTestOptions, type TestOptions } from './test-options.ts';

const root = join(import.meta.dirname, '..');

// Guards against hanging, per file. Tests wait for conditions, not for time. A named file may generate cases for hours.
const hangGuardSeconds = { suite: 900, all: 3600, named: 6 * 3600 };

/** Node keeps here the types that it stripped and the code that it compiled: half of the time that a test file takes to start. */
const compiled = join(root, 'node_modules', '.cache', 'compiled');

let isRunning = false;
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
  const { jobs, kubernetes } = given;
  const files = chosenFiles(given);
  if (files.length === 0)
    throw new Error(
      'No test files found: name files or folders that hold *.test.ts, or none for all of test/; --grep takes a part of a title.',
    );
  process.env.JANUS_TESTS = given.all ? 'all' : 'selected';
  // Tests that start a control plane read this variable.
  if (kubernetes !== undefined) process.env[variable] = kubernetes;
  await buildNeeded(files, (line) => console.error(line));
  if (files.some((file) => file.startsWith('test/cli/'))) process.env.JANUS_TEST_CLI = await packedCli();
  const guard = guardOf(given);
  if (!needCluster(files)) return runTests(files, { guard, jobs });
  const controlPlane = await openCluster(args);
  try {
    return await runTests(files, { guard, jobs, kubeconfig: controlPlane.kubeconfig });
  } finally {
    await controlPlane.stop();
  }
}

/** In ms. */
function guardOf({ named, all }: TestOptions): number {
  const { suite, all: everything, named: chosen } = hangGuardSeconds;
  return 1_000 * (named.length > 0 ? chosen : all ? everything : suite);
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

function chosenFiles({ named, kubernetes, all, grep = '', shard = { index: 1, of: 1 } }: TestOptions): readonly string[] {
  return testFiles(named)
    .filter((file) => hasText(file, grep))
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

function hasText(file: string, wanted: string): boolean {
  return wanted === '' || readFileSync(join(root, file), 'utf8').toLowerCase().includes(wanted.toLowerCase());
}

interface Settings {
  /** ms for each file. */
  readonly guard: number;
  readonly jobs: number;
  readonly kubeconfig?: string;
}

async function runTests(files: readonly string[], { guard, jobs, kubeconfig }: Settings): Promise<Results> {
  const env = { NODE_COMPILE_CACHE: compiled, KUBECONFIG: kubeconfig, JANUS_TEST_KUBECONFIG: kubeconfig };
  let results = noResults;
  isRunning = true;
  await runFiles(files, { root, guard, jobs, env, stderr: 'inherit' }, (file) => {
    results = sum(results, file);
    printResult(file);
  });
  return results;
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
  if (!isRunning) process.exit(conclude({ ...noResults, failed: 1 }));
  stopFiles();
}

/** Returns the exit code: 0 only if a test passed, and no test failed. */
function conclude({ passed, failed, skipped, failures }: Results): number {
  if (failures.length > 0) console.log(`\nFailed:\n${failures.map((failure) => `  ${failure.split('\n')[0]}`).join('\n')}`);
  if (skipped > 0) console.log(`${skipped} skipped`);
  if (interrupted !== undefined) console.log(`Ended early by ${interrupted}.`);
  console.log(`${passed} passed, ${failed} failed`);
  return passed > 0 && failed === 0 && interrupted === undefined ? 0 : 1;
}
