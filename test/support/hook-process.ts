// The hook as a separate process, as in a Pod: server/main.ts, configured by its environment alone.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { type Patience, type Teardown, waitFor } from './client.ts';
import { callHeaders, hookToken } from './hook-token.ts';

const root = new URL('../../', import.meta.url).pathname;

// A test file that runs too long is killed: what it started ends with it.
export const withParent = ['--import', join(root, 'scripts', 'demo', 'end-with-parent.mjs')];

interface HookProcess {
  readonly process: ChildProcess;
  /** The exit code, once the process has ended and all its output is read. */
  readonly ended: Promise<number | null>;
  readonly output: () => string;
  readonly errors: () => string;
  /** The address where it listens, once it does. */
  address(): Promise<string>;
}

export type Environment = Readonly<Record<string, string>>;

/** A start reads hundreds of files: a second on an idle machine, more than a minute on one that is busy with other tests. */
const slow: Patience = { timeoutMs: 300_000 };

export function startHookProcess(
  t: Teardown,
  environment: Environment,
  command: readonly string[] = [process.execPath, ...withParent, 'server/main.ts'],
): HookProcess {
  const [file = '', ...args] = command;
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn(file, args, {
    cwd: root,
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  let errors = '';
  child.stdout?.on('data', (bytes) => {
    output += String(bytes);
  });
  child.stderr?.on('data', (bytes) => {
    errors += String(bytes);
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  t.teardown(() => child.kill('SIGKILL'));
  const address = (): Promise<string> =>
    waitFor(() => /listening at (https?:[^"]+)/.exec(output)?.[1], `the hook to listen; it said ${errors}`, slow);
  return { process: child, ended, output: () => output, errors: () => errors, address };
}

/** The settings that a hook needs to start: a cluster, a namespace, and the token of the suite. */
export function hookEnvironment(t: Teardown, kubeconfig: string, namespace: string): Environment {
  const directory = freeFolder(t);
  writeFileSync(join(directory, 'current'), hookToken, { mode: 0o600 });
  return { PORT: '0', HOST: '127.0.0.1', KUBECONFIG: kubeconfig, JANUS_NAMESPACE: namespace, JANUS_TOKEN_DIRECTORY: directory };
}

/** A temporary folder for this test alone. */
export function freeFolder(t: Teardown): string {
  const directory = mkdtempSync(join(tmpdir(), 'janus-hook-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** On a connection of its own, as a kubelet's probe: the hook closes those that never authenticated when there are many. */
export async function get(url: string): Promise<{ readonly code: number; readonly text: string }> {
  const answer = await request(url, { reset: true });
  return { code: answer.statusCode, text: await answer.body.text() };
}

export function post(url: string, body: unknown, headers: Readonly<Record<string, string>> = callHeaders) {
  return request(url, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
}

export async function ready(address: string): Promise<string> {
  await waitFor(async () => (await get(`${address}/readyz`)).code === 200, 'the hook to be ready', slow);
  return address;
}

/** MiB that a process holds in memory now; undefined if the system does not report it. */
export function memoryOf({ pid }: ChildProcess): number | undefined {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) / 1024;
  } catch {
    return undefined;
  }
}
