// The last write of an undo, which restores the field ownership and changes nothing else; and what all writes of an undo share.
import type { Precondition, Write } from '../../objects/cluster.ts';
import { withManagedFields } from '../../objects/content/content.ts';
import { managersOf } from '../../objects/content/fields.ts';
import { hasManager, hasSameOwners } from '../../objects/content/ownership.ts';
import type { JsonObject } from '../../objects/json.ts';
import type { Mutation } from '../../objects/mutation.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { fieldManagers, managersOfChange, ownManager, type Transaction } from '../model/transaction.ts';
import { locationOf } from '../writes/change.ts';
import { preconditionOf, serviceAccountOf } from '../writes/resources.ts';

export interface UndoContext {
  readonly transaction: Transaction;
  readonly entry: SnapshotEntry;
  readonly goneOwners: readonly string[];
  /** Field managers that get no fields back. */
  readonly goneManagers: readonly string[];
  /** The change of a rollback itself, not its undo: it is marked by the field manager of the change. */
  readonly isForward?: boolean | undefined;
}

/** The manager that marks an object as half restored. */
export function markOf({ transaction, isForward }: UndoContext): string {
  const { forward, restore } = fieldManagers(transaction);
  return isForward === true ? forward : restore;
}

export function base({ transaction, entry }: UndoContext): Pick<Write, 'identity' | 'location'> {
  return { identity: serviceAccountOf(transaction), location: locationOf(entry.target, entry.resource) };
}

export function withPrecondition(
  object: JsonObject,
  make: (precondition: Precondition) => Mutation | undefined,
): Mutation | undefined {
  const precondition = preconditionOf(object);
  return precondition === undefined ? undefined : make(precondition);
}

// A manager that others write under, too, gets its former fields back, like that of anybody else.
function ourManagers({ transaction, entry }: Pick<UndoContext, 'transaction' | 'entry'>): readonly string[] {
  const managers = managersOfChange(transaction, transaction.changes[entry.index]);
  return [ownManager(managers), managers.restore];
}

/** Managers that must own nothing after the undo. */
export function managersToRemove(undo: UndoContext): readonly string[] {
  return [...ourManagers(undo), ...undo.goneManagers];
}

export function restoreOwners(undo: UndoContext, object: JsonObject, owners: readonly JsonObject[]): Mutation | undefined {
  const owned = withManagedFields(object, owners);
  // The API server writes no managedFields for an object without any field to track. Then our own write left no entry, and the
  // other managers still lack theirs.
  const isMoved = undo.entry.restores === true && !hasSameOwners(object, owned);
  if (!isMoved && !hasManager(object, ourManagers(undo)) && (isTracked(object) || !isTracked(owned))) return undefined;
  return withPrecondition(object, (precondition) => ({
    write: {
      ...base(undo),
      verb: 'update',
      object: owned,
      precondition,
      fieldManager: markOf(undo),
    },
  }));
}

function isTracked(object: JsonObject): boolean {
  return managersOf(object).some(({ name }) => name !== '');
}
