// The background work of the hook. It creates the sealing key and follows its rotation. It garbage-collects Leases and snapshots, and
// reloads the files that authenticate callers.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sealer } from '../hooks/objects/cluster.ts';
import { sweepLeases, sweepSnapshots } from '../hooks/transactions/sweep.ts';
import type { OpenAccess } from './access/open.ts';
import type { App } from './app.ts';
import type { KubernetesCluster } from './kubernetes/cluster.ts';
import type { KeyRing } from './kubernetes/sealer.ts';
import { ensureSealingKeys, type KeyRingAnswer, readSealingKeys } from './kubernetes/sealing-key.ts';
import { errorFields } from './telemetry/record.ts';

/** The latest key ring read; undefined until the first. */
export interface SealingKeys {
  latest: KeyRing | undefined;
}

interface BackgroundParts {
  readonly app: App;
  readonly cluster: KubernetesCluster;
  readonly keys: SealingKeys;
  readonly sealer: Sealer;
  readonly opened: OpenAccess;
  readonly engineNamespace: string;
  /** The namespaces to serve; empty for all. */
  readonly namespaces: readonly string[];
}

const keyReadInterval = 60_000;
const sweepInterval = 600_000;
const accessReadInterval = 1_000;

/** Resolves once `over` is aborted. */
export async function runInBackground(parts: BackgroundParts, over: AbortSignal): Promise<void> {
  await Promise.all([followKeys(parts, over), collectGarbage(parts, over), followAccess(parts, over)]);
}

function pause(milliseconds: number, over: AbortSignal): Promise<void> {
  return sleep(milliseconds, undefined, { signal: over }).catch(() => undefined);
}

// Creates the key once, with retries until the API server answers. Then it follows the rotation of the key.
async function followKeys({ app, cluster, keys, engineNamespace }: BackgroundParts, over: AbortSignal): Promise<void> {
  let delay = 500;
  while (!over.aborted) {
    const read = keys.latest === undefined ? ensureSealingKeys : readSealingKeys;
    const answer = await read(cluster, engineNamespace);
    if (answer.kind === 'ok') keys.latest = answer.keyRing;
    else logFailure(app, answer, engineNamespace);
    delay = keys.latest === undefined ? Math.min(delay * 2, 30_000) : keyReadInterval;
    await pause(delay, over);
  }
}

function logFailure(app: App, answer: Exclude<KeyRingAnswer, { kind: 'ok' }>, namespace: string): void {
  const { reason, message } = answer.failure;
  app.server.log.warn({ reason, trouble: message, namespace }, 'the sealing key cannot be read');
}

// Leases and snapshots of deleted Transactions.
async function collectGarbage(parts: BackgroundParts, over: AbortSignal): Promise<void> {
  const { app, cluster, keys, sealer, engineNamespace, namespaces } = parts;
  while (!over.aborted) {
    try {
      const leases = await sweepLeases(cluster, engineNamespace);
      const deleted = leases + (keys.latest === undefined ? 0 : await sweepSnapshots(cluster, sealer, namespaces));
      if (deleted > 0) app.server.log.info({ deleted }, 'garbage-collected leases and snapshots of deleted Transactions');
    } catch (error) {
      app.server.log.error(errorFields(error), 'garbage collection of leases and snapshots failed');
    }
    await pause(sweepInterval, over);
  }
}

// kubelet updates a mounted Secret within a minute or so; the hook notices within a second.
async function followAccess({ app, opened }: BackgroundParts, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await pause(accessReadInterval, over);
    opened.readAgain(app.server.log, app.renewTls);
  }
}
