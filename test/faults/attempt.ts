// One case: a story with its faults is run to its end, deleted, and judged.
import { at, type JsonObject, textAt } from '../../hooks/model/json.ts';
import { sweepSnapshots } from '../../hooks/sweep.ts';
import { engineNamespace } from '../support/install.ts';
import { drive, letGo } from './drive.ts';
import { type Evidence, transactionsOf } from './evidence.ts';
import { violations } from './invariants.ts';
import { callFor, configMapPath, createRun, finalizersOf, type Run, type RunOptions, read, setUp, targets } from './run.ts';
import type { Story } from './stories.ts';
import type { World } from './world.ts';

export interface Attempt {
  readonly run: Run;
  readonly evidence: Evidence;
  readonly violations: readonly string[];
  /** How many port calls and calls of the hook were made until the story was over. */
  readonly portCalls: number;
  readonly hookCalls: number;
}

export type Judge = (evidence: Evidence) => readonly string[];

/** `options` may need the run: what acts in a gap acts in it. */
export async function attempt(
  world: World,
  story: Story,
  options: RunOptions | ((run: () => Run) => RunOptions) = {},
  judge: Judge = violations,
): Promise<Attempt> {
  const given = typeof options === 'function' ? options(() => run) : options;
  const run = createRun(world, story, given);
  await setUp(run);
  const before = await targets(run);
  const failure = await drive(run).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
  );
  const [portCalls, hookCalls] = [run.board.calls.length, run.board.hookCall];
  run.board.faults = new Map();
  const after = await targets(run);
  const writesAtRest = await lookAtRest(run);
  const ends = await endsOf(run);
  const struckAt = run.board.struckAt;
  await letGo(run);
  const evidence: Evidence = {
    story,
    names: run.names,
    events: world.audit.take(run.names.run),
    portCalls: run.board.calls.slice(0, portCalls),
    hookCalls: run.hookCalls.filter((call) => call.portCalls <= portCalls),
    struckAt,
    hadHookFaults: given.hookFaults !== undefined,
    before,
    after,
    ends,
    writesAtRest,
    leftovers: await leftoversOf(run),
  };
  await removeTargets(run);
  const found = [...(failure === undefined ? [] : [`it threw: ${failure}`]), ...judge(evidence)];
  return { run, evidence, violations: found, portCalls, hookCalls };
}

async function endsOf(run: Run): Promise<ReadonlyMap<string, JsonObject | undefined>> {
  const entries = transactionsOf(run).map(async (name) => [name, await read(run, name)] as const);
  const found = await Promise.all(entries);
  return new Map(
    found.map(([name, object]) => [name, object === undefined ? undefined : ((at(object, 'status') ?? {}) as JsonObject)]),
  );
}

/** One more call when all is over: nothing may be written. */
async function lookAtRest(run: Run): Promise<readonly string[]> {
  const from = run.board.calls.length;
  for (const name of transactionsOf(run)) {
    const parent = await read(run, name);
    if (parent !== undefined) await run.engine(callFor(parent));
  }
  return run.board.calls.slice(from).flatMap(({ method, what }) => (method === 'send' ? [what] : []));
}

async function leftoversOf(run: Run): Promise<readonly string[]> {
  // What lands after its Transaction is gone is for the sweep.
  await sweepSnapshots(run.world.cluster);
  const [ofTransactions, ofLeases] = await Promise.all([
    Promise.all(transactionsOf(run).map((name) => leftoversOfTransaction(run, name))),
    leasesOf(run),
  ]);
  return [...ofTransactions.flat(), ...ofLeases];
}

async function leftoversOfTransaction(run: Run, name: string): Promise<readonly string[]> {
  const found: string[] = [];
  if ((await read(run, name)) !== undefined) found.push(`Transaction ${name} is still there`);
  const snapshot = await run.world.controller.get(configMapPath(run, `${name}-rollback`));
  if (finalizersOf(snapshot.body).length > 0) found.push(`the snapshot of ${name} still has its finalizer`);
  return found;
}

async function leasesOf(run: Run): Promise<readonly string[]> {
  const { controller, namespace } = run.world;
  const { items } = await controller.list(`/apis/coordination.k8s.io/v1/namespaces/${engineNamespace}/leases`);
  const holders = transactionsOf(run).map((name) => `${namespace}/${name}/`);
  return items
    .filter((lease) => holders.some((holder) => textAt(lease, 'spec', 'holderIdentity')?.startsWith(holder) === true))
    .map((lease) => `Lease ${textAt(lease, 'metadata', 'name')} is still held`);
}

async function removeTargets(run: Run): Promise<void> {
  const { a, b, c, d } = run.names;
  await Promise.all([a, b, c, d].map((name) => run.world.stranger.delete(configMapPath(run, name))));
}
