// The look with which each step begins: the Transaction with its Leases, tried again for a moment where it cannot be read; then what
// is due, and the reads that it needs.
import type { Call } from './call.ts';
import type { Reader } from './cluster.ts';
import { firstLease } from './decide/guards.ts';
import { withdrawn } from './decide/undo-transitions.ts';
import { dueOf } from './due.ts';
import { isAccountedFor, mayLandUntil } from './in-flight/in-flight.ts';
import type { OwnWrites } from './in-flight/own-writes.ts';
import type { JsonObject } from './model/json.ts';
import { isUnderWay } from './model/phase.ts';
import type { Status } from './model/status.ts';
import { type Ahead, createAhead } from './observe/ahead.ts';
import type { Carry } from './observe/carry.ts';
import type { NotLive } from './observe/live.ts';
import { type Looked, look } from './observe/look.ts';
import type { Observation, Presence } from './observe/observation.ts';
import { observe } from './observe/observe.ts';
import { readLive } from './observe/read.ts';
import { lateWindowOf, paceOf, type Serving } from './serving.ts';

/** Ms until the Transaction is read again that could not be; after the last of them it is for the next call. */
const readPauses: readonly number[] = [200, 400, 800];

/** A target that was read before the Transaction. */
interface Early {
  readonly index: number;
  readonly presence: Presence;
}

/** A look, and the time since when it counts. */
interface Seen extends Looked {
  readonly target: Early | undefined;
  /** Monotonic ms before it was read. */
  readonly lookedAt: number;
  /** Monotonic ms of the time `now`. */
  readonly nowAt: number;
  readonly ahead: Ahead;
}

/** What a call has come to before a step, as far as the next look must know it. */
export interface Before {
  readonly carry: Carry;
  /** The look that still counts. */
  readonly look?: Seen;
  /** What the last look has found. */
  readonly last?: Seen;
  /** What the last target that ended well has found stored, and the running status. */
  readonly ended?: { readonly completed: { readonly found: Status }; readonly answer: { readonly status: Status } };
}

/** What a step is taken from: a look, and what this call has done since the status of it was stored. */
export interface Stand extends Seen {
  /** What this call has come to; absent until it has ended with a first target. */
  readonly running?: Status;
  /** Another engine has stored a status while this call was writing. */
  readonly isOvertaken: boolean;
  /** The Lease of the first change, where changes may be made or undone. */
  readonly first: JsonObject | undefined;
}

/** The look that still counts, with the time that has passed since, or a new one. */
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

// What this call has done goes on from the status that is stored, and from no other.
async function standOn(seen: Seen, { ended }: Before): Promise<Stand> {
  const isOvertaken = ended !== undefined && seen.status.version !== ended.completed.found.version;
  const stand = { ...seen, isOvertaken, first: await firstLock(seen) };
  return ended === undefined || isOvertaken ? stand : { ...stand, running: ended.answer.status };
}

/** The target that the step before asked for: it is read before the Transaction is (W5, in-flight/in-flight.ts). */
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

/** The Lease of the first change, where changes may be made or undone. */
async function firstLock({ status, ownLeases }: Looked): Promise<JsonObject | undefined> {
  if (!isUnderWay(status.phase)) return undefined;
  const own = await ownLeases();
  return own.kind === 'ok' ? firstLease(status, own.objects) : undefined;
}

/** W3 (in-flight/in-flight.ts): what is only announced was never sent. */
function foundStatus(status: Status, first: JsonObject | undefined, ownWrites: OwnWrites): Status {
  return status.phase === 'RollingBack' && isAccountedFor({ status, first, ownWrites }) ? withdrawn(status) : status;
}

/** What is due, and all that must be known for it. */
export async function observeStand(serving: Serving, stand: Stand, carry: Carry): Promise<Observation> {
  const { memory, session, looks, server, writer, parts } = serving;
  const { engineNamespace, namespaces = [], timing } = parts;
  const { transaction, now, first, ownLeases, target, isOvertaken } = stand;
  const { waits, ...ownWrites } = memory.recall(transaction.uid);
  const status = foundStatus(stand.running ?? stand.status, first, ownWrites);
  const [lateWindow, pace] = [lateWindowOf(timing), paceOf(timing)];
  const due = dueOf({ transaction, status, now, lateWindow, waits });
  const earlier = 'index' in due && due.index === target?.index ? target.presence : undefined;
  const until = mayLandUntil({ status, ownWrites, first }, lateWindow);
  // What may still land may change what was read before its turn.
  const ahead = until !== 'unobserved' && now > until && pace === 'all' ? stand.ahead : undefined;
  const source = { reader: session.cluster, packer: parts.sealer, cache: memory.snapshots, sightings: memory.sightings, looks };
  const looking = {
    ...{ source, transaction, status, now, engineNamespace, namespaces, carry, ownLeases, earlier, ahead },
    ...{ expressions: parts.expressions, clock: parts.clock },
  };
  const { touched } = carry;
  return {
    ...{ now, transaction, status, due: await observe(looking, due), isOvertaken, ...(touched === undefined ? {} : { touched }) },
    ...{ engineNamespace, server, writer, ownWrites, waits, lateWindow, pace },
  };
}
