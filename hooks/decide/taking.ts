// Taking locks: for a Transaction that begins, and for an undo that a user asks for later.

import { describe } from '../model/reference.ts';
import type { Status } from '../model/status.ts';
import { formatDuration } from '../model/timeouts.ts';
import { holderOf } from '../model/transaction.ts';
import type { LockView, Observation } from '../observe/observation.ts';
import { judgeLocks, type Locking, lockTrouble, type Taker } from './locks.ts';
import type { Step } from './step.ts';
import { backoff, lockPatience } from './waiting.ts';

/** What becomes of the status, by how the taking goes. */
export interface Taking {
  readonly held: () => Step;
  readonly waiting: (message: string) => Status;
  readonly waitedTooLong: (message: string) => Step;
  /** Since when, in ms, locks are waited for; undefined when this is the first try. */
  readonly since: number | undefined;
}

export function takeLocks(observation: Observation, view: LockView, taking: Taking): Step {
  const trouble = lockTrouble(view);
  if (trouble !== undefined) {
    const message = `waiting: locks could not be read (${trouble.failure.reason}); they are tried again until spec.timeout`;
    return { kind: 'become', status: taking.waiting(message), because: message, resyncAfterSeconds: backoff };
  }
  const locking = judgeLocks(view, takerOf(observation), observation.now);
  switch (locking.kind) {
    case 'held':
      return taking.held();
    case 'take':
      return { ...locking, kind: 'take', because: `${view.locks.length} locks are wanted` };
    case 'blocked':
      return blocked(observation, locking, taking);
  }
}

export function takerOf({ transaction, server, lateWindow }: Observation): Taker {
  return { holder: holderOf(transaction), server, lateWindow };
}

// Nothing says that the other object will ever be let go of for this one.
function collided({ lock, holder }: Extract<Locking, { kind: 'blocked' }>, other: string): string {
  return `the name of the lock of ${describe(lock.target)}, ${lock.name}, is that of another object, ${other}, which Transaction ${readableHolder(holder)} has locked; it is not waited for: create this Transaction again once that one has finished`;
}

function blocked({ transaction, now }: Observation, locking: Extract<Locking, { kind: 'blocked' }>, taking: Taking): Step {
  if (locking.other !== undefined) return taking.waitedTooLong(collided(locking, locking.other));
  const message = `${describe(locking.lock.target)} is locked by Transaction ${readableHolder(locking.holder)}`;
  const waited = now - (taking.since ?? now);
  if (transaction.lockWait === 0 || waited > transaction.lockWait) {
    const tooLong =
      transaction.lockWait === 0 ? 'spec.lockWait is 0s' : `waited for spec.lockWait (${formatDuration(transaction.lockWait)})`;
    return taking.waitedTooLong(`${message}; ${tooLong}`);
  }
  const status = taking.waiting(`waiting: ${message}`);
  return { kind: 'yield', leases: locking.release, status, because: message, resyncAfterSeconds: lockPatience };
}

/** The uid in a holder tells people nothing. */
function readableHolder(holder: string): string {
  return holder.split('/').slice(0, 2).join('/');
}
