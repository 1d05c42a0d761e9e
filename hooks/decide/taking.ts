// Taking locks: for a Transaction that begins, and for an undo that a user asks for later.

import { describe } from '../model/reference.ts';
import type { Status } from '../model/status.ts';
import { formatDuration } from '../model/timeouts.ts';
import { holderOf } from '../model/transaction.ts';
import type { LockView, Observation } from '../observe/observation.ts';
import { judgeLocks, type Locking, lockTrouble, type Taker } from './locks.ts';
import type { Step } from './step.ts';
import { lockPatience } from './waiting.ts';

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
    return { kind: 'setStatus', status: taking.waiting(message), because: message, wait: 'backoff' };
  }
  const locking = judgeLocks(view, takerOf(observation), observation.now);
  switch (locking.kind) {
    case 'held':
      return taking.held();
    case 'acquire':
      return { ...locking, kind: 'acquire', because: `${view.locks.length} locks are wanted` };
    case 'blocked':
      return blocked(observation, locking, taking);
  }
}

export function takerOf({ transaction, server, lateWindow }: Observation): Taker {
  return { holder: holderOf(transaction), server, lateWindow };
}

function blocked({ transaction, now }: Observation, locking: Extract<Locking, { kind: 'blocked' }>, taking: Taking): Step {
  const message = `${describe(locking.lock.target)} is locked by Transaction ${readableHolder(locking.holder)}`;
  const waited = now - (taking.since ?? now);
  if (transaction.lockWait === 0 || waited > transaction.lockWait) {
    const tooLong =
      transaction.lockWait === 0 ? 'spec.lockWait is 0s' : `waited for spec.lockWait (${formatDuration(transaction.lockWait)})`;
    return taking.waitedTooLong(`${message}; ${tooLong}`);
  }
  const status = taking.waiting(`waiting: ${message}`);
  return { kind: 'releaseAndWait', leases: locking.release, status, because: message, wait: lockPatience };
}

/** The uid in a holder tells people nothing. */
function readableHolder(holder: string): string {
  return holder.split('/').slice(0, 2).join('/');
}
