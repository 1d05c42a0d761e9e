// Each step begins with a look: it reads the Transaction with its Leases, and retries for a moment if it cannot. Then come what is
// due, and the reads that it needs.

import type { Reader } from '../objects/cluster.ts';
import type { JsonObject } from '../objects/json.ts';
import type { Call } from './call.ts';
import { undoChoicesOf } from './checks/undo-choices.ts';
import { firstLease } from './decide/guards.ts';
import type { Step } from './decide/step.ts';
import { undoingAgain, withdrawn } from './decide/undo-transitions.ts';
import { type Due, dueOf } from './due.ts';
import { isAccountedFor, mayLandUntil } from './in-flight/in-flight.ts';
import type { OwnWrites } from './in-flight/own-writes.ts';
import { isUnderWay } from './model/phase.ts';
import type { Status } from './model/status.ts';
import type { Transaction } from './model/transaction.ts';
import { type Ahead, createAhead } from './observe/ahead.ts';
import type { Carry } from './observe/carry.ts';
import { type NotLive, readTransaction } from './observe/live.ts';
import { type Looked, look } from './observe/look.ts';
import type { Observation, Presence } from './observe/observation.ts';
import { type ObserveContext, observe } from './observe/observe.ts';
import { readLive } from './observe/read.ts';
import { readingInto } from './observe/room.ts';
import { readSnapshot, type SnapshotSource } from './observe/snapshot.ts';
import { lateWindowOf, paceOf, type Serving } from './serving.ts';
import { surveyAfter } from './undo/chain.ts';

/** ms to wait before each retry of a Transaction that cannot be read. After the last retry, the next call tries again. */
const readPauses: readonly number[] = [200, 400, 800];

/** A target that was read before the look. */
interface Early {
  readonly index: number;
  readonly presence: Presence;
}

/** A look, and the time from which it counts. */
interface Seen extends Looked {
  readonly target: Early | undefined;
  /** Monotonic ms just before the look. */
  readonly lookedAt: number;
  /** Monotonic ms at the server time `now`. */
  readonly nowAt: number;
  readonly ahead: Ahead;
}

/** What the next look needs to know of the steps before it in this call. */
export interface Before {
  readonly carry: Carry;
  /** The look to use again while it is recent. */
  readonly look?: Seen;
  /** The result of the last look. */
  readonly last?: Seen;
  /** The last completed target: the status that was stored before it, and the running status after it. */
  readonly ended?: {
    readonly completed: { readonly found: Status; readonly due: Pick<Due, 'kind'> };
    readonly answer: { readonly status: Status };
  };
}

/** The basis of a step: a look, and the running status of this call if nobody has stored another status since. */
export interface Stand extends Seen {
  /** The running status; absent until this call has completed a first target. */
  readonly running?: Status;
  /** The kind of the last completed step of this call. */
  readonly after?: Due['kind'];
  /** Whether another engine stored a status while this call was writing. */
  readonly isOvertaken: boolean;
  /** The Lease of the first change, in phases in which changes may be made or undone. */
  readonly first: JsonObject | undefined;
}

/** The recent look, with the time moved on, or a new look. */
export async function see(serving: Serving, call: Call, before: Before): Promise<Stand | NotLive> {
  const { clock, timing } = serving.parts;
  const { look } = before;
  const nowAt = clock.monotonic();
  if (look !== undefined && nowAt < look.lookedAt + (timing.lookAge ?? 0))
    return standOn({ ...look, target: undefined, now: look.now + (nowAt - look.nowAt), nowAt }, before);
  const target = await readEarly(serving.session.cluster, before);
  const lookedAt = clock.monotonic();
  const live = await lookPatiently(serving, call);
  return live.kind === 'live' ? standOn({ ...live, target, lookedAt, nowAt: lookedAt, ahead: createAhead() }, before) : live;
}

/**
 * Whether the Transaction has moved while a change was observed for longer than a look counts: somebody may have asked to stop it. A
 * look around a Delete of 500 kinds takes that long.
 */
export async function movedMeanwhile(
  { parts, session }: Serving,
  { transaction, lookedAt }: Stand,
  step: Step,
): Promise<boolean> {
  const { clock, timing } = parts;
  if (step.kind !== 'apply' || clock.monotonic() < lookedAt + (timing.lookAge ?? Number.POSITIVE_INFINITY)) return false;
  const live = await readTransaction(session.cluster, transaction);
  return live.kind !== 'live' || live.transaction.resourceVersion !== transaction.resourceVersion;
}

// The running status continues the stored status from which this call started, and no other.
async function standOn(seen: Seen, { ended }: Before): Promise<Stand> {
  const isOvertaken = ended !== undefined && seen.status.version !== ended.completed.found.version;
  const stand = { ...seen, isOvertaken, first: await firstLock(seen) };
  return ended === undefined || isOvertaken ? stand : { ...stand, running: ended.answer.status, after: ended.completed.due.kind };
}

