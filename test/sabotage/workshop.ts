// A copy of the project in which a fault is made, and the tests run.
import { spawn } from 'node:child_process';
import { closeSync, cpSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { tokens } from '../../scripts/tap-lines.ts';
import { edited, type Sabotage } from './sabotage.ts';

export const root = join(import.meta.dirname, '..', '..');

const left = ['node_modules', '.git', '.tap'];

export interface Verdict {
  readonly file: string;
  readonly isPassed: boolean;
  /** The path to the first test that failed. */
  readonly failure: string;
  readonly seconds: number;
}

export interface Workshop {
  /** Runs a test file on the current sources; stops at the first failure. */
  test(file: string): Promise<Verdict>;
  /** Makes the fault in the copy, runs tests until one fails, and restores the copy. Undefined if no test fails. */
  sabotaged(sabotage: Sabotage): Promise<Verdict | undefined>;
  close(): void;
}

/** `kubeconfig`: for the control plane that the tests share; tests that need none run without it. */
export function openWorkshop(kubeconfig: string | undefined): Workshop {
  const copy = mkdtempSync(join(tmpdir(), 'janus-sabotage-'));
  cpSync(root, copy, { recursive: true, filter: (source) => !left.includes(basename(source)) });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const test = (file: string): Promise<Verdict> => run(copy, file, kubeconfig);
  return {
    test,
    async sabotaged(sabotage) {
      const before = sabotage.edits.map(({ file }) => [join(copy, file), readFileSync(join(copy, file), 'utf8')] as const);
      for (const edit of sabotage.edits) {
        const path = join(copy, edit.file);
        writeFileSync(path, edited(readFileSync(path, 'utf8'), edit));
      }
      try {
        return await firstFailure(sabotage.caughtBy, test);
      } finally {
        for (const [path, text] of before) writeFileSync(path, text);
      }
    },
    close: () => rmSync(copy, { recursive: true, force: true }),
  };
}

async function firstFailure(files: readonly string[], test: (file: string) => Promise<Verdict>): Promise<Verdict | undefined> {
  for (const file of files) {
    const verdict = await test(file);
    if (!verdict.isPassed) return verdict;
  }
  return undefined;
}

/** A guard against hanging: a fault may make a test wait for ever, which counts as a failure. */
const hangGuard = 300_000;

async function run(copy: string, file: string, kubeconfig: string | undefined): Promise<Verdict> {
  const start = performance.now();
  const env = {
    ...process.env,
    TAP_BAIL: '1',
    TAP_TIMEOUT: String(hangGuard / 1_000),
    ...(kubeconfig === undefined ? {} : { KUBECONFIG: kubeconfig, JANUS_TEST_KUBECONFIG: kubeconfig }),
  };
  const output = join(copy, 'output.tap');
  // A file instead of a pipe: a process that ends early would lose what is still in the pipe.
  const descriptor = openSync(output, 'w');
  const child = spawn(process.execPath, [file], { cwd: copy, env, detached: true, stdio: ['ignore', descriptor, 'ignore'] });
  const guard = setTimeout(() => end(child.pid), hangGuard);
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  clearTimeout(guard);
  closeSync(descriptor);
  const failure = code === 0 ? '' : firstFailedTest(file, readFileSync(output, 'utf8'));
  return { file, isPassed: code === 0, failure, seconds: (performance.now() - start) / 1000 };
}

// The process leads a process group, so this ends everything that it started.
function end(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}

/** `test/a.test.ts > block > test`, or what failed outside of a block. */
function firstFailedTest(file: string, output: string): string {
  const way: string[] = [];
  for (const token of tokens(output.split('\n'))) {
    way.length = Math.min(way.length, token.depth);
    if (token.kind === 'subtest') way[token.depth] = token.name;
    else if (!token.ok) return [file, ...way, ...(way.length > 0 ? [] : [token.name])].join(' > ');
  }
  return `${file} > it ended without a result`;
}
