// Transactions that are not stored: the engine is given them by its port, as if the definition of Transactions in the cluster had
// no rules. Everything else is the real API server. The status lies with the ghost, as Metacontroller would store it.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster, Write } from '../../hooks/objects/cluster.ts';
import { at, isObject, type JsonObject, textAt, withKey } from '../../hooks/objects/json.ts';
import type { Call, Hook, Reply } from '../../hooks/transactions/call.ts';
import { createSync } from '../../hooks/transactions/reconcile.ts';
import { clock } from '../../server/clock.ts';
import { createCluster } from '../../server/kubernetes/cluster.ts';
import { createSealer } from '../../server/kubernetes/sealer.ts';
import type { Teardown } from '../support/client.ts';
import { engineNamespace } from '../support/install.ts';
import { connectionOf } from '../support/kubeconfig.ts';
import { manifests } from '../support/manifests.ts';
import { conditionOf, type Stage } from '../support/stage.ts';
import { surface } from '../support/surface.ts';

interface GhostRun {
  /** The status with which it is at rest. */
  readonly status: JsonObject;
  /** Reason of the condition Succeeded. */
  readonly reason: string;
  readonly writes: readonly Write[];
}

/** Runs a Transaction of that name, spec and those annotations to its end. */
export type RunGhost = (name: string, spec: JsonObject, annotations: JsonObject) => Promise<GhostRun>;

/** A guard against hanging. */
const longestRun = 120_000;

const keys = { current: 'a', keys: new Map([['a', Buffer.alloc(32)]]) };

export function openGhosts(t: Teardown, { engineKubeconfig, namespace }: Stage): RunGhost {
  const ghosts = new Map<string, JsonObject>();
  const writes = new Map<string, Write[]>();
  const cluster = createCluster(connectionOf(engineKubeconfig), { writeTimeout: 10_000 });
  t.teardown(() => cluster.close());
  const hook = createSync({
    cluster: haunted(cluster, ghosts, writes),
    sealer: createSealer(() => keys),
    manifests,
    clock,
    timing: { stepDeadline: 20_000, writeTimeout: 10_000 },
    engineNamespace,
    record: surface,
  });
  return async (name, spec, annotations) => {
    const uid = randomUUID();
    const metadata = { namespace, name, uid, resourceVersion: '1', annotations };
    ghosts.set(name, { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata, spec });
    writes.set(uid, []);
    const status = await statusAtRest(hook, { namespace, name, uid, status: {}, children: [] }, ghosts);
    return ended(status, writes.get(uid) ?? []);
  };
}

// What it waits for (an API server that is busy) happens elsewhere.
function comesLater(reply: Reply): boolean {
  return reply.kind === 'retry' || reply.resyncAfterSeconds > 0;
}

function finishedBy(reply: Reply): JsonObject | undefined {
  return reply.kind === 'status' && conditionOf(reply.status, 'Finished') === 'True' ? reply.status : undefined;
}

async function statusAtRest(hook: Hook, call: Call, ghosts: Map<string, JsonObject>): Promise<JsonObject> {
  const end = performance.now() + longestRun;
  while (performance.now() < end) {
    const reply = await hook(call);
    if (reply.kind === 'status') ghosts.set(call.name, withKey(ghosts.get(call.name) ?? {}, 'status', reply.status));
    const finished = finishedBy(reply);
    if (finished !== undefined) return finished;
    if (comesLater(reply)) await sleep(100);
  }
  throw new Error(`${call.name} is not at rest: ${JSON.stringify(at(ghosts.get(call.name), 'status'))}`);
}

function ended(status: JsonObject, writes: readonly Write[]): GhostRun {
  const conditions = at(status, 'conditions');
  const found = Array.isArray(conditions) ? conditions.find((one) => isObject(one) && one.type === 'Succeeded') : undefined;
  return { status, reason: textAt(found, 'reason') ?? '', writes };
}

/** A write belongs to the ghost whose uid it contains: Leases and snapshots carry it, targets as the field manager. */
function haunted(cluster: Cluster, ghosts: ReadonlyMap<string, JsonObject>, writes: ReadonlyMap<string, Write[]>): Cluster {
  return {
    ...cluster,
    get: async (location, identity) => {
      const ghost = location.resource.kind === 'Transaction' ? ghosts.get(location.name) : undefined;
      return ghost === undefined ? cluster.get(location, identity) : { kind: 'ok', object: ghost, serverTime: Date.now() };
    },
    send: (write) => {
      const text = JSON.stringify(write);
      const owner = [...writes.keys()].find((uid) => text.includes(uid) || text.includes(uid.slice(0, 8)));
      writes.get(owner ?? '')?.push(write);
      return cluster.send(write);
    },
  };
}
