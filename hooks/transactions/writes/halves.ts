// Which half of a change that recreates its object, or of its undo, is next (model/halves.ts). The item shows which half was made.
// The read shows whether the live object exists.

import { isTerminating } from '../../objects/content/ownership.ts';
import { type Json, type JsonObject, textAt } from '../../objects/json.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { creatingHalf, deletingHalf } from '../model/halves.ts';
import type { Item } from '../model/item.ts';
import { bearsOurWrite, bearsRestored } from '../model/marks.ts';
import { annotations, managersOfChange, type Transaction } from '../model/transaction.ts';

interface Seen {
  readonly item: Item;
  /** Undefined if the object does not exist, or could not be read. */
  readonly live: JsonObject | undefined;
}

/** The half that is to be made next. */
export function nextHalf(entry: SnapshotEntry, { item, live }: Seen): SnapshotEntry {
  // If the former object is not being deleted, none of our writes has deleted it.
  const isStanding = isFormer(entry, live) && !isTerminating(live);
  return item.deleted !== true || isStanding ? deletingHalf(entry) : creatingHalf(entry);
}

/** The half that is to be undone next: the Create as long as what it made is there, then the Delete. */
export function halfToUndo(entry: SnapshotEntry, { item, live }: Seen, transaction: Transaction): SnapshotEntry {
  const isLater = item.deleted === true && live !== undefined && !isFormer(entry, live);
  return isLater && isMade(entry, { item, live }, transaction) ? creatingHalf(entry) : deletingHalf(entry);
}

function isMade(entry: SnapshotEntry, { item, live }: Seen, transaction: Transaction): boolean {
  if (textAt(live, 'metadata', 'uid') === item.uid || (live !== undefined && bearsRestored(entry, live))) return true;
  const isMarked = textAt(live, 'metadata', 'annotations', annotations.createdBy) === transaction.uid;
  return isMarked || bearsOurWrite(live, managersOfChange(transaction, transaction.changes[entry.index]));
}

/** Whether that is the object as it was before the change, by its uid. */
export function isFormer({ prior }: SnapshotEntry, live: Json | undefined): boolean {
  const uid = textAt(prior, 'metadata', 'uid');
  return uid !== undefined && textAt(live, 'metadata', 'uid') === uid;
}
