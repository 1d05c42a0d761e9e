// Runs the hook as a separate process, as in a Pod. The process is server/main.ts, and only its environment configures it. It has the
// rights of the ServiceAccount `janus` in manifests/rbac.yaml, and a token that callers must send.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Client, waitFor } from '../../test/support/client.ts';
import { podOf, writeEngineKubeconfig } from '../../test/support/engine-identity.ts';
import { hookToken } from '../../test/support/hook-token.ts';
import { engineNamespace } from '../../test/support/install.ts';
import type { Undo } from './undo.ts';

const root = join(import.meta.dirname, '..', '..');
const hookProgram = 'server/main.ts';

export interface RunningHook {
  readonly address: string;
  readonly process: ChildProcess;
  /** Milliseconds from its start until it was ready. */
  readonly readyAfter: number;
}

export interface HookOptions {
  /** The program to run instead of server/main.ts, relative to the root of the repository. */
  readonly program?: string;
  /** Flags of Node. */
  readonly flags?: readonly string[];
  /** Whether the hook connects to the API server as in a Pod, by address, token and CA, or else by a KUBECONFIG. */
  readonly asInPod?: boolean;
  /** Variables to add to its environment, or to replace. */
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Resolves when the hook is ready. `kubeconfig` is that of the administrator. The kubeconfig of the hook is created beside it, unless it
 * exists. server/main.ts of this tree starts as in a Pod; any other program starts with a KUBECONFIG.
 */
export async function startHook(
  client: Client,
  kubeconfig: string,
  undo: Undo,
  { program = hookProgram, flags = [], environment = {}, asInPod = program === hookProgram }: HookOptions = {},
): Promise<RunningHook> {
  const own = join(dirname(kubeconfig), 'hook.kubeconfig');
  if (!existsSync(own)) await writeEngineKubeconfig(client, kubeconfig, own);
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const cluster = asInPod ? podOf(own, join(dirname(kubeconfig), 'hook-account')) : { KUBECONFIG: own };
  const settings = {
    PORT: '0',
    HOST: '127.0.0.1',
    ...cluster,
    JANUS_NAMESPACE: engineNamespace,
    JANUS_TOKEN_DIRECTORY: tokenBeside(kubeconfig),
    LOG_LEVEL: 'info',
  };
  // In a process group of its own: Ctrl-C must not reach it before the demo ends it.
  const ending = ['--import', join(import.meta.dirname, 'end-with-parent.mjs')];
  const begin = performance.now();
  const child = spawn(process.execPath, [...flags, ...ending, program], {
    cwd: root,
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...settings, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
  });
  undo.add(() => end(child));
  const said = wordsOf(child);
  const address = await waitFor(() => {
    refuseEnded(child, said());
    return /listening at (http:[^"\s]+)/.exec(said())?.[1];
  }, 'the hook to listen');
  await waitFor(async () => (await fetch(`${address}/readyz`)).ok, 'the hook to be ready');
  return { address, process: child, readyAfter: performance.now() - begin };
}

/** Writes the callers' token into a file, as a mounted Secret shows it. */
function tokenBeside(kubeconfig: string): string {
  const directory = join(dirname(kubeconfig), 'hook-token');
  if (existsSync(directory)) return directory;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(join(directory, 'current'), hookToken, { mode: 0o600 });
  return directory;
}

function wordsOf(child: ChildProcess): () => string {
  let words = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      words = (words + text).slice(-20_000);
    });
  return () => words;
}

function refuseEnded({ exitCode }: ChildProcess, words: string): void {
  if (exitCode !== null) throw new Error(`the hook ended with exit code ${exitCode}; it said:\n${words}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  // A hook may finish its current step for a long time; the demo does not wait for that.
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(timer);
}
