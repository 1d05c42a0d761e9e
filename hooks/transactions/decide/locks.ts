// How a Transaction acquires its locks: when it begins, and when a user requests its undo later. Leases are advisory. A Transaction
// acquires them in the order of their names, and keeps only a contiguous prefix while it waits. This makes a deadlock impossible.
//
// I6. Two Transactions never take turns at one target: each holds the Leases of all its targets while it changes or restores any.
//
// The engine releases a lock when
// L1. the Transaction has ended, or a requested undo is refused or waits for reads for more than 10 s (due.ts, settled.ts,
//     requested-undo.ts);
// L2. the Transaction ends before its first write: by a refusal, a timeout, a stop or a changed spec (pending.ts);
// L3. another Transaction holds a lock with an earlier name: the Transaction waits without its locks with later names;
// L4. the Transaction vanishes during the call that acquired the lock (reply.ts);
// L5. the Transaction is deleted (settled.ts);
// L6. the Lease is orphaned: the Transaction is gone and the Lease has expired, or the Transaction ended two minutes ago (sweep.ts).
// An expired Lease stays until L6, or until another Transaction takes it over. The Transaction that meets it reads its holder, by name
// and uid.
// L7. It takes the Lease over only if that holder is gone, has ended, or has announced no change (locks/holder.ts). Otherwise the holder
//     may have written a change that no status records. A prior state that shows such a change is not the one to go back to. So the
//     Lease counts as held, also if the holder cannot be read. The engine must serve the holder, or a user must remove its finalizer.
// L8. If a holder announces its first change, or the undo that a user requests, after L7 has read it, it writes nothing. Its next call
//     reads the announcement as stored (I8), and its Leases after that. It writes only under a Lease that has not expired (guards.ts), so
//     it must renew the Lease first. The renewal and the takeover both name the version of the Lease that was found expired. So one of
//     the two is refused. If the takeover is refused, the other Transaction reads the Lease and its holder again.
//
// These wait for a lock, and try again every half second:
// - a new Transaction, for `lockWait` from its start; then it is Failed (pending.ts). A timeout, a stop or a deletion ends it, too
//   (due.ts);
// - a requested undo, for `lockWait` from its request, or from when it gave the locks back; then the request has no effect
//   (requested-undo.ts);
// - a rollback that lost a lock, until the timeout of the undo; `lockWait` does not count (rolling-back.ts, due.ts).

import { type JsonObject, textAt } from '../../objects/json.ts';
import { describe } from '../../objects/reference.ts';
import { formatDuration, formatTime, serverTimeResolution, storableTime } from '../../objects/time.ts';
import { type Holder, heldBy, stateForTaking } from '../locks/holder.ts';
import { isWrittenBy, type Lock, otherTarget } from '../locks/lease.ts';
import { ageOf, type LeaseState, leaseState, lifeLeft, readableHolder } from '../locks/state.ts';
import type { Cause, Status } from '../model/status.ts';
import { holderOf } from '../model/transaction.ts';
import { itemOf, type LockState, type LockView, type Observation } from '../observe/observation.ts';
import { unlessFinal } from './refusals.ts';
import type { Step } from './step.ts';
import { lockPatience } from './waiting.ts';

/** The next status, for each result of taking locks. */
interface Taking {
  readonly acquired: () => Step;
  readonly waiting: (message: string) => Status;
  readonly waitedTooLong: (message: string) => Step;
  /** The engine may not read them. */
  readonly refused: (cause: Cause) => Step;
  /** Since when, in ms, locks are waited for; undefined when this is the first try. */
  readonly since: number | undefined;
}

export function acquireLocks(observation: Observation, view: LockView, taking: Taking): Step {
  const trouble = lockTrouble(view);
  if (trouble !== undefined) {
    const { failure } = trouble;
    const held = { status: taking.waiting(''), what: 'reading the locks', failure, isNews: true };
    return unlessFinal(observation, held, taking.refused);
  }
  const acquisition = planAcquisition(view, acquirerOf(observation), observation.now);
  switch (acquisition.kind) {
    case 'acquired':
      // All of them are held (I6).
      return taking.acquired();
    case 'acquire':
      return {
        ...acquisition,
        kind: 'acquire',
        meanwhile: taking.waiting('acquiring locks'),
        because: `acquiring ${view.locks.length} locks`,
      };
    case 'blocked':
      return blocked(observation, acquisition, taking);
  }
}

export function acquirerOf({ transaction, server, lateWindow }: Observation): Acquirer {
  return { holder: holderOf(transaction), server, lateWindow };
}

// Nothing says that the other object will ever be let go of for this one.
function collided({ lock, holder }: Blocked, other: string): string {
  return `the name of the lock of ${describe(lock.target)}, ${lock.name}, is that of another object, ${other}, which Transaction ${readableHolder(holder)} has locked; recreate this Transaction after that one has finished`;
}

function blocked({ transaction, now }: Observation, acquisition: Blocked, taking: Taking): Step {
  if (acquisition.other !== undefined) return taking.waitedTooLong(collided(acquisition, acquisition.other));
  const message = lockedBy(acquisition);
  const since = taking.since ?? now;
  const waited = now - since;
  if (transaction.lockWait === 0 || waited > transaction.lockWait) {
    const tooLong =
      transaction.lockWait === 0
        ? 'spec.lockWait is 0s'
        : `waited longer than spec.lockWait (${formatDuration(transaction.lockWait)})`;
    return taking.waitedTooLong(lockedBy(acquisition, tooLong));
  }
  const until = formatTime(storableTime(since + transaction.lockWait));
  const status = taking.waiting(`waiting until ${until}: ${message}`);
  return { kind: 'releaseAndWait', leases: acquisition.release, status, because: message, wait: lockPatience };
}

