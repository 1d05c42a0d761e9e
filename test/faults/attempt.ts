// One case: runs a story with its faults to its end, deletes it, and checks the invariants.
import { at, isList, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { sweepLeases, sweepSnapshots } from '../../hooks/transactions/sweep.ts';
import { waitFor } from '../support/client.ts';
import { engineNamespace } from '../support/install.ts';
import { drive, letGo, wokenOf } from './drive.ts';
import { forgetEarlier, makeEarlier } from './earlier.ts';
import { allTargets, type Evidence, transactionsOf } from './evidence.ts';
import { violations } from './invariants.ts';
import { laterCluster } from './port.ts';
import { callFor, createRun, finalizersOf, type Run, type RunOptions, read, setUp, targets } from './run.ts';
import { homeOf, type Story } from './story.ts';
import type { World } from './world.ts';

export interface Attempt {
  readonly run: Run;
  readonly evidence: Evidence;
  readonly violations: readonly string[];
  /** Port calls and calls of the hook until the story was over. */
  readonly portCalls: number;
  readonly hookCalls: number;
}

/** The part of a run that reading its objects needs. */
type NamedRun = Pick<Run, 'world' | 'names' | 'story'> & Partial<Pick<Run, 'forged'>>;

type Evaluate = (evidence: Evidence) => readonly string[];

/** `options` may need the run: an actor in a gap acts in that run. */
export async function attempt(
  world: World,
  story: Story,
  options: RunOptions | ((run: () => Run) => RunOptions) = {},
  evaluate: Evaluate = violations,
): Promise<Attempt> {
  const given = typeof options === 'function' ? options(() => run) : options;
  const run = createRun(world, story, given);
  await setUp(run);
  await settled(run);
  const releases = await makeEarlier(run);
  const before = await targets(run);
  const failure = await failureOf(drive(run).then(() => given.afterwards?.()));
  const [portCalls, hookCalls] = [run.board.calls.length, run.board.hookCall];
  run.board.faultOf = () => undefined;
  const after = await targets(run);
  const writesAtRest = await lookAtRest(run).catch((error: unknown) => [`it threw: ${String(error)}`]);
  const ends = await endsOf(run);
  const struckAt = run.board.struckAt;
  const hindrance = await failureOf(deleted(run));
  const leftovers = await leftoversOf(run);
  const evidence: Evidence = {
    story,
    names: run.names,
    events: world.audit.take(run.names.run),
    portCalls: run.board.calls.slice(0, portCalls),
    reports: run.board.reports,
    uids: run.uids,
    hookCalls: run.hookCalls.filter((call) => call.portCalls <= portCalls),
    struckAt,
    hadHookFaults: given.hookFaults !== undefined,
    isOneByOne: (given.timing?.callBudget ?? world.callBudget) === 0,
    releases,
    before: new Map([...before, ...run.since]),
    after,
    finally: await targets(run),
    ends,
    writesAtRest,
    leftovers,
    bystanders: (await given.bystanders?.()) ?? [],
  };
  await forgetEarlier(run);
  await removeTargets(run);
  const thrown = [failure, hindrance].flatMap((text) => (text === undefined ? [] : [`it threw: ${text}`]));
  const unseen = evidence.events.length === 0 ? ['the audit log has no event of this run'] : [];
  const found = [...thrown, ...unseen, ...evaluate(evidence)];
  return { run, evidence, violations: found, portCalls, hookCalls };
}

function failureOf(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
  );
}

async function deleted(run: Run): Promise<void> {
  const from = run.board.calls.length;
  run.board.faultOf = ({ number }) => run.options.whileDeleted?.(number - from);
  await letGo(run);
  run.board.faultOf = () => undefined;
}

export async function endsOf(run: NamedRun): Promise<ReadonlyMap<string, JsonObject | undefined>> {
  const entries = transactionsOf(run).map(async (name) => [name, await read(run, name)] as const);
  const found = await Promise.all(entries);
  return new Map(
    found.map(([name, object]) => [name, object === undefined ? undefined : ((at(object, 'status') ?? {}) as JsonObject)]),
  );
}

