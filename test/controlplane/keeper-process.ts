// A process of its own that owns a control plane: its directory and its components, which are children of this process.
// It ends, taking all of them along, when the channel to its parent closes: that happens however the parent ends, also by
// SIGKILL. It is in a process group of its own, so a Ctrl-C in the terminal does not reach the components first.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FromKeeper, ToKeeper } from './keeper.ts';

const directory = mkdtempSync(join(tmpdir(), 'janus-controlplane-'));
const children = new Map<string, ChildProcess>();
let ending = false;

function notify(message: FromKeeper): void {
  if (process.connected) process.send?.(message, () => undefined);
}

function start(component: string, command: string, args: readonly string[]): void {
  const log = openSync(join(directory, `${component}.log`), 'a', 0o600);
  const child = spawn(command, args, { cwd: directory, stdio: ['ignore', log, log] });
  children.set(component, child);
  let failure: string | undefined;
  child.on('error', (error) => {
    failure = error.message;
    writeSync(log, `${error.message}\n`);
    if (child.pid === undefined) ended(component, failure);
  });
  child.on('exit', (code, signal) => ended(component, failure ?? `${signal ?? `exit code ${code}`}`));
  child.on('close', () => closeSync(log));
}

function ended(component: string, how: string): void {
  children.delete(component);
  notify({ kind: 'ended', component, how });
  if (ending) endWhenAlone();
}

/** SIGKILL for all at once: what they hold is thrown away, and an orderly stop would only take longer. */
function end(): void {
  ending = true;
  for (const child of children.values()) child.kill('SIGKILL');
  endWhenAlone();
}

function endWhenAlone(): void {
  if (children.size > 0) return;
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  process.exit(0);
}

process.on('message', (message: ToKeeper) => {
  if (ending) return;
  if (message.kind === 'start') start(message.component, message.command, message.args);
  else children.get(message.component)?.kill(message.signal);
});
process.on('disconnect', end);
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end);
process.title = `keeper of ${directory}`;
notify({ kind: 'opened', directory });
