// The ends: locks are given back, later requests honoured, and what is deleted is let go.

import type { Request } from '../agenda/agenda.ts';
import type { Observation, StoredSnapshot, View } from '../observe/observation.ts';
import { lockOf } from '../writes/lease.ts';
import { brokenDrift, firstLease, type ItemView } from './guards.ts';
import { isSettled, unsettledAt } from './in-flight.ts';
import { locksOf } from './pending.ts';
import type { Step } from './step.ts';
import { takeLocks } from './taking.ts';
import { answered, disowned, released, waitingSince, waitingToUndo, withLeases } from './transitions.ts';
import { undoingAgain } from './undo-transitions.ts';
import { become, waitOut } from './waiting.ts';

export function decideRelease(observation: Observation, view: Extract<View, { kind: 'release' }>): Step {
  const { status } = observation;
  if (view.trouble !== undefined) return waitOut(status, 'reading the locks', view.trouble);
  if (view.leases.length === 0) return become(released(status, unsettledAtRelease(observation)), 'no lock is held any more');
  return { kind: 'release', leases: view.leases, because: `${view.leases.length} locks are given back` };
}

/** What a later undo must know: with the Leases the names of the writers go. Nobody begins to change anything after an end. */
export function unsettledAtRelease(observation: Observation): number | undefined {
  const { status, recollection, view, now } = observation;
  if (status.rollbackRef === undefined) return undefined;
  const first = view.kind === 'release' ? firstLease(status, view.leases) : undefined;
  return isSettled({ status, first, recollection }) ? unsettledAt({ status, recollection }) : now;
}

/** An undo that a user asks for, once the locks are held again. */
export function decideRelock(observation: Observation, view: Extract<View, { kind: 'relock' }>, request: Request): Step {
  const { status, now } = observation;
  if (view.snapshot.kind === 'trouble') return waitOut(status, 'reading the snapshot', view.snapshot.failure);
  const broken = whyBroken(observation, view.snapshot);
  if (broken !== undefined || view.snapshot.kind === 'broken') {
    const message = `${request.annotation}="${request.value}" has no effect: ${broken}`;
    return become(answered(status, request, message), message);
  }
  const leases = view.snapshot.entries.map(({ target }) => lockOf(target).name);
  const locking = withLeases(status, leases);
  return takeLocks(observation, view.locks, {
    held: () =>
      become(undoingAgain(status, request, now, locksOf(view.locks, leases)), 'a rollback was requested and all locks are held'),
    waiting: (message) => waitingToUndo(locking, now, message),
    waitedTooLong: (message) => {
      const refused = `${request.annotation}="${request.value}" has no effect: ${message}; set another value to try again`;
      return become(answered(locking, request, refused), refused);
    },
    since: waitingSince(status),
  });
}

function whyBroken(observation: Observation, snapshot: StoredSnapshot): string | undefined {
  if (snapshot.kind === 'broken') return snapshot.message;
  const entries = snapshot.kind === 'stored' ? snapshot.entries : [];
  return entries.map((entry) => brokenDrift(observation, entry)).find((why) => why !== undefined);
}

/** ms for which a deletion is held up by objects that cannot be read or written: it must not depend on what others keep running. */
const disownPatience = 60_000;

/** Whether a deletion has waited long enough: from then on each object has one try. */
export function isDisownOver({ transaction: { deletedAt }, now }: Pick<Observation, 'transaction' | 'now'>): boolean {
  return deletedAt !== undefined && now > deletedAt + disownPatience;
}

/** Our entry in the managedFields of a patched object goes with the Transaction. Where it cannot, nothing waits for it for long. */
export function decideDisown(observation: Observation, view: ItemView, index: number): Step {
  const { status } = observation;
  const entry = view.snapshot.kind === 'stored' ? view.snapshot.entries[index] : undefined;
  const trouble = view.live.kind === 'trouble' && view.live.failure.kind === 'transient' ? view.live.failure : undefined;
  if (trouble !== undefined && !isDisownOver(observation)) return waitOut(status, 'reading an object that was patched', trouble);
  if (entry === undefined || view.live.kind !== 'present')
    return become(disowned(status, index), 'the object is not there to be disowned', 0.001);
  return { kind: 'disown', index, entry, live: view.live.object, because: 'the Transaction is being deleted' };
}

export function decideSettle({ status }: Observation, view: Extract<View, { kind: 'settle' }>): Step {
  if (view.trouble !== undefined) return waitOut(status, 'reading what is left of the Transaction', view.trouble);
  return { kind: 'settle', leases: view.leases, configMaps: view.configMaps, because: 'the Transaction is being deleted' };
}
