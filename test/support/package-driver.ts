// Drives package transactions by hand, as Metacontroller does, with a process that dies where the test says: before or after a write,
// or before its answer is stored. What it had read is lost with it.
import { join } from 'node:path';
import type { Answer, Cluster, Write } from '../../hooks/cluster.ts';
import { at, type JsonObject, textAt, withPath } from '../../hooks/model/json.ts';
import { createPackageSync } from '../../hooks/packages/sync.ts';
import { clock } from '../../server/clock.ts';
import { gzip } from '../../server/gzip.ts';
import { createCluster } from '../../server/kubernetes/cluster.ts';
import { kubeconfigConnection } from '../../server/kubernetes/kubeconfig.ts';
import { createRegistryClient } from '../../server/registry/client.ts';
import { must, type Teardown, waitFor } from './client.ts';
import { freeFolder } from './hook-process.ts';
import { type PackageWorld, ptxPath, statusOf } from './package-world.ts';

/** Where a process dies: at the write of this number, counted from 0 over its life, or before it stores that answer. */
export interface Death {
  readonly at: 'before write' | 'after write' | 'before answer';
  readonly number: number;
}

class Died extends Error {}

export interface Driver {
  /** Calls until the package transaction is finished, or gone; returns its last status. Restarts once, where it dies. */
  drive(name: string, death?: Death): Promise<JsonObject>;
  /** One call, and its answer stored. */
  step(name: string): Promise<JsonObject>;
  /** What the last `drive` did, in order. */
  readonly writes: readonly string[];
  readonly answers: readonly string[];
}

/** `lateness`: how long the process believes that a request may be late; nothing is late here. */
export function createDriver(t: Teardown, world: PackageWorld, lateness = 0): Driver {
  const { client } = world;
  const cluster = createCluster(kubeconfigConnection(world.engineKubeconfig), { writeTimeout: 10_000 });
  t.teardown(() => cluster.close());
  const registries = createRegistryClient({ cacheDirectory: join(freeFolder(t), 'cache'), cacheBytes: 2 ** 28 });
  t.teardown(() => registries.close());
  const writes: string[] = [];
  const answers: string[] = [];
  let death: Death | undefined;
  const isDue = (at: Death['at'], number: number): boolean => death?.at === at && death.number === number;
  const die = (): never => {
    death = undefined;
    throw new Died();
  };
  const mortal: Cluster = {
    ...cluster,
    async send(write: Write): Promise<Answer> {
      const number = writes.length;
      if (isDue('before write', number)) die();
      writes.push(`${write.verb} ${write.location.resource.kind} ${write.location.name}`);
      const answer = await cluster.send(write);
      return isDue('after write', number) ? die() : answer;
    },
  };
  const hook = createPackageSync({
    cluster: mortal,
    clock,
    openRegistry: (pullSecrets, deadline) => registries.open({ pullSecrets, deadline }),
    gzip,
    namespace: 'janus-packages',
    deadline: 18_000,
    lateness,
    record: () => undefined,
  });

  async function step(name: string): Promise<JsonObject> {
    const parent = must(await client.get(ptxPath(name)));
    const finalizing = at(parent, 'metadata', 'deletionTimestamp') !== undefined;
    const reply = await hook({ name, uid: textAt(parent, 'metadata', 'uid') ?? '', status: statusOf(parent), finalizing });
    const number = answers.length;
    answers.push(`${textAt(statusOf(parent), 'phase') ?? 'none'} -> ${textAt(reply.status, 'phase')}`);
    if (isDue('before answer', number)) die();
    const stored = must(await client.update(`${ptxPath(name)}/status`, withPath(parent, ['status'], reply.status)));
    if (reply.finalized) must(await client.patch(ptxPath(name), { metadata: { finalizers: null } }));
    return stored;
  }

  return {
    writes,
    answers,
    step,
    async drive(name, planned) {
      death = planned;
      writes.length = 0;
      answers.length = 0;
      let last: JsonObject = {};
      const isOver = async (): Promise<boolean> => {
        const answer = await client.get(ptxPath(name));
        if (answer.code === 404) return true;
        last = await step(name).catch(survived);
        return ['Succeeded', 'Failed'].includes(textAt(statusOf(last), 'phase') ?? '') && !isDeleted(last);
      };
      await waitFor(isOver, `${name} to end`, { everyMs: 20, timeoutMs: 120_000 });
      return statusOf(last);
    },
  };
}

/** The process died: the next one goes on. */
function survived(error: unknown): JsonObject {
  if (error instanceof Died) return {};
  throw error;
}

function isDeleted(object: JsonObject): boolean {
  return at(object, 'metadata', 'deletionTimestamp') !== undefined;
}
