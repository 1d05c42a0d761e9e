// Two hooks as they are shipped: processes with the heap limit of the image, calls balanced between them by request.
import { readFileSync } from 'node:fs';
import type { Teardown } from './client.ts';
import { hookEnvironment, ready, startHookProcess, withParent } from './hook-process.ts';
import { startInTurn } from './in-turn.ts';
import { engineNamespace } from './install.ts';

export interface Replicas {
  /** The address that hands each call to the next replica. */
  readonly address: string;
  readonly replicas: readonly (ReturnType<typeof startHookProcess> & { readonly url: string })[];
}

export async function startReplicas(
  t: Teardown,
  kubeconfig: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Replicas> {
  const environment = { ...hookEnvironment(t, kubeconfig, engineNamespace), ...more };
  // The test runner adds its own modules to each process that a test starts: these would take half of the heap.
  const command = ['/usr/bin/env', '-u', 'NODE_OPTIONS', process.execPath, ...withParent, ...shippedFlags(), 'server/main.ts'];
  const replicas = await Promise.all(
    [0, 1].map(async () => {
      const replica = startHookProcess(t, environment, command);
      return { ...replica, url: await ready(await replica.address()) };
    }),
  );
  const front = await startInTurn(() => replicas.map(({ url }) => url));
  t.teardown(() => front.close());
  return { address: front.address, replicas };
}

/** The flags of `npm start`; test/packaging holds the Dockerfile to them. */
function shippedFlags(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return String(scripts.start)
    .split(' ')
    .filter((word) => word.startsWith('--'));
}