/** Makes one more call when all is over: it must write nothing. */
async function lookAtRest(run: Run): Promise<readonly string[]> {
  const from = run.board.calls.length;
  for (const name of wokenOf(run)) {
    const parent = await read(run, name);
    if (parent !== undefined) await run.engine(callFor(parent, run.board.hookCall));
  }
  return run.board.calls.slice(from).flatMap(({ method, what }) => (method === 'send' ? [what] : []));
}

/** Waits until Kubernetes' own controllers have seen all changes. */
async function settled({ world, story, names }: Run): Promise<void> {
  if (story.isSlow !== true) return;
  for (const { kind, path } of allTargets({ story, names }).filter(({ kind }) => kind === 'Deployment')) {
    const isSeen = async (): Promise<boolean> => {
      const answer = await world.controller.get(path);
      return answer.code === 404 || at(answer.body, 'status', 'conditions') !== undefined;
    };
    await waitFor(isSeen, `${kind} ${path} to be taken up`);
  }
}

export async function leftoversOf(run: NamedRun): Promise<readonly string[]> {
  const { cluster } = run.world;
  // Garbage collection removes what lands after its Transaction is gone, and what the Transaction could not release itself.
  await sweepSnapshots(cluster, run.world.sealer);
  if ((await leasesOf(run)).length > 0) await sweepLeases(laterCluster(cluster, hour), engineNamespace);
  const [ofTransactions, ofLeases] = await Promise.all([
    Promise.all(transactionsOf(run).map((key) => leftoversOfTransaction(run, key))),
    leasesOf(run),
  ]);
  return [...ofTransactions.flat(), ...ofLeases];
}

const hour = 3_600_000;

async function leftoversOfTransaction(run: NamedRun, key: string): Promise<readonly string[]> {
  const { namespace, name } = homeOf(run.names, key);
  const found: string[] = [];
  // An object deleted in the foreground goes away once the garbage collector has seen its dependents go.
  const isGone = async (): Promise<boolean> => (await read(run, key)) === undefined;
  if (!(await waitFor(isGone, `Transaction ${key} to be gone`).catch(() => false)))
    found.push(`Transaction ${key} is still there`);
  for (const snapshot of await heldSnapshots(run, namespace, name))
    found.push(`ConfigMap ${textAt(snapshot, 'metadata', 'name')} of ${key} still has its finalizer`);
  return found;
}

async function heldSnapshots(run: NamedRun, namespace: string, name: string): Promise<readonly JsonObject[]> {
  const { items } = await run.world.controller.list(`/api/v1/namespaces/${namespace}/configmaps`);
  return items.filter(
    (item) =>
      textAt(item, 'metadata', 'name')?.startsWith(`${name}-rollback`) === true &&
      finalizersOf(item).includes('tx.janus.io/snapshot') &&
      run.forged?.has(textAt(item, 'metadata', 'uid') ?? '') !== true,
  );
}

async function leasesOf(run: NamedRun): Promise<readonly string[]> {
  const { items } = await run.world.controller.list(`/apis/coordination.k8s.io/v1/namespaces/${engineNamespace}/leases`);
  const holders = transactionsOf(run).map((key) => {
    const { namespace, name } = homeOf(run.names, key);
    return `${namespace}/${name}/`;
  });
  return items
    .filter((lease) => holders.some((holder) => textAt(lease, 'spec', 'holderIdentity')?.startsWith(holder) === true))
    .map((lease) => `Lease ${textAt(lease, 'metadata', 'name')} is still held`);
}

export async function removeTargets(run: NamedRun): Promise<void> {
  const { stranger } = run.world;
  await Promise.all(
    allTargets(run).map(async ({ path }) => {
      const { code, body } = await stranger.delete(path);
      if (code === 200 && isList(at(body, 'metadata', 'finalizers')))
        await stranger.patch(path, { metadata: { finalizers: null } });
    }),
  );
  if (run.story.isAlone === true) await stranger.delete(`/api/v1/namespaces/${run.names.namespace}`);
}
