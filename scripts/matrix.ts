// `npm run matrix -- [versions] [files]`: runs the part of the suite that uses the API server on several minor versions of Kubernetes, one
// after the other, and prints what passed, what failed, and where they differ. By default: the oldest, the newest, and the one
// three below it. Exit code 0 only if nothing failed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { patchOf } from '../test/controlplane/versions.ts';
import { type Measured, planOf, tableOf } from './matrix/table.ts';
import type { Results } from './tap-results.ts';

const root = join(import.meta.dirname, '..');

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

async function main(args: readonly string[]): Promise<number> {
  const { versions, rest } = planOf(args);
  const directory = mkdtempSync(join(tmpdir(), 'janus-matrix-'));
  const measured: Measured[] = [];
  try {
    for (const version of versions) measured.push(await measure(version, rest, join(directory, version)));
  } finally {
    rmSync(directory, { recursive: true });
  }
  process.stdout.write(`\n${tableOf(measured)}`);
  return measured.every(({ passed, failures }) => passed > 0 && failures.length === 0) ? 0 : 1;
}

async function measure(version: string, rest: readonly string[], file: string): Promise<Measured> {
  process.stdout.write(`\nKubernetes ${patchOf(version)}\n`);
  const child = spawn(process.execPath, ['scripts/test.ts', '--kubernetes', version, '--results', file, ...rest], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => child.kill(signal));
  await once(child, 'close');
  if (!existsSync(file)) throw new Error(`the tests on Kubernetes ${version} ended without a result, see above.`);
  const { passed, failed, failures } = JSON.parse(readFileSync(file, 'utf8')) as Results;
  return { version: patchOf(version), passed, failures: failures.length > 0 || failed === 0 ? failures : ['it could not start'] };
}
