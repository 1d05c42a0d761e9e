// One step: observe, decide, plan, perform, report.

import type { EngineParts, Timing } from './call.ts';
import { driftRoom } from './checks/room.ts';
import { decide } from './decide/decide.ts';
import { lockTime } from './decide/locks.ts';
import type { Step } from './decide/step.ts';
import { elsewhere } from './decide/window.ts';
import { dueOf } from './due.ts';
import { mayLandUntil } from './in-flight/in-flight.ts';
import type { OwnWrites } from './in-flight/own-writes.ts';
import { type Early, firstLock, foundStatus } from './looking.ts';
import type { Memory } from './memory.ts';
import type { JsonObject } from './model/json.ts';
import type { Status } from './model/status.ts';
import type { Transaction } from './model/transaction.ts';
import type { Ahead } from './observe/ahead.ts';
import type { Carry } from './observe/carry.ts';
import type { Looked } from './observe/look.ts';
import type { Looks } from './observe/looks.ts';
import { itemOf, type LockView, type Observation, type Observed, type Pace } from './observe/observation.ts';
import { observe } from './observe/observe.ts';
import { type SnapshotSource, verified } from './observe/snapshot.ts';
import type { Result } from './outcome/answer.ts';
import { denied } from './outcome/refused.ts';
import { resultOf } from './outcome/result.ts';
import { stranded } from './outcome/stranded.ts';
import type { Session } from './perform/deadline.ts';
import { perform } from './perform/perform.ts';
import type { Outcome } from './plan/mutation.ts';
import { plan } from './plan/plan.ts';
import type { Ended } from './reply.ts';

/** What serves one call. */
export interface Serving {
  readonly parts: EngineParts;
  /** Names this process in Leases. */
  readonly server: string;
  /** Names this call of it. */
  readonly writer: string;
  readonly memory: Memory;
  readonly session: Session;
  readonly looks: Looks;
}

/** A look, and the time since when it counts. */
export interface Seen extends Looked {
  readonly target: Early | undefined;
  /** Monotonic ms before it was read. */
  readonly lookedAt: number;
  /** Monotonic ms of the time `now`. */
  readonly nowAt: number;
  readonly ahead: Ahead;
}

/** What a step is taken from: a look, and what this call has done since the status of it was stored. */
export interface Stand extends Seen {
  /** What this call has come to; absent until it has ended with a first target. */
  readonly running?: Status;
  /** Another engine has stored a status while this call was writing. */
  readonly isOvertaken: boolean;
}

export interface Taken extends Ended {
  readonly result: Result;
  /** The status that this step began with: what the call had come to by then. */
  readonly status: Status;
  /** The locks as this step found them, by the names of their Leases. */
  readonly locks?: LockView;
}

/** A request may be sent until the deadline, and the API server works on it for its timeout. */
export function lateWindowOf({ stepDeadline, writeTimeout }: Timing): number {
  return stepDeadline + writeTimeout;
}

export async function takeStep(serving: Serving, stand: Stand, carry: Carry): Promise<Taken> {
  const { memory, session, parts, looks } = serving;
  const { transaction } = stand;
  const { waits, ...ownWrites } = memory.recall(transaction.uid);
  const first = await firstLock(stand);
  const status = foundStatus(stand.running ?? stand.status, first, ownWrites);
  const { snapshots: cache, sightings } = memory;
  const source = { reader: session.cluster, packer: parts.sealer, cache, sightings, looks };
  const observation = await observed(serving, { ...stand, status, ownWrites, waits, first, source }, carry);
  const step = elsewhere(observation, { ...carry, isOvertaken: stand.isOvertaken }) ?? decide(observation);
  const planned = plan(step, observation, parts.sealer);
  const until = stand.nowAt + lockTime(step, observation) - parts.timing.writeTimeout;
  const outcome = ofChange(
    observation,
    denied(planned, step, carry.refused) ?? (await perform(planned, session.writerUntil(until))),
  );
  remember(serving, step, observation, outcome);
  const context = { transaction, packer: parts.sealer, driftRoom: driftRoom(status, transaction.size) };
  const result = resultOf(step, { observation, plan: planned, outcome, carry, context });
  if (step.kind === 'store') keepStored(source, transaction, result, outcome);
  const taken = first ?? takenFirst(observation, carry, result);
  const { due, now } = observation;
  const locks = due.kind === 'begin' ? { locks: due.locks } : {};
  const answered = { transaction, now, due, step, outcome, before: status };
  return { ...answered, leases: leasesIn(due), found: stand.status, first: taken, result, status, ...locks };
}

