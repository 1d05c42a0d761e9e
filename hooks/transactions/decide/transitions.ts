// Every way in which a status changes, as functions from status to status. The version, the conditions and the rest of what
// follows from these are added once, in outcome/.
//
// I1. Committed says that every change is applied. RolledBack says that everything is as before, except what a user kept. Failed, and
// the items, say what is left.

import { roundedUp, storedResolution } from '../../objects/time.ts';
import type { Ending, Request } from '../due.ts';
import type { GateState } from '../model/gate.ts';
import { type Gating, type OpenGates, openGates } from '../model/gated.ts';
import type { Applied, Item, ItemError } from '../model/item.ts';
import { mayFollow, type Phase } from '../model/phase.ts';
import type { RollbackRef, Status } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import { allApplied, count, plain, undoneMessage } from './wording.ts';

export function to(status: Status, phase: Phase): Status {
  if (status.phase !== phase && !mayFollow(status.phase, phase)) throw new Error(`no way from ${status.phase} to ${phase}`);
  return { ...status, phase };
}

export function withItem(status: Status, index: number, change: (item: Item) => Item): Status {
  return { ...status, items: status.items.map((item, at) => (at === index ? change(item) : item)) };
}

export function handled(status: Status, request: Request | undefined): Status {
  if (request === undefined) return status;
  return { ...status, handledAnnotations: { ...status.handledAnnotations, [request.annotation]: request.value } };
}

/** Begun, but its checks met transient trouble. */
export function begun(status: Status, now: number): Status {
  return { ...status, startTime: status.startTime ?? now };
}

/** Its checks are passed, it waits for a lock. */
export function waitingForLocks(status: Status, transaction: Transaction, now: number, message: string): Status {
  return { ...status, startTime: status.startTime ?? now, specDigest: transaction.specDigest, message };
}

/** The Transaction holds all locks: `leases` in the order of the changes; the first Lease names `writer`. */
export function locked(status: Status, transaction: Transaction, now: number, { leases, writer }: Locks): Status {
  const begun = { startTime: status.startTime ?? now, specDigest: transaction.specDigest };
  const passed = { ...to(status, 'Preparing'), ...begun, ...settledBy(writer) };
  return { ...withLeases(passed, leases), message: 'all locks acquired; storing the state before the changes' };
}

export interface Locks {
  readonly leases: readonly string[];
  readonly writer: string | undefined;
}

export function settledBy(writer: string | undefined): Pick<Status, 'settledWriter'> {
  return writer === undefined ? {} : { settledWriter: writer };
}

/** Names the wanted locks, held or not: whatever the end is, the engine releases the held locks. */
export function withLeases(status: Status, leases: readonly string[]): Status {
  const items = status.items.map((item, index) => {
    const lockLease = leases[index];
    return lockLease === undefined ? item : { ...item, lockLease };
  });
  return { ...status, items };
}

/** Prior and expected states are stored; the changes before `end` are announced. */
export function prepared(status: Status, rollbackRef: RollbackRef, end: number): Status {
  const items = status.items.map(
    (item, index): Item => ({ ...item, progress: { kind: index < end ? 'announced' : 'prepared' } }),
  );
  return {
    ...to(status, 'Prepared'),
    rollbackRef,
    items,
    message: `${count(items.length, 'change')} checked, their prior states are stored`,
  };
}

/** What becomes due after a change; `end`: see windowEnd. */
interface Next {
  readonly gating: Gating;
  readonly end: number;
}

/** Of the change `index`. */
export interface Effect extends Next {
  readonly index: number;
  readonly facts: Applied;
  /** Of two (model/halves.ts). */
  readonly isFirstHalf?: boolean;
}

/** One more change has taken effect, or the first half of a change that recreates its object. Then the second half is announced. */
export function applied(status: Status, { index, facts, isFirstHalf, ...next }: Effect, now: number): Status {
  if (isFirstHalf === true) return former(status, index, facts);
  return advanced(
    withItem(status, index, (item) => ({ ...item, ...facts, progress: { kind: 'applied' } })),
    next,
    now,
  );
}

function former(status: Status, index: number, facts: Applied): Status {
  const deleted = withItem(status, index, (item) => ({ ...item, ...facts, deleted: true }));
  return {
    ...to(deleted, 'Committing'),
    message: `spec.changes[${index}]: the former object is deleted, it is created again next`,
  };
}

/** The items once these gates have passed. */
export function passed(items: readonly Item[], gates: OpenGates['gates'], now: number): readonly Item[] {
  const indexes = gates.map(({ index }) => index);
  return items.map((item, at) =>
    indexes.includes(at) ? { ...item, gate: { ...(item.gate ?? { since: now }), passed: true } } : item,
  );
}

