// What must hold before any item is applied or taken back: a list that stops at the first reason.
import type { Failure } from '../model/failure.ts';
import { type JsonObject, textAt } from '../model/json.ts';
import type { Reason } from '../model/reason.ts';
import type { SnapshotEntry } from '../model/snapshot.ts';
import type { Status } from '../model/status.ts';
import { holderOf } from '../model/transaction.ts';
import type { Observation, Presence, View } from '../observe/observation.ts';
import { type LeaseState, leaseState } from './locks.ts';

export type ItemView = Extract<View, { kind: 'item' }>;

/** The Lease of the first change, if it is among these. */
export function firstLease({ items }: Status, leases: readonly JsonObject[]): JsonObject | undefined {
  const name = items[0]?.lockLease;
  return name === undefined ? undefined : leases.find((lease) => textAt(lease, 'metadata', 'name') === name);
}

export type Guarded =
  | { readonly kind: 'clear'; readonly entry: SnapshotEntry; readonly lease: JsonObject }
  | { readonly kind: 'trouble'; readonly what: string; readonly failure: Failure }
  /** The undo, and with it the change, has lost what it stands on. */
  | { readonly kind: 'lost'; readonly reason: Reason; readonly message: string }
  | { readonly kind: 'lease'; readonly state: Exclude<LeaseState, 'ours'> };

export function guard(observation: Observation, view: ItemView, index: number): Guarded {
  const { transaction, now } = observation;
  const account = `${transaction.namespace}/${transaction.serviceAccountName}`;
  if (view.serviceAccount.kind === 'trouble')
    return { kind: 'trouble', what: 'reading the ServiceAccount', failure: view.serviceAccount.failure };
  if (view.snapshot.kind === 'trouble') return { kind: 'trouble', what: 'reading the snapshot', failure: view.snapshot.failure };
  if (view.lease.kind === 'trouble') return { kind: 'trouble', what: 'reading the lock', failure: view.lease.failure };
  if (view.serviceAccount.kind === 'absent') {
    return { kind: 'lost', reason: 'ServiceAccountMissing', message: `ServiceAccount ${account} does not exist any more` };
  }
  if (view.snapshot.kind === 'broken') return { kind: 'lost', reason: 'SnapshotBroken', message: view.snapshot.message };
  const entry = view.snapshot.entries[index];
  if (entry === undefined)
    return { kind: 'lost', reason: 'SnapshotBroken', message: `the snapshot has no entry for spec.changes[${index}]` };
  const drift = brokenDrift(observation, entry);
  if (drift !== undefined) return { kind: 'lost', reason: 'SnapshotBroken', message: drift };
  return guardLock(view.lease, leaseStateOf(view.lease, holderOf(transaction), now), entry);
}

/** Why what the status remembers of a target is not to be believed; undefined where it is. */
export function brokenDrift({ status, openDrift }: Observation, entry: SnapshotEntry): string | undefined {
  const drift = status.items[entry.index]?.drift;
  if (drift === undefined || openDrift(drift, entry) !== undefined) return undefined;
  return `status.items[${entry.index}].drift cannot be read: somebody changed it, or its key is no longer in the Secret of the engine`;
}

function leaseStateOf(lease: Presence, holder: string, now: number): LeaseState {
  return leaseState(lease.kind === 'present' ? lease.object : undefined, holder, now);
}

function guardLock(lease: Presence, state: LeaseState, entry: SnapshotEntry): Guarded {
  if (state !== 'ours') return { kind: 'lease', state };
  return lease.kind === 'present' ? { kind: 'clear', entry, lease: lease.object } : { kind: 'lease', state: 'free' };
}
