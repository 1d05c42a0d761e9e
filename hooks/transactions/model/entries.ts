// Whose entries in managedFields are taken off when the Transaction is deleted.
import type { Item } from './item.ts';
import type { Status } from './status.ts';
import { leavesEntry, type Transaction } from './transaction.ts';

/** Index of the next change whose target may hold an entry that goes with the Transaction; -1 when none is left. */
export function nextToDisown(transaction: Transaction, status: Status): number {
  return status.items.findIndex((item, index) => {
    if (item.disowned !== undefined) return false;
    return (leavesEntry(transaction, index) && mayBeOurs(item)) || mayBeFenced(item, status);
  });
}

function mayBeOurs({ progress }: Item): boolean {
  return ['announced', 'applied', 'notRestored', 'kept'].includes(progress.kind);
}

/**
 * Several processes may undo a change. One process may fence its target after another process has ended that undo, and die before
 * it removes the mark: W6 (in-flight/in-flight.ts). It fences only announced changes, after a late window has begun.
 */
function mayBeFenced({ progress }: Item, { unsettledAt, rollbackObservedAt }: Status): boolean {
  const isUnrecorded = 'applied' in progress && !progress.applied;
  return isUnrecorded && (unsettledAt !== undefined || rollbackObservedAt !== undefined);
}
