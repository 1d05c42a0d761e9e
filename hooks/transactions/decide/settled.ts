// The ends: the engine releases locks, honours later requests, and lets a deleted Transaction go.

import { unsettledAtEnd } from '../in-flight/in-flight.ts';
import type { CleanUpView, ItemView, Observation, ReleaseView } from '../observe/observation.ts';
import { firstLease } from './guards.ts';
import { untilAllowed } from './refusals.ts';
import type { Step } from './step.ts';
import { fieldsReleased, released } from './transitions.ts';
import { setStatus, waitOut } from './waiting.ts';

export function decideRelease(observation: Observation, view: ReleaseView): Step {
  const { status } = observation;
  if (view.trouble !== undefined) return untilAllowed({ status, what: 'reading the locks', failure: view.trouble });
  if (view.leases.length === 0) return setStatus(released(status, unsettledAtRelease(observation)), 'all locks are released');
  // (L1)
  return { kind: 'release', leases: view.leases, because: `releasing ${view.leases.length} locks` };
}

/** The facts that a later undo needs: with the Leases, the names of the writers go. No process begins a change after an end. */
export function unsettledAtRelease(observation: Observation): number | undefined {
  const { status, ownWrites, due, now } = observation;
  if (status.rollbackRef === undefined) return undefined;
  const first = due.kind === 'release' ? firstLease(status, due.leases) : undefined;
  return unsettledAtEnd({ status, first, ownWrites }, now);
}

/** ms for which objects that cannot be read or written hold up a deletion: it must not depend on others' actions. */
const deletionPatienceMs = 60_000;

/** Whether a deletion has waited long enough. From then on, the engine tries each object and each snapshot only once. */
export function isDeletionOverdue({ transaction: { deletedAt }, now }: Pick<Observation, 'transaction' | 'now'>): boolean {
  return deletedAt !== undefined && now > deletedAt + deletionPatienceMs;
}

/** Our entry in the managedFields of a patched object goes with the Transaction. If it cannot, nothing waits for it for long. */
export function decideReleaseFields(observation: Observation, view: ItemView): Step {
  const { status } = observation;
  const { index } = view;
  const entry = view.snapshot.kind === 'stored' ? view.snapshot.entries[index] : undefined;
  const trouble = view.live.kind === 'trouble' ? view.live.failure : undefined;
  if (trouble?.kind === 'transient' && !isDeletionOverdue(observation))
    return waitOut(status, 'reading an object that was patched', trouble, true);
  if (entry === undefined || view.live.kind !== 'present')
    return setStatus(fieldsReleased(status, index), 'the object no longer exists: there are no fields to release', 'now');
  return { kind: 'releaseFields', index, entry, live: view.live.object, because: 'the Transaction is being deleted' };
}

export function decideCleanUp(observation: Observation, view: CleanUpView): Step {
  const { status } = observation;
  const trouble = view.trouble ?? (isDeletionOverdue(observation) ? undefined : view.unread);
  if (trouble !== undefined)
    return untilAllowed({ status, what: 'reading the Leases and snapshots of the Transaction', failure: trouble, isNews: true });
  // (L5)
  return { kind: 'cleanUp', leases: view.leases, configMaps: view.configMaps, because: 'the Transaction is being deleted' };
}
