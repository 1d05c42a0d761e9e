// (D5) What an object needs that stays is not taken away from it, nor changed under it.

import { describe } from '../../objects/reference.ts';
import type { UndoVerdict } from '../attribution/undo.ts';
import { neededByKept } from '../checks/undo-order.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { ItemView, Observation } from '../observe/observation.ts';

/**
 * The verdict, unless it takes away or changes an object that a left object needs. The undo recreates a deleted object in any case.
 */
export function unlessNeeded(
  verdict: UndoVerdict,
  { status }: Observation,
  { snapshot }: ItemView,
  entry: SnapshotEntry,
): UndoVerdict {
  const takes = verdict.kind === 'delete' || verdict.kind === 'content' || verdict.kind === 'bridge';
  if (!takes || entry.type === 'Delete' || snapshot.kind !== 'stored') return verdict;
  const by = neededByKept(status.items, snapshot.entries, entry);
  if (by === undefined) return verdict;
  const message = `${describe(entry.target)} stays, because ${describe(by.target)} needs it and was not restored`;
  return { kind: 'conflict', reason: 'NeededByKept', message };
}
