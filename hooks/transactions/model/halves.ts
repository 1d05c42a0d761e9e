// A change that recreates its object (whenImmutable: Recreate) has two halves: a Delete, and a Create under the same name. Each half is
// decided, sent, recognised and undone as a change of that type is; the undo takes the halves in reverse order. The item remembers that
// the first half is made (`deleted`), and the second half is sent only once a stored status says so.
import type { Change } from './change.ts';
import type { SnapshotEntry } from './entry.ts';
import type { Item } from './item.ts';

/** The entry as the Delete sees it. Its expected state is known: none. */
export function deletingHalf({ expected: _later, ...entry }: SnapshotEntry): SnapshotEntry {
  return { ...entry, type: 'Delete', approximate: false };
}

/** The entry as the Create sees it. `prior` is the former object: what is created keeps parts of it, and must wait until it is gone. */
export function creatingHalf(entry: SnapshotEntry): SnapshotEntry {
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
export function mayBeHalfMade({ progress }: Item, change: Pick<Change, 'whenImmutable'> | undefined): boolean {
  return progress.kind === 'announced' && change?.whenImmutable === 'Recreate';
}
