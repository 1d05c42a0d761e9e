// How an object shows that it contains our write. Usually, managedFields has an entry whose name only this Transaction uses. If
// others use that name, the annotation `applied-by`, owned by that name, shows our write. Whoever may write the object can write
// both. So the engine always compares content as well. A mark that was there before our write shows nothing.

import { membersWithin } from '../../objects/content/field-trees.ts';
import { managerKey, managersOf, treeOf } from '../../objects/content/fields.ts';
import { hasManager, ownedBy } from '../../objects/content/ownership.ts';
import { type Path, pathText } from '../../objects/content/path.ts';
import { type Json, textAt } from '../../objects/json.ts';
import type { SnapshotEntry } from './entry.ts';
import { annotations, type Managers } from './transaction.ts';

const ownAnnotations = [annotations.appliedBy, annotations.createdBy].map((name) =>
  pathText(['f:metadata', 'f:annotations', `f:${name}`]),
);

/** Whether the path is that of an annotation by which the engine marks its work: no content of the user. */
export function isOwnMark(path: Path): boolean {
  return ownAnnotations.includes(pathText(path));
}

const markPath: Path = ['f:metadata', 'f:annotations', `f:${annotations.appliedBy}`];
const mark = pathText(markPath);

/** Whether the object shows a write of this change. */
export function bearsOurWrite(object: Json | undefined, { forward, holder }: Managers): boolean {
  if (holder === undefined) return hasManager(object, [forward]);
  return appliedBy(object) === holder && ownedBy(object, [forward]).some((path) => pathText(path) === mark);
}

/**
 * Whether a rollback made the object again, although no status has recorded it: a manager wrote its fields when the snapshot says.
 * Whoever creates the object otherwise writes them later.
 */
export function bearsRestored({ expected, restores }: Pick<SnapshotEntry, 'expected' | 'restores'>, live: Json): boolean {
  if (restores !== true) return false;
  const times = new Map(managersOf(expected).map((manager) => [managerKey(manager), manager.time]));
  return managersOf(live).some((manager) => manager.time !== undefined && times.get(managerKey(manager)) === manager.time);
}

/** The holder that the annotation names. */
export function appliedBy(object: Json | undefined): string | undefined {
  return textAt(object, 'metadata', 'annotations', annotations.appliedBy);
}

/**
 * The apps that have applied the object, by their field managers: those that own the mark. Whoever may write the object can write the
 * mark: it may refuse a change, and never allow one.
 */
export function appsOf(object: Json | undefined): readonly string[] {
  if (appliedBy(object) === undefined) return [];
  const owners = managersOf(object).filter((manager) => membersWithin(treeOf(manager), markPath).length > 0);
  return [...new Set(owners.map(({ name }) => name))];
}
