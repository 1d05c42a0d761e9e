// A hook as users start it, in a separate process that can be killed, stopped and woken at any request.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startHook } from '../../../scripts/demo/hook.ts';
import type { Undo } from '../../../scripts/demo/undo.ts';
import type { World } from '../world.ts';
import type { FromSwitch, Strike, ToSwitch } from './switch.ts';

export interface HookProcess {
  readonly address: string;
  /** Counts the requests of calls from 1 again; with a strike, the process is struck at that request. */
  arm(strike?: Strike): Promise<void>;
  /** The requests since then. */
  requests(): Promise<readonly string[]>;
  signal(signal: NodeJS.Signals): void;
  /** Whether a signal has stopped it. */
  isStopped(): boolean;
  readonly gone: Promise<unknown>;
}

export interface HookSettings {
  readonly port: number;
  /** Path of the kubeconfig; the one of the world by default. */
  readonly kubeconfig?: string;
  /** JANUS_CALL_BUDGET; the default without it. */
  readonly callBudget?: string;
  /** The program; server/main.ts of this checkout by default. */
  readonly program?: string;
}

export async function startHookProcess(
  world: World,
  undo: Undo,
  { port, kubeconfig, callBudget, program }: HookSettings,
): Promise<HookProcess> {
  const flags = ['--import', join(import.meta.dirname, 'switch.ts')];
  const environment = {
    PORT: String(port),
    ...(kubeconfig === undefined ? {} : { KUBECONFIG: kubeconfig }),
    ...(callBudget === undefined ? {} : { JANUS_CALL_BUDGET: callBudget }),
  };
  const options = { flags, environment, ...(program === undefined ? {} : { program }) };
  const { address, process: child } = await startHook(world.controller, world.kubeconfig, undo, options);
  return {
    address,
    arm: async (strike) => void (await ask(child, strike === undefined ? { kind: 'arm' } : { kind: 'arm', strike })),
    requests: async () => {
      const answer = await ask(child, { kind: 'count' });
      return answer.kind === 'counted' ? answer.requests : [];
    },
    signal: (signal) => void child.kill(signal),
    isStopped: () => isStopped(child),
    gone: once(child, 'exit'),
  };
}

async function ask(child: ChildProcess, message: ToSwitch): Promise<FromSwitch> {
  const answered = once(child, 'message');
  child.send(message);
  const [answer] = (await answered) as [FromSwitch];
  return answer;
}

function isStopped({ pid }: ChildProcess): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
}
