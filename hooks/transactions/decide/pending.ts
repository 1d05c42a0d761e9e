// Pending: the checks, then the locks. Nothing is written before every check has passed.

import type { Failure, Passing } from '../../objects/failure.ts';
import type { JsonObject } from '../../objects/json.ts';
import { describeFaults, type Fault, fault } from '../checks/fault.ts';
import { lockOf, writerOf } from '../locks/lease.ts';
import type { ItemError } from '../model/item.ts';
import { reasonOfFailure } from '../model/reason.ts';
import type { Status } from '../model/status.ts';
import type { BeginView, LockView, Observation, ObservedTo } from '../observe/observation.ts';
import { acquireLocks } from './locks.ts';
import { unlessFinal } from './refusals.ts';
import type { Step } from './step.ts';
import { begun, type Locks, locked, stopped, waitingForLocks, withLeases } from './transitions.ts';
import { hungUpMessage, isHungUp, isTooLong, setStatus, waitForWebhook } from './waiting.ts';

export function decideBegin(observation: Observation, view: ObservedTo<'begin'>): Step {
  const { status, transaction, now } = observation;
  if (view.trouble !== undefined) return troubled(observation, begun(status, now), 'a check', view.trouble);
  if (view.faults.length > 0) return refuse(observation, view.faults, view.orphanedLeases);
  const withLocks = withLeases(status, leaseNames(view));
  return acquireLocks(observation, view.locks, {
    acquired: () =>
      composedAgain(observation, view, withLocks) ??
      setStatus(locked(status, transaction, now, locksOf(view.locks, leaseNames(view))), 'all locks acquired'),
    waiting: (message) => waitingForLocks(withLocks, transaction, now, message),
    waitedTooLong: (message) => setStatus(stopped(withLocks, { reason: 'LockHeld', message }, now, new Map()), message),
    refused: (cause) => setStatus(stopped(withLocks, cause, now, new Map()), cause.message),
    since: status.startTime,
  });
}

// Another release may have ended before the rollback held all locks: then the locks go back, and what it undoes is found again.
function composedAgain(observation: Observation, { releases, locks }: ObservedTo<'begin'>, held: Status): Step | undefined {
  const { status, transaction } = observation;
  if (transaction.rollback === undefined) return undefined;
  if (releases?.trouble !== undefined) return troubled(observation, held, 'listing the Transactions to undo', releases.trouble);
  const known = status.rollback?.undone.map(({ uid }) => uid) ?? [];
  if (known.join() === releases?.uids.join()) return undefined;
  const { rollback: _other, specDigest: _checked, ...rest } = status;
  const because = 'the Transactions to undo are others than before: they are found again';
  const leases = [...locks.states.values()].flatMap((state) => (state.kind === 'present' ? [state.object] : []));
  return { kind: 'releaseAndWait', leases, status: { ...rest, items: [], message: because }, held, because, wait: 'now' };
}

/** Nothing was written yet: a final refusal ends the Transaction, all other trouble is waited for. */
export function troubled(observation: Observation, status: Status, what: string, failure: Failure): Step {
  if (failure.kind !== 'refused' && isHungUp(failure)) return hungUp(observation, status, what, failure);
  return unlessFinal(observation, { status, what, failure }, (cause) => refuse(observation, [cause]));
}

// A webhook without a server may never answer, and the Transaction holds its locks meanwhile.
function hungUp(observation: Observation, status: Status, what: string, failure: Passing): Step {
  if (!isTooLong(observation)) return waitForWebhook(status, what, failure, observation);
  return refuse({ ...observation, status }, [fault(reasonOfFailure(failure), hungUpMessage(what, failure))]);
}

/** The locks that are held, by the names of their Leases in the order of the changes. */
export function locksOf({ states }: LockView, leases: readonly string[]): Locks {
  const first = states.get(leases[0] ?? '');
  return { leases, writer: first?.kind === 'present' ? writerOf(first.object) : undefined };
}

// In the order of the changes; the view has them in the order of their names.
function leaseNames({ locks, targets }: BeginView): readonly string[] {
  const known = new Set(locks.locks.map(({ name }) => name));
  return targets.map((target) => lockOf(target).name).filter((name) => known.has(name));
}

/** Ends as Failed before anything was written, with all faults. */
export function refuse({ status, now }: Observation, faults: readonly Fault[], orphanedLeases: readonly JsonObject[] = []): Step {
  const message = describeFaults(faults);
  const errors = new Map<number, ItemError>(
    faults.flatMap(({ item, reason, message: text }) => (item === undefined ? [] : [[item, { reason, message: text }] as const])),
  );
  return ending(stopped(status, { reason: faults[0]?.reason ?? 'Invalid', message }, now, errors), message, orphanedLeases);
}

/** Ends before anything was applied; locks that an earlier call acquired and could not report are released (L2). */
export function ending(status: Status, because: string, orphanedLeases: readonly JsonObject[]): Step {
  return orphanedLeases.length === 0
    ? setStatus(status, because)
    : { kind: 'releaseAndWait', leases: orphanedLeases, status, because, wait: 'none' };
}
