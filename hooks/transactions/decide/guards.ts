// What must hold before any item is applied or taken back: a list that stops at the first reason.

import type { Failure } from '../../objects/failure.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { describe } from '../../objects/reference.ts';
import { describeRefusal } from '../checks/refusal.ts';
import { type LeaseState, leaseState } from '../locks/state.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { type Reason, reasonOfFailure } from '../model/reason.ts';
import type { Cause, Status } from '../model/status.ts';
import { holderOf, type Transaction } from '../model/transaction.ts';
import type { ItemView, Observation, Presence } from '../observe/observation.ts';
import type { Drift } from '../snapshots/drift.ts';
import { unlessFinal } from './refusals.ts';
import type { Step } from './step.ts';
import { undoing } from './undo-transitions.ts';
import { setStatus } from './waiting.ts';

/** The Lease of the first change, if it is among these. */
export function firstLease({ items }: Status, leases: readonly JsonObject[]): JsonObject | undefined {
  const name = items[0]?.lockLease;
  return name === undefined ? undefined : leases.find((lease) => textAt(lease, 'metadata', 'name') === name);
}

type Guarded =
  | { readonly kind: 'clear'; readonly entry: SnapshotEntry; readonly drift: readonly Drift[] }
  | { readonly kind: 'trouble'; readonly what: string; readonly failure: Failure }
  /** The undo, and with it the change, has lost what it depends on. */
  | { readonly kind: 'lost'; readonly reason: Reason; readonly message: string }
  | { readonly kind: 'lease'; readonly state: Exclude<LeaseState, 'ours'>; readonly entry: SnapshotEntry };

export function guard({ transaction, now }: Observation, view: ItemView): Guarded {
  const { index } = view;
  const account = `${transaction.namespace}/${transaction.serviceAccountName}`;
  if (view.serviceAccount.kind === 'trouble')
    return { kind: 'trouble', what: 'reading the ServiceAccount', failure: view.serviceAccount.failure };
  if (view.snapshot.kind === 'trouble') return { kind: 'trouble', what: 'reading the snapshot', failure: view.snapshot.failure };
  if (view.lease.kind === 'trouble') return { kind: 'trouble', what: 'reading the lock', failure: view.lease.failure };
  if (view.serviceAccount.kind === 'absent') {
    return { kind: 'lost', reason: 'ServiceAccountMissing', message: `ServiceAccount ${account} no longer exists` };
  }
  if (view.snapshot.kind === 'broken') return { kind: 'lost', reason: 'SnapshotBroken', message: view.snapshot.message };
  const entry = view.snapshot.entries[index];
  if (entry === undefined)
    return { kind: 'lost', reason: 'SnapshotBroken', message: `the snapshot has no entry for spec.changes[${index}]` };
  if (view.drift === 'broken') return { kind: 'lost', reason: 'SnapshotBroken', message: forgedDrift(index) };
  const state = leaseStateOf(view.lease, holderOf(transaction), now);
  return state === 'ours' ? { kind: 'clear', entry, drift: view.drift } : { kind: 'lease', state, entry };
}

/** Why the engine does not trust the facts that the status remembers of a target. */
export function forgedDrift(index: number): string {
  return `status.items[${index}].drift cannot be read: it was modified, or its key is no longer in the Secret of the engine`;
}

function leaseStateOf(lease: Presence, holder: string, now: number): LeaseState {
  return leaseState(lease.kind === 'present' ? lease.object : undefined, holder, now);
}

export type Clear = Extract<Guarded, { kind: 'clear' }>;

/** The step of each phase after a change has lost what it depends on, or its lock. */
interface Losses {
  readonly lost: (cause: Cause) => Status;
  readonly lockLost: (entry: SnapshotEntry) => Step;
}

/** The step of a change that is not clear. */
export function stepIfBlocked(
  observation: Observation,
  view: ItemView,
  guarded: Exclude<Guarded, { kind: 'clear' }>,
  { lost, lockLost }: Losses,
): Step {
  switch (guarded.kind) {
    case 'trouble': {
      const { status } = observation;
      return unlessFinal(observation, { status, ...guarded }, (cause) => setStatus(lost(cause), cause.message));
    }
    case 'lost':
      return setStatus(lost(guarded), guarded.message);
    case 'lease':
      return guarded.state === 'fading' ? renew(view) : lockLost(guarded.entry);
  }
}

/** All our Leases are renewed together. */
export function renew({ leases }: Pick<ItemView, 'leases'>): Step {
  return { kind: 'renew', leases, because: 'more than half of the lock duration has passed' };
}

export interface ReadTrouble {
  readonly what: string;
  readonly failure: Failure;
}

/** The first read that failed of what the undo of a change needs, and what it was to find; `name`: of the target. */
export function troubleOf({ live, hazards, othersTrouble }: ItemView, name: string): ReadTrouble | undefined {
  if (live.kind === 'trouble') return { what: `reading ${name}`, failure: live.failure };
  if (hazards.trouble !== undefined) return { what: `listing what would be deleted with ${name}`, failure: hazards.trouble };
  return othersTrouble === undefined ? undefined : { what: `reading other Transactions over ${name}`, failure: othersTrouble };
}

/** Why a target could not be read that may not be. */
export function unreadable(failure: Failure, entry: SnapshotEntry, transaction: Transaction): Cause {
  const message = `${describe(entry.target)} cannot be read: ${describeRefusal(failure, entry, transaction)}`;
  return { reason: reasonOfFailure(failure), message };
}

/** Another holder has a lock that changes depend on: the engine undoes the applied changes. */
export function lockLost({ status, now }: Observation, index: number): Step {
  const message = `the lock of spec.changes[${index}] was taken by another Transaction or deleted: spec.lockTimeout is too short, or the engine was not running`;
  return setStatus(undoing(status, { reason: 'LockLost', message }, now), message);
}