/** Who holds the lock that a Transaction waits for, `and` more, and how to end the wait if the lock has expired (L7). */
export function lockedBy({ lock, holder, expired }: Blocked, and?: string): string {
  const more = and === undefined ? '' : `; ${and}`;
  const message = `${describe(lock.target)} is locked by Transaction ${readableHolder(holder)}`;
  if (expired === undefined) return `${message}${more}`;
  const way = expired === 'terminating' ? 'remove its finalizer' : 'delete it and remove its finalizer';
  return `${message}, ${whys[expired]}${more}; let the engine serve that Transaction, or ${way} (changes that it has applied stay)`;
}

const whys: Readonly<Record<Exclude<Holder, 'idle'>, string>> = {
  unfinished: 'which has not ended although its lock has expired',
  terminating: 'which is being deleted and has not ended although its lock has expired',
  unreadable: 'which cannot be read although its lock has expired',
};

type Blocked = Extract<AcquirePlan, { kind: 'blocked' }>;

/** The result of taking locks. */
type AcquirePlan =
  | { readonly kind: 'acquired' }
  | {
      readonly kind: 'acquire';
      readonly create: readonly Lock[];
      readonly replace: readonly { readonly lock: Lock; readonly lease: JsonObject }[];
    }
  /** `release`: our Leases after the first lock that another Transaction holds, unless another process may be taking them. */
  | {
      readonly kind: 'blocked';
      readonly lock: Lock;
      readonly holder: string;
      /** The state of the holder, if the Lease has expired (L7). */
      readonly expired?: Exclude<Holder, 'idle'>;
      /** The object that the holder locks, if that is another object with the same lock name. */
      readonly other?: string;
      readonly release: readonly JsonObject[];
    };

/** Who takes them: the Transaction, and the process that serves it. */
interface Acquirer {
  readonly holder: string;
  readonly server: string;
  /** How long after a call began something of it may still happen, in ms. */
  readonly lateWindow: number;
}

export function planAcquisition(view: LockView, acquirer: Acquirer, now: number): AcquirePlan {
  const states = view.locks.map((lock) => ({ lock, state: stateOf(view, lock, acquirer.holder, now) }));
  const blocked = states.findIndex(({ state }) => state === 'heldByOther');
  const blocking = states[blocked];
  if (blocking !== undefined) {
    const beyond = view.locks.slice(blocked + 1).map(({ name }) => objectOf(view.states.get(name)));
    const lease = objectOf(view.states.get(blocking.lock.name));
    const other = otherTarget(blocking.lock, lease);
    return {
      kind: 'blocked',
      lock: blocking.lock,
      holder: heldBy(lease),
      ...(leaseState(lease, acquirer.holder, now) === 'expired' ? { expired: keeperOf(lease, view) } : {}),
      ...(other === undefined ? {} : { other }),
      // (L3)
      release: beyond.filter((lease) => lease !== undefined).filter((lease) => mayRelease(lease, view, acquirer, now)),
    };
  }
  const create = states.filter(({ state }) => state === 'free').map(({ lock }) => lock);
  const replace = states.flatMap(({ lock, state }) => {
    const lease = objectOf(view.states.get(lock.name));
    return lease !== undefined && (state === 'expired' || state === 'fading') ? [{ lock, lease }] : [];
  });
  return create.length + replace.length === 0 ? { kind: 'acquired' } : { kind: 'acquire', create, replace };
}

/**
 * The Leases that this call has taken, and the Leases of an earlier call that could not release them (it died, or its time was
 * over). If the Transaction kept such a Lease, the holder that it waits for would wait for it. Calls of one process go in turn.
 * Calls of another process end within the window.
 */
function mayRelease(lease: JsonObject, { acquired }: LockView, { holder, server, lateWindow }: Acquirer, now: number): boolean {
  if (heldBy(lease) !== holder) return false;
  if (acquired.has(textAt(lease, 'metadata', 'name') ?? '') || isWrittenBy(server, lease)) return true;
  return ageOf(lease, now) > lateWindow + serverTimeResolution;
}

function stateOf({ states, holders }: LockView, { name }: Lock, holder: string, now: number): LeaseState {
  return stateForTaking(objectOf(states.get(name)), holder, holders, now);
}

function keeperOf(lease: JsonObject | undefined, { holders }: LockView): Exclude<Holder, 'idle'> {
  const found = holders.get(heldBy(lease));
  return found === undefined || found === 'idle' ? 'unreadable' : found;
}

function objectOf(state: LockState | undefined): JsonObject | undefined {
  return state?.kind === 'present' ? state.object : undefined;
}

/** The first lock whose state could not be learned. */
export function lockTrouble(view: LockView): Extract<LockState, { kind: 'trouble' }> | undefined {
  return [...view.states.values()].find((state) => state.kind === 'trouble');
}

/**
 * ms after the read by which a write of this step must have taken effect: later, another Transaction may hold the target's lock.
 */
export function lockTime({ kind }: Step, { due, now }: Pick<Observation, 'due' | 'now'>): number {
  const isUnderLock = kind === 'apply' || kind === 'compensate';
  const lease = itemOf(due)?.lease;
  return isUnderLock && lease?.kind === 'present' ? lifeLeft(lease.object, now) : Number.POSITIVE_INFINITY;
}
