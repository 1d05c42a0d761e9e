// One story on a site, from its objects to its verdict: the loops drive it, something disturbs it, and it must end.
import { at, isObject, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { account, conditionOf } from '../../support/stage.ts';
import { endsOf, leftoversOf, removeTargets } from '../attempt.ts';
import type { AuditEvent } from '../audit.ts';
import { type Evidence, transactionsOf } from '../evidence.ts';
import { violations } from '../invariants.ts';
import { type Names, namesOf } from '../names.ts';
import { createTargets, read, targets } from '../run.ts';
import { homeOf, pathOfTransaction, type Story, transactionPath } from '../story.ts';
import type { World } from '../world.ts';
import type { Site } from './site.ts';

export interface Followed {
  readonly site: Site;
  readonly world: World;
  readonly names: Names;
  readonly story: Story;
  readonly uids: Map<string, string>;
  /** The events that have happened or are happening, by their place in the story. */
  readonly happened: Map<number, Promise<unknown>>;
}

/** A fault: it starts once the Transactions of the run exist, and ends before the invariants are checked. */
export type Disturbance = (run: Followed) => Promise<unknown>;

interface Tale {
  readonly evidence: Evidence;
  readonly events: readonly AuditEvent[];
  readonly violations: readonly string[];
}

let count = 0;
const patience = { timeoutMs: 300_000, everyMs: 60 };

/** Uses names that no other run of this world has. */
export async function prepare(site: Site, story: Story): Promise<Followed> {
  count += 1;
  const { world } = site;
  const names = namesOf(900_000 + count, world);
  const run = { site, world, names, story, uids: new Map<string, string>(), happened: new Map<number, Promise<unknown>>() };
  await createTargets(run);
  return run;
}

export async function create(run: Followed): Promise<void> {
  const { names, world, story, site } = run;
  for (const [key, changes] of Object.entries(story.transactions(names))) {
    const { namespace, name } = homeOf(names, key);
    const metadata = { name, labels: { ...site.label }, annotations: { ...story.annotations } };
    const spec = { serviceAccountName: account, changes, ...story.spec };
    const object = { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata, spec };
    const stored = must(await world.controller.create(transactionPath(namespace, name).replace(/\/[^/]+$/, ''), object));
    run.uids.set(key, textAt(stored, 'metadata', 'uid') ?? '');
  }
}

const nothing: Disturbance = async () => undefined;

/** `first` comes before the Transactions are created, `disturb` meanwhile. */
export async function runOnce(site: Site, story: Story, disturb = nothing, first = nothing): Promise<Tale> {
  const run = await prepare(site, story);
  const before = await targets(run);
  await first(run);
  await create(run);
  // Runs before each call of the hook, so that no run is too fast for an event in its middle.
  site.beforeCalls = () => storyGoesOn(run);
  const failures = await Promise.allSettled([atRest(run), disturb(run)]);
  site.beforeCalls = async () => undefined;
  const trouble = failures.flatMap((one) => (one.status === 'rejected' ? [`it failed: ${String(one.reason)}`] : []));
  return conclude(run, before, trouble);
}

/** Reads the objects, deletes the Transactions, and checks the invariants. */
export async function conclude(run: Followed, before: Evidence['before'], trouble: readonly string[]): Promise<Tale> {
  const { world, story, names, uids } = run;
  const [after, ends] = [await targets(run), await endsOf(run)];
  for (const key of transactionsOf(run)) await world.controller.delete(pathOfTransaction(names, key));
  const leftovers = await leftoversOf(run);
  const events = world.audit.take(names.run);
  const none = {
    portCalls: [],
    reports: [],
    bystanders: [],
    hookCalls: [],
    writesAtRest: [],
    struckAt: 0,
    hadHookFaults: true,
    isOneByOne: false,
  };
  const evidence: Evidence = { ...none, story, names, events, uids, before, after, ends, leftovers, finally: await targets(run) };
  await removeTargets(run);
  return { evidence, events, violations: [...trouble, ...unseen(events), ...violations(evidence)] };
}

function unseen(events: readonly AuditEvent[]): readonly string[] {
  const isSeen = events.some(({ actor }) => actor === 'account');
  return isSeen ? [] : ['the audit log has nothing of it: nothing was evaluated'];
}

/** Runs the events of the story that depend on others, until all is over; `everyMs`: how often it looks. */
export async function atRest(run: Followed, everyMs = patience.everyMs): Promise<void> {
  await waitFor(() => isOver(run), `${run.names.run} to be at rest`, { ...patience, everyMs });
}

async function isOver(run: Followed): Promise<boolean> {
  const { story, happened } = run;
  await storyGoesOn(run);
  if (story.events.length > happened.size) return false;
  const states = await Promise.all(transactionsOf(run).map((key) => read(run, key)));
  return states.every((transaction) => isAtRest(transaction, story));
}

/** Runs the events that are due by the stored status. */
async function storyGoesOn(run: Followed): Promise<void> {
  const { names, story, world, happened } = run;
  const status = at(await read(run, names.run), 'status');
  for (const [index, event] of story.events.entries()) {
    if (happened.has(index) || !isObject(status) || event.when?.(status) !== true) continue;
    // An event that failed because the API server was away is tried again.
    const acting = event.act(world, names).catch((error: unknown) => {
      happened.delete(index);
      throw error;
    });
    happened.set(index, acting);
  }
  await Promise.all(happened.values());
}

function isAtRest(transaction: JsonObject | undefined, story: Story): boolean {
  if (transaction === undefined) return true;
  const status = at(transaction, 'status');
  if (story.end === 'gone' || !isObject(status) || conditionOf(status, 'Finished') !== 'True') return false;
  return !hasRequest(transaction) || textAt(status, 'phase') !== 'Committed';
}

// Whether a user's request is not handled yet.
function hasRequest(transaction: JsonObject): boolean {
  const asked = at(transaction, 'metadata', 'annotations', 'tx.janus.io/request-rollback');
  return asked !== undefined && asked !== at(transaction, 'status', 'handledAnnotations', 'tx.janus.io/request-rollback');
}

/** A number from 0 to 1 that depends on the seed alone. */
export function chance(seed: number): number {
  const value = Math.sin(seed * 12.9898 + 78.233) * 43_758.5453;
  return value - Math.floor(value);
}
