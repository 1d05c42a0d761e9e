// The one entrance of package transactions to the engine: what they know of a Transaction as it is stored. All else they do through the
// API: each of their stages is a Transaction (writes/stages.ts). test/support/package-stages.ts holds the boundary.
import type { Json } from '../objects/json.ts';
import { decodeItem, isNotRestored, isToUndo } from '../transactions/model/item.ts';
import { annotations } from '../transactions/model/transaction.ts';

/** Annotations of a Transaction. */
export const { allowIrreversible, requestRollback, showRefusals, undoPartial } = annotations;

/** Whether the change of an entry of `status.items` may have an effect in the cluster, since it is not undone. */
export function mayBeLeft(wire: Json): boolean {
  const item = decodeItem(wire);
  return item === undefined || isToUndo(item) || isNotRestored(item);
}

/** Whether an undo has ended without having taken the change of an entry of `status.items` back. */
export function isLeft(wire: Json): boolean {
  const item = decodeItem(wire);
  return item !== undefined && isNotRestored(item);
}
