// Drives package transactions by hand, as Metacontroller does, through processes that fail where the test says (package-faults.ts).
// A process that dies loses what it had read; another one goes on.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { at, type JsonObject, textAt, withPath } from '../../hooks/model/json.ts';
import type { PackageHook } from '../../hooks/packages/call.ts';
import { createPackageSync } from '../../hooks/packages/sync.ts';
import { clock } from '../../server/clock.ts';
import { gzip } from '../../server/gzip.ts';
import { createCluster } from '../../server/kubernetes/cluster.ts';
import { createRegistryClient } from '../../server/registry/client.ts';
import { must, type Teardown, waitFor } from './client.ts';
import { freeFolder } from './hook-process.ts';
import { connectionOf } from './kubeconfig.ts';
import { type Act, Died, type Faults, type Plan, troubledCluster, troubledRegistry } from './package-faults.ts';
import { ptxPath } from './package-paths.ts';
import { type PackageWorld, statusOf } from './package-world.ts';

export interface Driver {
  /** Calls until the package transaction is finished, or gone; returns its last status. */
  drive(name: string, plan?: Plan): Promise<JsonObject>;
  /** One call, and its answer stored. */
  step(name: string): Promise<JsonObject>;
  /** What the last `drive` did, in order. */
  readonly acts: readonly Act[];
}

interface DriverOptions {
  /** ms for which the process believes that a request may be late; by default nothing is late. */
  readonly lateness?: number;
  /** ms that a call may take to read; registries have as long as they want. */
  readonly deadline?: number;
  /** Processes that serve each call at the same time; the first answer that is stored counts. */
  readonly hooks?: number;
  /** Whether the campaign was interrupted: the engine, a process of the same group, is then gone, and no drive comes to its end. */
  readonly isInterrupted?: () => boolean;
}

export function createDriver(t: Teardown, world: PackageWorld, options: DriverOptions = {}): Driver {
  const { client } = world;
  const { lateness = 0, deadline = 18_000, hooks = 1, isInterrupted = () => false } = options;
  const cluster = createCluster(connectionOf(world.engineKubeconfig), { writeTimeout: 10_000 });
  t.teardown(() => cluster.close());
  const registries = createRegistryClient({ cacheDirectory: join(freeFolder(t), 'cache'), cacheBytes: 2 ** 28 });
  t.teardown(() => registries.close());
  const acts: Act[] = [];
  let [plan, phase]: [Plan, string] = [() => undefined, 'none'];
  const faults: Faults = {
    late: [],
    live(kind, what) {
      const act = { kind, what, phase, number: acts.length };
      acts.push(act);
      return plan(act);
    },
  };
  const start = (): PackageHook =>
    createPackageSync({
      cluster: troubledCluster(cluster, faults),
      clock,
      openRegistry: (opening) => troubledRegistry(registries.open({ ...opening, deadline: 18_000 }), faults),
      gzip,
      namespace: 'janus-packages',
      deadline,
      sendingTime: 25_000,
      lateness,
      writer: randomUUID(),
      record: () => undefined,
    });
  let running = Array.from({ length: hooks }, start);

  async function step(name: string): Promise<JsonObject> {
    const parent = must(await client.get(ptxPath(name)));
    phase = textAt(statusOf(parent), 'phase') ?? 'none';
    const finalizing = at(parent, 'metadata', 'deletionTimestamp') !== undefined;
    const call = { name, uid: textAt(parent, 'metadata', 'uid') ?? '', status: statusOf(parent), finalizing };
    const replies = await Promise.all(running.map((hook) => hook(call)));
    const stored = await Promise.all(replies.map((reply) => store(parent, reply)));
    return stored.find((one) => one !== undefined) ?? parent;
  }

  /** Undefined if another process has stored its answer before. */
  async function store(parent: JsonObject, reply: Awaited<ReturnType<PackageHook>>): Promise<JsonObject | undefined> {
    const name = textAt(parent, 'metadata', 'name') ?? '';
    const fault = faults.live('answer', `${phase} -> ${textAt(reply.status, 'phase')}`);
    if (fault !== undefined) throw new Died();
    const answer = await client.update(`${ptxPath(name)}/status`, withPath(parent, ['status'], reply.status));
    if (answer.code === 409 || answer.code === 404) return undefined;
    const stored = must(answer);
    if (reply.finalized) must(await client.patch(ptxPath(name), { metadata: { finalizers: null } }));
    return stored;
  }

  /** The process died: the next one goes on. */
  function survived(error: unknown): JsonObject {
    if (!(error instanceof Died)) throw error;
    running = Array.from({ length: hooks }, start);
    return {};
  }

  return {
    acts,
    step,
    async drive(name, planned = () => undefined) {
      plan = planned;
      acts.length = 0;
      let last: JsonObject = {};
      const isOver = async (): Promise<boolean> => {
        const answer = await client.get(ptxPath(name));
        if (answer.code === 404 || isInterrupted()) return true;
        last = await step(name).catch(survived);
        if (isAtRest(last)) return true;
        throw new Error(JSON.stringify(statusOf(last)));
      };
      await waitFor(isOver, `${name} to end`, { everyMs: 20, timeoutMs: 240_000 });
      await Promise.all(faults.late.splice(0));
      plan = () => undefined;
      return statusOf(last);
    },
  };
}

function isAtRest(object: JsonObject): boolean {
  const isOver = ['Succeeded', 'Failed'].includes(textAt(statusOf(object), 'phase') ?? '');
  return isOver && at(object, 'metadata', 'deletionTimestamp') === undefined;
}
