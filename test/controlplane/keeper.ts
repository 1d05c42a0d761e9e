// The parent's hand on the keeper process. Invariant: when the parent is gone, however it went, so are the components and
// their directory. An open keeper does not hold the parent's event loop: a program that ends, ends its control plane.
import { type ChildProcess, fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

export type ToKeeper =
  | { readonly kind: 'start'; readonly component: string; readonly command: string; readonly args: readonly string[] }
  | { readonly kind: 'signal'; readonly component: string; readonly signal: NodeJS.Signals };

export type FromKeeper =
  | { readonly kind: 'opened'; readonly directory: string }
  | { readonly kind: 'ended'; readonly component: string; readonly how: string };

export interface Keeper {
  readonly pid: number;
  /** Made by the keeper, gone with it. The working directory of all components; each logs to `<component>.log` in it. */
  readonly directory: string;
  start(component: string, command: string, args: readonly string[]): void;
  /** How a component that was started has ended, or undefined while it runs. */
  endOf(component: string): string | undefined;
  /** Signals a component and waits until it is gone, whereupon it counts as never started. */
  halt(component: string, signal: NodeJS.Signals): Promise<void>;
  /** Signals a component that goes on: SIGSTOP, SIGCONT. */
  signal(component: string, signal: NodeJS.Signals): void;
  /** Ends all components, removes the directory, and waits for both. */
  end(): Promise<void>;
}

interface Component {
  readonly gone: PromiseWithResolvers<void>;
  how?: string;
}

/** A fifth of the API server's processor time was garbage collection; up to the limit it takes memory in its place. */
const collectsLessOften = { GOGC: '400', GOMEMLIMIT: '1GiB' };

export async function openKeeper(): Promise<Keeper> {
  // The environment is bare: NODE_OPTIONS of a test runner must not reach the keeper, nor proxies the components.
  const { PATH = '', HOME = '', TMPDIR = '/tmp' } = process.env;
  const child = fork(join(import.meta.dirname, 'keeper-process.ts'), {
    detached: true,
    env: { PATH, HOME, TMPDIR, ...collectsLessOften },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const directory = await openedDirectory(child);
  return keeperOf(child, child.pid ?? 0, directory);
}

function openedDirectory(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('message', (message: FromKeeper) => {
      if (message.kind === 'opened') resolve(message.directory);
    });
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      reject(new Error(`the keeper of the control plane ended at its start: ${signal ?? code}`)),
    );
  });
}

function keeperOf(child: ChildProcess, pid: number, directory: string): Keeper {
  const components = new Map<string, Component>();
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const settle = (component: string, how: string): void => {
    const known = components.get(component);
    if (known === undefined || known.how !== undefined) return;
    known.how = how;
    known.gone.resolve();
  };
  child.on('message', (message: FromKeeper) => message.kind === 'ended' && settle(message.component, message.how));
  void gone.then(() => {
    // An orderly end left nothing. If the keeper itself was killed, its process group still holds the components.
    killGroup(pid);
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    for (const component of components.keys()) settle(component, 'its keeper ended');
  });
  letGo(child);
  return {
    pid,
    directory,
    start: (component, command, args) => {
      components.set(component, { gone: Promise.withResolvers<void>() });
      send(child, { kind: 'start', component, command, args });
    },
    endOf: (component) => components.get(component)?.how,
    halt: async (component, signal) => {
      const known = components.get(component);
      if (known === undefined || known.how !== undefined) return;
      send(child, { kind: 'signal', component, signal });
      await holding(child, known.gone.promise);
      components.delete(component);
    },
    signal: (component, signal) => send(child, { kind: 'signal', component, signal }),
    end: async () => {
      if (child.connected) child.disconnect();
      if (child.exitCode === null && child.signalCode === null) await holding(child, gone);
    },
  };
}

function send(child: ChildProcess, message: ToKeeper): void {
  if (!child.connected) throw new Error('the control plane has been stopped; start a new one');
  child.send(message);
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // No such group: all of it is gone.
  }
}

async function holding<T>(child: ChildProcess, promise: Promise<T>): Promise<T> {
  child.ref();
  child.channel?.ref();
  try {
    return await promise;
  } finally {
    letGo(child);
  }
}

function letGo(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
}
