// Drives package transactions by hand, as Metacontroller does, through processes that fail where the test says (package-faults.ts).
// A process that dies loses what it had read; another one goes on. Times are those of the server. Nobody waits for them: where a call says
// that it waits for longer than any stage takes, every late request lands, and the API server's time, as the processes see it, goes on.
import { join } from 'node:path';
import type { PackageHook } from '../../hooks/crossplane/call.ts';
import { createPackageSync } from '../../hooks/crossplane/reconcile.ts';
import type { Cluster } from '../../hooks/objects/cluster.ts';
import { at, type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import { clock } from '../../server/clock.ts';
import { gzip } from '../../server/gzip.ts';
import { createCluster } from '../../server/kubernetes/cluster.ts';
import { times } from '../../server/packages.ts';
import { createRegistryClient } from '../../server/registry/client.ts';
import { must, type Teardown, waitFor } from './client.ts';
import { freeFolder } from './hook-process.ts';
import { connectionOf } from './kubeconfig.ts';
import { type Act, Died, type Faults, type Plan, troubledCluster, troubledRegistry } from './package-faults.ts';
import { ptxPath } from './package-paths.ts';
import { type PackageWorld, statusOf } from './package-world.ts';

export interface Driver {
  /** Calls until nothing is left to do for the package transaction, or it is gone; returns its last status. */
  drive(name: string, plan?: Plan): Promise<JsonObject>;
  /** From now on the time of the API server, as the processes see it, is ahead by so many ms more. */
  pass(milliseconds: number): void;
  /** One call, and its answer stored. */
  step(name: string): Promise<JsonObject>;
  /** What the last `drive` did, in order. */
  readonly acts: readonly Act[];
  /** What became of the requests of processes that were frozen, in the last `drive`. */
  readonly landed: readonly string[];
}

interface DriverOptions {
  /** ms that a call may take to read; registries have as long as they want. */
  readonly deadline?: number;
  /** The namespace of the Crossplane that runs what the processes install. */
  readonly besideIn?: string;
  /** Both processes serve each call at once, and the first answer that is stored counts; otherwise they serve strictly in turn. */
  readonly isAtOnce?: boolean;
  /** Acts of somebody else before a write, such as `delete CustomResourceDefinition`. */
  readonly before?: (what: string) => Promise<void>;
  /** Whether the campaign was interrupted: the engine, a process of the same group, is then gone, and no drive ends. */
  readonly isInterrupted?: () => boolean;
}

export function createDriver(t: Teardown, world: PackageWorld, options: DriverOptions = {}): Driver {
  const { client } = world;
  const {
    deadline = times.deadline,
    besideIn,
    isAtOnce = false,
    isInterrupted = () => false,
    before = async () => undefined,
  } = options;
  const cluster = createCluster(connectionOf(world.engineKubeconfig), { writeTimeout: 10_000 });
  t.teardown(() => cluster.close());
  const registries = createRegistryClient({ cacheDirectory: join(freeFolder(t), 'cache'), cacheBytes: 2 ** 28 });
  t.teardown(() => registries.close());
  const acts: Act[] = [];
  let [plan, phase]: [Plan, string] = [() => undefined, 'none'];
  // ms by which the time that the processes see is ahead, seconds that the last call waits for, and the calls so far.
  let [ahead, pause, calls] = [0, 0, 0];
  const faults: Faults = {
    late: [],
    thawed: [],
    landed: [],
    before,
    live(kind, what, wait) {
      const act = { kind, what, phase, number: acts.length, ...(wait === undefined ? {} : { wait }) };
      acts.push(act);
      return plan(act);
    },
  };
  const start = (): PackageHook =>
    createPackageSync({
      cluster: inLaterTime(troubledCluster(cluster, faults), () => ahead),
      clock,
      openRegistry: (opening) => troubledRegistry(registries.open({ ...opening, deadline: times.deadline }), faults),
      gzip,
      namespace: 'janus-packages',
      besideIn: () => besideIn,
      ...times,
      deadline,
      record: () => undefined,
    });
  const running = [start(), start()];

  async function step(name: string): Promise<JsonObject> {
    const parent = must(await client.get(ptxPath(name)));
    phase = textAt(statusOf(parent), 'phase') ?? 'none';
    const finalizing = at(parent, 'metadata', 'deletionTimestamp') !== undefined;
    const call = { name, uid: textAt(parent, 'metadata', 'uid') ?? '', status: statusOf(parent), finalizing };
    calls += 1;
    const seats = isAtOnce ? [0, 1] : [calls % 2];
    const stored = await Promise.all(seats.map(async (seat) => store(parent, await served(seat, call))));
    return stored.find((one) => one !== undefined) ?? parent;
  }

  /** A process that dies is followed by another one. */
  async function served(seat: number, call: Parameters<PackageHook>[0]): ReturnType<PackageHook> {
    try {
      return await (running[seat] ?? start())(call);
    } catch (error) {
      running[seat] = start();
      throw error;
    }
  }

  /** Undefined if another process has stored its answer before. */
  async function store(parent: JsonObject, reply: Awaited<ReturnType<PackageHook>>): Promise<JsonObject | undefined> {
    const name = textAt(parent, 'metadata', 'name') ?? '';
    pause = reply.resyncAfterSeconds;
    const fault = faults.live('answer', `${phase} -> ${textAt(reply.status, 'phase')}`, pause);
    if (fault !== undefined) throw new Died();
    const answer = await client.update(`${ptxPath(name)}/status`, withPath(parent, ['status'], reply.status));
    if (answer.code === 409 || answer.code === 404) return undefined;
    const stored = must(answer);
    if (reply.finalized) must(await client.patch(ptxPath(name), { metadata: { finalizers: null } }));
    return stored;
  }

  function survived(error: unknown): JsonObject {
    if (!(error instanceof Died)) throw error;
    return {};
  }

  /** Every request that was on its way has landed. */
  async function settle(): Promise<void> {
    for (const send of faults.thawed.splice(0)) await send();
    await Promise.all(faults.late.splice(0));
  }

  /** What takes longer than a stage is no event, but a time. */
  async function passTime(last: JsonObject): Promise<void> {
    const isWaiting = !['Installing', 'RollingBack'].includes(textAt(statusOf(last), 'phase') ?? '');
    if (!isWaiting || pause <= longestOfStages) return;
    await settle();
    ahead += pause * 1000;
  }

  return {
    acts,
    landed: faults.landed,
    pass(milliseconds) {
      ahead += milliseconds;
    },
    step,
    async drive(name, planned = () => undefined) {
      plan = planned;
      acts.length = 0;
      faults.landed.length = 0;
      ahead = 0;
      let last: JsonObject = {};
      const isOver = async (): Promise<boolean> => {
        const answer = await client.get(ptxPath(name));
        if (answer.code === 404 || isInterrupted()) return true;
        last = await step(name).catch(survived);
        if (isAtRest(last)) return true;
        await passTime(last);
        throw new Error(JSON.stringify(statusOf(last)));
      };
      await waitFor(isOver, `${name} to end`, { everyMs: 20, timeoutMs: 900_000 });
      await settle();
      plan = () => undefined;
      return statusOf(last);
    },
  };
}

const longestOfStages = 10;

function inLaterTime(cluster: Cluster, ahead: () => number): Cluster {
  return {
    ...cluster,
    async get(location, identity) {
      const answer = await cluster.get(location, identity);
      return answer.kind === 'ok' ? { ...answer, serverTime: answer.serverTime + ahead() } : answer;
    },
  };
}

function isAtRest(object: JsonObject): boolean {
  const status = statusOf(object);
  const isOver = ['Succeeded', 'Failed'].includes(textAt(status, 'phase') ?? '') && at(status, 'sweepTime') === undefined;
  return isOver && at(object, 'metadata', 'deletionTimestamp') === undefined;
}
