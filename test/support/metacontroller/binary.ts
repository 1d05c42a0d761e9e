// Finds the real Metacontroller and runs it as a child process. It serves the CompositeControllers that its selector names, so that
// several can run on one cluster.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { isProgram } from '../program.ts';

/** A label on the CompositeController; its value is the name of the loop. */
export const loopLabel = 'tx.janus.io/loop';

/**
 * The program that METACONTROLLER names, otherwise `metacontroller` on PATH, otherwise undefined. Throws if METACONTROLLER names no
 * program: a user who sets it wants that program and no other.
 */
export function findMetacontroller(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const named = environment.METACONTROLLER;
  if (named !== undefined && named !== '') {
    if (isProgram(named)) return named;
    throw new Error(
      `METACONTROLLER: expected the path of a program, found ${named}; build it, or unset the variable to use the double`,
    );
  }
  const folders = (environment.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, 'metacontroller')).find(isProgram);
}

interface BinaryOptions {
  readonly program: string;
  readonly kubeconfig: string;
  /** Which CompositeControllers it serves. */
  readonly selector: string;
  /** Where the lock of its leader is; it elects none by default. */
  readonly leaderNamespace?: string;
  readonly workers: number;
  readonly qps: number;
  readonly burst: number;
}

interface RunningBinary {
  /** By SIGTERM; SIGKILL, as a node that is lost: it gives nothing back. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** Resolves when its health probe answers; rejects with its last output if it ends before. */
export async function startBinary(options: BinaryOptions): Promise<RunningBinary> {
  const [metrics, health] = await freePorts(2);
  const flags = [
    `--workers=${options.workers}`,
    `--client-go-qps=${options.qps}`,
    `--client-go-burst=${options.burst}`,
    `--metrics-address=127.0.0.1:${metrics}`,
    `--health-probe-bind-address=127.0.0.1:${health}`,
    `--target-label-selector=${options.selector}`,
    ...(options.leaderNamespace === undefined
      ? ['--leader-election=false']
      : ['--leader-election=true', `--leader-election-namespace=${options.leaderNamespace}`]),
    '--discovery-interval=1s',
    '--zap-log-level=error',
  ];
  const child = spawn(options.program, flags, {
    env: { ...process.env, KUBECONFIG: options.kubeconfig },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const words = lastWords(child);
  const stop = stopper(child);
  try {
    await ready(child, `http://127.0.0.1:${health}/readyz`, words);
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}

async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  });
  for (const server of servers) server.close();
  return ports;
}

function lastWords(child: ChildProcess): () => string {
  let text = '';
  const keep = (words: string): void => {
    text = (text + words).slice(-4000);
  };
  child.stderr?.setEncoding('utf8').on('data', keep);
  child.on('error', (error) => keep(error.message));
  return () => text;
}

// Also ends it when this process exits, so that nothing is left behind.
function stopper(child: ChildProcess): RunningBinary['stop'] {
  const kill = (): void => {
    child.kill('SIGKILL');
  };
  process.once('exit', kill);
  return async (signal = 'SIGTERM') => {
    process.off('exit', kill);
    if (hasEnded(child)) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    const timer = setTimeout(kill, 10_000);
    await ended;
    clearTimeout(timer);
  };
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

async function ready(child: ChildProcess, probe: string, words: () => string): Promise<void> {
  for (const end = performance.now() + 60_000; performance.now() < end; await delay(50)) {
    if (hasEnded(child)) throw new Error(`${child.spawnfile} ended before it was ready: ${words()}`);
    const answered = await fetch(probe).then(
      (response) => response.ok,
      () => false,
    );
    if (answered) return;
  }
  throw new Error(`${child.spawnfile}: expected ${probe} to answer within 60 s; it said: ${words()}`);
}
