// The demo as people start it, by a command. Ctrl-C ends it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Teardown } from './client.ts';
import { pathWithKubectl } from './kubectl.ts';
import { root } from './pages.ts';

export const kubeconfigLine = /^ +export KUBECONFIG=(\S+)/;
export const hookLine = /server\/main\.ts, listens at (\S+)/;
/** The last line before the demo waits for Ctrl-C. */
export const lastLine = /kubectl .* annotate tx deploy-v2 tx\.janus\.io\/request-rollback=again$/;

interface Started {
  readonly ended: Promise<number | null>;
  readonly output: () => string;
  /** Resolves with the line's first group as soon as a line matches. */
  line(pattern: RegExp, then?: () => void): Promise<string>;
  /** Ctrl-C: the signal reaches each process of the command. */
  interrupt(): void;
}

export function start(t: Teardown, command: readonly string[], more: Readonly<Record<string, string>> = {}): Started {
  const [file = '', ...args] = command;
  const { PATH, HOME, XDG_CACHE_HOME, METACONTROLLER, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, HOME, XDG_CACHE_HOME, METACONTROLLER, NODE_COMPILE_CACHE, ...more };
  const child = spawn(file, args, { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const signal = (name: NodeJS.Signals): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, name);
  };
  t.teardown(() => signal('SIGKILL'));
  const lines: string[] = [];
  const readers = [child.stdout, child.stderr].map((input) => createInterface({ input }));
  for (const reader of readers) reader.on('line', (line) => lines.push(line));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    ended,
    output: () => lines.join('\n'),
    interrupt: () => signal('SIGINT'),
    line: (pattern, then) =>
      new Promise((resolve, reject) => {
        for (const reader of readers)
          reader.on('line', (line) => {
            const found = pattern.exec(line);
            if (found === null) return;
            then?.();
            resolve(found[1] ?? '');
          });
        void ended.then(() =>
          reject(new Error(`${command.join(' ')} ended without a line like ${pattern}:\n${lines.join('\n')}`)),
        );
      }),
  };
}

/** The variables of a reader. What the reader installs globally goes into a folder of this test. */
export async function readersEnvironment(t: Teardown, kubeconfig: string): Promise<Readonly<Record<string, string>>> {
  const prefix = mkdtempSync(join(tmpdir(), 'janus-tutorial-'));
  t.teardown(() => rmSync(prefix, { recursive: true }));
  const PATH = `${join(prefix, 'bin')}${delimiter}${await pathWithKubectl()}`;
  return { PATH, KUBECONFIG: kubeconfig, npm_config_prefix: prefix };
}
