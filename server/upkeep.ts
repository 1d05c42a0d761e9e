// What the hook does beside its calls, until it ends: the sealing key made and its rotation followed, what was left behind swept,
// the files read again by which callers are known.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sealer } from '../hooks/cluster.ts';
import { sweepLeases, sweepSnapshots } from '../hooks/sweep.ts';
import type { OpenAccess } from './access/open.ts';
import type { App } from './app.ts';
import type { KubernetesCluster } from './kubernetes/cluster.ts';
import type { KeyRing } from './kubernetes/sealer.ts';
import { ensureSealingKeys, type KeyRingAnswer, readSealingKeys } from './kubernetes/sealing-key.ts';
import { errorFields } from './telemetry.ts';

export interface Keys {
  latest: KeyRing | undefined;
}

export interface Running {
  readonly app: App;
  readonly cluster: KubernetesCluster;
  readonly keys: Keys;
  readonly sealer: Sealer;
  readonly opened: OpenAccess;
  readonly engineNamespace: string;
  /** The namespaces that are served; none for all. */
  readonly namespaces: readonly string[];
}

const keyReadInterval = 60_000;
const sweepInterval = 600_000;
const accessReadInterval = 1_000;

/** Resolves once `over` is aborted. */
export async function keepUp(running: Running, over: AbortSignal): Promise<void> {
  await Promise.all([keepKeys(running, over), keepSwept(running, over), keepAccess(running, over)]);
}

function pause(milliseconds: number, over: AbortSignal): Promise<void> {
  return sleep(milliseconds, undefined, { signal: over }).catch(() => undefined);
}

// Makes the key once, however long the API server takes, and then follows its rotation.
async function keepKeys({ app, cluster, keys, engineNamespace }: Running, over: AbortSignal): Promise<void> {
  let delay = 500;
  while (!over.aborted) {
    const ask = keys.latest === undefined ? ensureSealingKeys : readSealingKeys;
    const answer = await ask(cluster, engineNamespace);
    if (answer.kind === 'ok') keys.latest = answer.keyRing;
    else tellTrouble(app, answer, engineNamespace);
    delay = keys.latest === undefined ? Math.min(delay * 2, 30_000) : keyReadInterval;
    await pause(delay, over);
  }
}

function tellTrouble(app: App, answer: Exclude<KeyRingAnswer, { kind: 'ok' }>, namespace: string): void {
  const { reason, message } = answer.failure;
  app.server.log.warn({ reason, trouble: message, namespace }, 'the sealing key cannot be read');
}

// Locks and snapshots that nobody is left to let go.
async function keepSwept({ app, cluster, keys, sealer, engineNamespace, namespaces }: Running, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    try {
      const leases = await sweepLeases(cluster, engineNamespace);
      const swept = leases + (keys.latest === undefined ? 0 : await sweepSnapshots(cluster, sealer, namespaces));
      if (swept > 0) app.server.log.info({ swept }, 'what Transactions that are no more have left is gone');
    } catch (error) {
      app.server.log.error(errorFields(error), 'what Transactions that are no more have left could not be swept');
    }
    await pause(sweepInterval, over);
  }
}

// A Secret that has changed is in its files within a minute or so; here that is noticed at once.
async function keepAccess({ app, opened }: Running, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await pause(accessReadInterval, over);
    opened.readAgain(app.server.log, app.renewTls);
  }
}
