// A copy of the project in which a fault is made, and the tests run.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { failuresIn } from '../../scripts/tap-results.ts';
import { runFile } from '../../scripts/test-files.ts';
import { edited, type Sabotage } from './sabotage.ts';

export const root = join(import.meta.dirname, '..', '..');

const left = ['node_modules', '.git', '.tap'];

export interface Verdict {
  readonly file: string;
  readonly isPassed: boolean;
  /** The path to the first test that failed; undefined if none did, also if the file ended otherwise than by a failed test. */
  readonly failure: string | undefined;
  readonly seconds: number;
}

export interface Workshop {
  /** Runs a test file on the current sources. */
  test(file: string): Promise<Verdict>;
  /**
   * Makes the fault in the copy, runs files until a test fails, and restores the copy. If none fails: what was found of a file that
   * ended without a result, otherwise undefined.
   */
  sabotaged(sabotage: Sabotage): Promise<Verdict | undefined>;
  close(): void;
}

/** `kubeconfig`: for the control plane that the tests share; tests that need none run without it. `guard`: ms for each file. */
export function openWorkshop(kubeconfig: string | undefined, guard = hangGuard): Workshop {
  const copy = mkdtempSync(join(tmpdir(), 'janus-sabotage-'));
  cpSync(root, copy, { recursive: true, filter: (source) => !left.includes(basename(source)) });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const test = (file: string): Promise<Verdict> => run({ copy, kubeconfig, guard }, file);
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
  let withoutResult: Verdict | undefined;
  for (const file of files) {
    const verdict = await test(file);
    if (verdict.failure !== undefined) return verdict;
    if (!verdict.isPassed) withoutResult = verdict;
  }
  return withoutResult;
}

/** A guard against hanging, in ms: a fault may make a test wait for ever. */
const hangGuard = 500_000;

interface Run {
  readonly copy: string;
  readonly kubeconfig: string | undefined;
  readonly guard: number;
}

async function run({ copy, kubeconfig, guard }: Run, file: string): Promise<Verdict> {
  // To bail out would name no test of those that run side by side, and leave behind what tests delete when they end.
  const cluster = kubeconfig === undefined ? {} : { KUBECONFIG: kubeconfig, JANUS_TEST_KUBECONFIG: kubeconfig };
  const { code, output, seconds } = await runFile(file, { root: copy, guard, env: { TAP_BAIL: '0', ...cluster } });
  const failure = code === 0 ? undefined : firstFailedTest(file, output);
  return { file, isPassed: code === 0, failure, seconds };
}

/** `test/a.test.ts > block > test`. What fails outside of a test is no result. */
function firstFailedTest(file: string, output: string): string | undefined {
  return failuresIn(file, output)[0]?.split('\n')[0];
}