/** The gates of these changes have passed; those of `at` AtEnd are all there are. */
export function gatesPassed(status: Status, { at, gates }: OpenGates, next: Next, now: number): Status {
  const items = passed(status.items, gates, now);
  return at === 'AtEnd' ? committed({ ...status, items }, now) : advanced({ ...status, items }, next, now);
}

// What follows is announced, or the gates in its way are open from now on, or all is done.
function advanced(status: Status, { gating, end }: Next, now: number): Status {
  const gates = openGates(gating, status.items);
  const open = gates?.gates.map(({ index }) => index) ?? [];
  const items = status.items.map((item, at): Item => {
    if (open.includes(at)) return { ...item, gate: opened(item, now) };
    return at < end && item.progress.kind === 'prepared' ? { ...item, progress: { kind: 'announced' } } : item;
  });
  const done = { ...status, items };
  const amount = items.filter(({ progress }) => progress.kind === 'applied').length;
  if (amount === items.length && gates === undefined) return committed(done, now);
  const awaited = open.length === 0 ? '' : `; waiting for ${count(open.length, 'object')} to be ready`;
  return { ...to(done, 'Committing'), message: `${amount} of ${count(items.length, 'change')} applied${awaited}` };
}

// At the end, the engine evaluates a gate that has passed before again. The status stores times in whole seconds: the gate's time
// begins with the next second.
function opened({ gate }: Item, now: number): GateState {
  const since = roundedUp(now);
  return gate?.passed === true ? { since, passed: true } : { since };
}

/** Every change is applied, and every gate has passed (I1, I18). */
function committed(status: Status, now: number): Status {
  return { ...to(status, 'Committed'), completionTime: now, message: allApplied(status.items.length) };
}

/** Ends before anything was applied. */
export function stopped(status: Status, cause: Ending, now: number, errors: ReadonlyMap<number, ItemError>): Status {
  const items = status.items.map((item, index): Item => {
    const error = errors.get(index);
    return error === undefined ? item : { ...item, error: plain(error) };
  });
  const ended = handled(
    { ...to(status, 'Failed'), items, completionTime: now, startTime: status.startTime ?? now },
    cause.request,
  );
  return { ...ended, cause: plain(cause), message: `nothing was applied: ${cause.message}` };
}

/** Since when a requested undo waits for its locks: after the end. What began before a Failed one ended was an earlier undo. */
export function waitingSince({ phase, rollbackStartedAt, completionTime }: Status): number | undefined {
  const isEarlier = phase !== 'Committed' && rollbackStartedAt !== undefined && rollbackStartedAt <= (completionTime ?? 0);
  return isEarlier ? undefined : rollbackStartedAt;
}

/** Since when a requested undo waits for locks: a wait for reads, which gave the locks back, does not count. */
export function waitingForLocksSince(status: Status): number | undefined {
  return status.locksReturnedAt ?? waitingSince(status);
}

/** A requested undo waits for its locks. */
export function waitingToUndo(status: Status, now: number, message: string): Status {
  const afterEnd = Math.max(now, (status.completionTime ?? 0) + storedResolution);
  return { ...status, rollbackStartedAt: waitingSince(status) ?? afterEnd, message };
}

// It says again what its end said.
function withoutWaiting(status: Status): Status {
  if (waitingSince(status) === undefined) return status;
  const { rollbackStartedAt: _over, locksReturnedAt: _returned, ...rest } = status;
  return { ...rest, message: status.phase === 'Committed' ? allApplied(status.items.length) : undoneMessage(status) };
}

/** The engine answers a request without any effect. `message` gives the reason if it is news of the Transaction itself. */
export function answered(status: Status, request: Request, message?: string): Status {
  return { ...withoutWaiting(handled(status, request)), ...(message === undefined ? {} : { message }) };
}

/**
 * Our Leases are gone; a request that waited for more of them waits no longer. `unsettledAt`: a writer may have left a request unanswered
 * by then (in ms by the API server's clock).
 */
export function released(status: Status, unsettledAt: number | undefined): Status {
  const { settledWriter: _gone, rollbackObservedAt: _over, ...rest } = status;
  const items = status.items.map(({ lockLease: _given, ...item }) => item);
  return withoutWaiting({ ...rest, items, ...(unsettledAt === undefined ? {} : { unsettledAt }) });
}

/** Our field manager was taken off the target of a change, at the deletion of the Transaction. */
export function fieldsReleased(status: Status, index: number): Status {
  return withItem(status, index, (item) => ({ ...item, disowned: true }));
}

/** The status with what has moved in an object that is about to be deleted. */
export function withRecordedDrift(status: Status, index: number, drift: string): Status {
  return withItem(status, index, (item) => ({ ...item, drift }));
}
