// The Go toolchain that builds what tests need beside Node: is it there, is it new enough, and if not, what to install.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A folder with go.mod and go.sum, whose `tool` lines say what is built. */
export interface Module {
  readonly directory: string;
  /** What it is to people, as the subject of a sentence: `The control plane for tests`. */
  readonly title: string;
  /** What to do where Go cannot be had; a clause. */
  readonly otherwise?: string;
}

interface GoRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

// GOGC, GOMEMLIMIT: a build is short of processor time, not of memory; below the limit nothing is collected.
const environment = { CGO_ENABLED: '0', GOWORK: 'off', GOOS: '', GOARCH: '', GOGC: 'off', GOMEMLIMIT: '3GiB' };

/** Runs `go` in that folder for this machine and nothing else, whatever a surrounding workspace or cross compilation says. */
export function runGo(
  module: Module,
  args: readonly string[],
  onStderrLine: (line: string) => void = () => undefined,
): Promise<GoRun> {
  return new Promise((resolve, reject) => {
    const go = spawn('go', args, {
      cwd: module.directory,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // A build of minutes must not outlive whoever wanted it.
    const end = (): boolean => go.kill();
    process.once('exit', end);
    let stdout = '';
    const stderr: string[] = [];
    go.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    createInterface({ input: go.stderr }).on('line', (line) => {
      stderr.push(line);
      onStderrLine(line);
    });
    go.on('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'ENOENT' ? new Error(goNeeded(module, 'none on PATH')) : error),
    );
    go.on('close', (code) => {
      process.removeListener('exit', end);
      resolve({ code, stdout, stderr: stderr.join('\n') });
    });
  });
}

/** The version in go.mod's `go` line: the least that can build the module. */
export function requiredGo(directory: string): string {
  return /^go (\S+)$/m.exec(readFileSync(join(directory, 'go.mod'), 'utf8'))?.[1] ?? '1.26.0';
}

function goNeeded({ directory, title, otherwise }: Module, found: string): string {
  return (
    `${title} is built by Go ${requiredGo(directory)} or newer; found: ${found}. ` +
    'Install Go from https://go.dev/dl/ (or let a Go from 1.21 on fetch it: GOTOOLCHAIN=auto)' +
    `${otherwise === undefined ? '' : `, or ${otherwise}`}.`
  );
}

/** Throws, saying what to install, unless a Go that can build the module is on PATH. */
export async function requireGo(module: Module): Promise<void> {
  // Asked within the module, a Go that may switch toolchains has switched already, and one that may not says why.
  const asked = await runGo(module, ['env', 'GOVERSION']);
  const version = asked.stdout.trim();
  if (asked.code !== 0 || !isAtLeast(version, requiredGo(module.directory)))
    throw new Error(goNeeded(module, version || asked.stderr.trim()));
}

/** Compares `go1.26.8`-like versions by their numbers; anything without numbers is too old. */
export function isAtLeast(found: string, wanted: string): boolean {
  const [major = 0, minor = 0, patch = 0] = numbersOf(found);
  const [wantedMajor = 0, wantedMinor = 0, wantedPatch = 0] = numbersOf(wanted);
  if (major !== wantedMajor) return major > wantedMajor;
  return minor === wantedMinor ? patch >= wantedPatch : minor > wantedMinor;
}

function numbersOf(version: string): readonly number[] {
  return (/\d+(\.\d+)*/.exec(version)?.[0] ?? '').split('.').map(Number);
}