/** Reads the target that the previous step needs. It is read before the Transaction is (W5, in-flight/in-flight.ts). */
async function readEarly(reader: Reader, { carry: { reads }, last }: Before): Promise<Early | undefined> {
  if (reads === undefined || last === undefined) return undefined;
  return { index: reads.index, presence: await readLive(reader, last.transaction, reads) };
}

async function lookPatiently(serving: Serving, call: Call, tries = 0): Promise<Looked | NotLive> {
  const { parts, session } = serving;
  const live = await look(session.cluster, call, parts.engineNamespace);
  const pause = readPauses[tries];
  if (live.kind !== 'unreadable' || pause === undefined || session.retryAfter() > 0) return live;
  await parts.clock.sleep(pause);
  return lookPatiently(serving, call, tries + 1);
}

/** The Lease of the first change, in phases in which changes may be made or undone. */
async function firstLock({ status, ownLeases }: Looked): Promise<JsonObject | undefined> {
  if (!isUnderWay(status.phase)) return undefined;
  const own = await ownLeases();
  return own.kind === 'ok' ? firstLease(status, own.objects) : undefined;
}

/** W3 (in-flight/in-flight.ts): a change that is only announced was never sent, if all writes are accounted for. */
function foundStatus(status: Status, first: JsonObject | undefined, ownWrites: OwnWrites): Status {
  return status.phase === 'RollingBack' && isAccountedFor({ status, first, ownWrites }) ? withdrawn(status) : status;
}

/** What is due, with everything that the decision needs to know. */
export async function observeStand(serving: Serving, stand: Stand, carry: Carry): Promise<Observation> {
  const { memory, session, looks, room, sources, server, writer, parts } = serving;
  const { engineNamespace, namespaces = [], timing } = parts;
  const { transaction, now, first, ownLeases, target, isOvertaken, after } = stand;
  // Known before the reads: what they find refused is at least so much later than the first refusal.
  const { waits, refusedFor, ...ownWrites } = memory.recall(transaction.uid);
  const status = foundStatus(stand.running ?? stand.status, first, ownWrites);
  const [lateWindow, pace] = [lateWindowOf(timing), paceOf(timing)];
  // What the look before has read is dropped by now.
  room.drop();
  const reader = readingInto(room, memory.sightings(session.cluster));
  const source = { reader, packer: parts.sealer, cache: memory.snapshots, looks };
  const { snapshot, order } = status.phase === 'RollingBack' ? await orderOf(source, transaction, status) : unordered;
  const due = dueOf({ transaction, status, now, lateWindow, waits, order });
  const earlier = 'index' in due && due.index === target?.index ? target.presence : undefined;
  const until = mayLandUntil({ status, ownWrites, first }, lateWindow);
  // A write in flight may still change a target that was read ahead: such a read is not used.
  const ahead = until !== 'unobserved' && now > until && pace === 'all' ? stand.ahead : undefined;
  const looking = {
    ...{ source, transaction, status, now, engineNamespace, namespaces, carry, ownLeases, earlier, ahead, snapshot },
    ...{ expressions: parts.expressions, sources, clock: parts.clock, aside: parts.cluster },
  };
  const { touched } = carry;
  const observation = {
    ...{ now, transaction, status, due: await observe(looking, due), isOvertaken },
    ...{ ...(touched === undefined ? {} : { touched }), ...(after === undefined ? {} : { after }) },
    ...{ engineNamespace, server, writer, ownWrites, waits, lateWindow, pace, refusedFor },
  };
  return { ...(await surveyed(looking, observation)), barred: session.barred() };
}

/** The observation, with the evaluation of a whole undo if it is wanted. */
async function surveyed(looking: ObserveContext, observation: Observation): Promise<Observation> {
  const { due, status, now, transaction } = observation;
  if (looking.carry.surveys !== true || (due.kind !== 'reacquire' && due.kind !== 'planUndo')) return observation;
  if (due.snapshot.kind !== 'stored') return observation;
  const { entries } = due.snapshot;
  const { overwrite } = undoChoicesOf(
    transaction,
    entries.map(({ target }) => target),
  );
  const begun = undoingAgain(status, due.request, now, { leases: [], writer: undefined, overwritten: overwrite });
  const context = {
    looking,
    observation: { ...observation, status: begun },
    snapshot: due.snapshot,
    packer: looking.source.packer,
  };
  return { ...observation, due: { ...due, survey: await surveyAfter(context, due.request) } };
}

const unordered = { snapshot: undefined, order: undefined };

/** The order of an undo, with the snapshot if it was read for it. Without a snapshot nothing will be undone. */
async function orderOf(source: SnapshotSource, transaction: Transaction, { rollbackRef }: Status) {
  const known = source.cache.get(transaction.uid);
  if (known !== undefined && known.digest === rollbackRef?.digest) return { snapshot: undefined, order: known.order };
  const snapshot = await readSnapshot(source, transaction, rollbackRef);
  return { snapshot, order: source.cache.get(transaction.uid)?.order };
}