// The Lease of the first change as this call has taken it.
function takenFirst({ due, status }: Observation, carry: Carry, result: Result): JsonObject | undefined {
  const { items } = result.kind === 'answer' ? result.status : status;
  const locks = due.kind === 'begin' ? due.locks.states : carry.locks;
  const taken = locks.get(items[0]?.lockLease ?? '');
  return taken?.kind === 'present' ? taken.object : undefined;
}

function leasesIn(due: Observed): readonly JsonObject[] {
  const item = itemOf(due);
  if (item !== undefined) return item.leases;
  const states = 'locks' in due ? [...due.locks.states.values()] : [];
  return states.flatMap((state) => (state.kind === 'present' ? [state.object] : []));
}

/** What a step that threw comes to. A write may have been sent whose answer nobody has taken down. */
export function aground({ memory, parts }: Serving, stand: Stand, thrown: unknown): Taken {
  const { uid } = stand.transaction;
  memory.unsettled(uid, stand.now);
  const { waits } = memory.recall(uid);
  const found = { ...stand, status: stand.running ?? stand.status, lateWindow: lateWindowOf(parts.timing), waits };
  return { ...stranded(thrown, found), status: found.status, leases: [], first: undefined, found: stand.status };
}

/** Which change the writes are about. */
function ofChange({ due }: Observation, outcome: Outcome): Outcome {
  return 'index' in due ? outcome.map((attempt) => ({ ...attempt, item: due.index })) : outcome;
}

interface Found extends Stand {
  readonly ownWrites: OwnWrites;
  readonly waits: number;
  readonly first: JsonObject | undefined;
  readonly source: SnapshotSource;
}

async function observed({ parts, server, writer }: Serving, found: Found, carry: Carry): Promise<Observation> {
  const { transaction, status, now, ownWrites, waits, first, source, ownLeases, target } = found;
  const { engineNamespace, namespaces = [], timing } = parts;
  const lateWindow = lateWindowOf(timing);
  const due = dueOf({ transaction, status, now, lateWindow, waits });
  const earlier = 'index' in due && due.index === target?.index ? target.presence : undefined;
  const until = mayLandUntil({ status, ownWrites, first }, lateWindow);
  // What may still land may change what was read before its turn.
  const ahead = until !== 'unobserved' && now > until && paceOf(timing) === 'all' ? found.ahead : undefined;
  const looking = { source, transaction, status, engineNamespace, namespaces, carry, ownLeases, earlier, ahead };
  const observed = await observe(looking, due);
  const pace = paceOf(timing);
  return { now, transaction, status, due: observed, engineNamespace, server, writer, ownWrites, waits, lateWindow, pace };
}

function paceOf({ callBudget = 0 }: Timing): Pace {
  return callBudget > 0 ? 'all' : 'one';
}

// What other processes cannot know of this one.
function remember({ memory, session, writer }: Serving, step: Step, { transaction, now }: Observation, outcome: Outcome): void {
  const answer = outcome.at(-1)?.answer;
  if (step.kind === 'sign' && answer?.kind === 'ok')
    memory.signed(transaction.uid, writer, step.isSettled ? undefined : answer.serverTime);
  if (step.kind !== 'apply') return;
  if (answer?.kind === 'ok') memory.sent(transaction.uid, step.index);
  if (session.uncertain()) memory.unsettled(transaction.uid, now);
}

// What was just stored need not be read back by the next call. The first ConfigMap was written last.
function keepStored(source: SnapshotSource, transaction: Transaction, result: Result, outcome: Outcome): void {
  const ref = result.kind === 'answer' ? result.status.rollbackRef : undefined;
  const objects = outcome.flatMap(({ answer }) => (answer.kind === 'ok' ? [answer.object] : []));
  if (ref !== undefined) verified(source, transaction, ref, objects.toReversed());
}
