// Runs test files side by side, each as a process of Node, as TAP. The runner of tap would read every module once more in each process:
// that takes as long as half of the files run.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { type FileResults, fileByFile, noResults } from './tap-results.ts';

interface FileRun {
  /** The folder that `file` is relative to. */
  readonly root: string;
  /** A guard against hanging, in ms. */
  readonly guard: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** With `inherit`, this process prints what the file writes to its standard error. */
  readonly stderr?: 'inherit';
}

interface FileOutput {
  /** The exit code; null if a signal ended the process. */
  readonly code: number | null;
  /** TAP. */
  readonly output: string;
  readonly seconds: number;
}

const running = new Set<ChildProcess>();

/** tap ends a test that hangs, and names it, before the guard ends the process. */
const partForTests = 0.5;

export async function runFile(file: string, { root, guard, env, stderr }: FileRun): Promise<FileOutput> {
  const start = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'janus-tap-'));
  // A file instead of a pipe: a process that ends early would lose what is still in the pipe.
  const descriptor = openSync(join(folder, 'output'), 'w');
  const given = { ...process.env, TAP_TIMEOUT: String((guard * partForTests) / 1_000), ...env };
  try {
    const child = spawn(process.execPath, [file], {
      cwd: root,
      env: given,
      detached: true,
      stdio: ['ignore', descriptor, stderr ?? 'ignore'],
    });
    running.add(child);
    const timer = setTimeout(() => end(child), guard);
    const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
    clearTimeout(timer);
    running.delete(child);
    return { code, output: readFileSync(join(folder, 'output'), 'utf8'), seconds: (performance.now() - start) / 1_000 };
  } finally {
    closeSync(descriptor);
    rmSync(folder, { recursive: true, force: true });
  }
}

// The process leads a process group, so this ends everything that it started.
function end({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}

let isStopped = false;

/** Ends the files that run, and starts no more. */
export function stopFiles(): void {
  isStopped = true;
  for (const child of running) end(child);
}

/** Runs the files, `jobs` at once. `onFile` gets the results of each. */
export async function runFiles(
  files: readonly string[],
  { jobs, ...run }: FileRun & { readonly jobs: number },
  onFile: (results: FileResults) => void,
): Promise<void> {
  const waiting = [...files];
  const worker = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined && !isStopped; file = waiting.shift())
      onFile(resultsOf(file, await runFile(file, run)));
  };
  await Promise.all(Array.from({ length: jobs }, worker));
}

/** A file is a block around its tests, as tap's runner prints it. */
function resultsOf(file: string, { code, output, seconds }: FileOutput): FileResults {
  let results: FileResults = { ...noResults, file, seconds };
  const parser = fileByFile((found) => {
    results = found;
  });
  const inside = output.replaceAll(/^/gm, '    ');
  const verdict = code === 0 ? 'ok' : 'not ok';
  const diagnosis = code === 0 ? '' : `  ---\n  exitCode: ${code}\n  ...\n`;
  parser.end(
    `TAP version 14\n# Subtest: ${file}\n${inside}\n${verdict} 1 - ${file} # time=${1_000 * seconds}ms\n${diagnosis}1..1\n`,
  );
  return results;
}
