// A change that recreates its object (whenImmutable: Recreate) has two halves: a Delete, and a Create under the same name. The
// engine decides, sends, recognises and undoes each half like a change of that type. The undo takes the halves in reverse order.
// The item remembers that the first half is made (`deleted`). The engine sends the second half only after a stored status has
// `deleted`.
import type { Change } from './change.ts';
import type { SnapshotEntry } from './entry.ts';
import type { Item } from './item.ts';

/** The entry as the Delete sees it. Its expected state is known: none. */
export function deletingHalf({ expected: _later, ...entry }: SnapshotEntry): SnapshotEntry {
  return { ...entry, type: 'Delete', approximate: false };
}

/** The entry for the Create. `prior` is the former object. The new object keeps parts of it; the Create waits until it is gone. */
export function creatingHalf({ deferred: _tried, isPriorRefused: _taken, ...entry }: SnapshotEntry): SnapshotEntry {
  return { ...entry, type: 'Create' };
}

export function isDeletingHalf({ recreates, type }: SnapshotEntry): boolean {
  return recreates === true && type === 'Delete';
}

export function isCreatingHalf({ recreates, type }: SnapshotEntry): boolean {
  return recreates === true && type === 'Create';
}

/** Whether the first half is recorded, and the second is not. */
export function isBetweenHalves({ progress, deleted }: Item): boolean {
  return progress.kind === 'announced' && deleted === true;
}

/** Whether the change may have deleted its object and not created it again: then the snapshot alone has the object. */
export function mayBeHalfMade({ progress }: Item, change: Pick<Change, 'whenImmutable' | 'restore'> | undefined): boolean {
  const mayRecreate = change?.whenImmutable === 'Recreate' || change?.restore !== undefined;
  return progress.kind === 'announced' && mayRecreate;
}
