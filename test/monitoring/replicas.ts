// Replicas of the hook as processes, behind one address that calls them in turn, as a Service does. Each keeps an address of its own
// for Prometheus.
import { type RunningHook, startHook } from '../../scripts/demo/hook.ts';
import { createUndo } from '../../scripts/demo/undo.ts';
import type { Client, Teardown } from '../support/client.ts';
import { startInTurn } from '../support/in-turn.ts';

interface Replicas {
  /** Calls to it go to one replica after the other. */
  readonly url: string;
  /** The address of each, whichever process is behind it now. */
  readonly own: readonly string[];
  /** Ends a replica as Kubernetes does, and starts another in its place. */
  restart(index: number): Promise<void>;
}

export async function startReplicas(t: Teardown, client: Client, kubeconfig: string, count: number): Promise<Replicas> {
  const undo = createUndo();
  t.teardown(() => undo.run());
  const start = (): Promise<RunningHook> => startHook(client, kubeconfig, undo);
  const running: RunningHook[] = [];
  for (let index = 0; index < count; index += 1) running.push(await start());
  const front = async (addresses: () => readonly string[]): Promise<string> => {
    const { address, close } = await startInTurn(addresses);
    t.teardown(close);
    return address;
  };
  const own = await Promise.all(running.map((_, index) => front(() => [running[index]?.address ?? ''])));
  return {
    url: await front(() => running.map(({ address }) => address)),
    own,
    async restart(index) {
      const before = running[index]?.process;
      const ended = new Promise((resolve) => before?.once('exit', resolve));
      before?.kill('SIGTERM');
      await ended;
      running[index] = await start();
    },
  };
}
