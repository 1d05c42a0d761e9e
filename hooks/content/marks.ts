// How an object shows that a write of ours is in it: by an entry in managedFields whose name is only ours; where others write under
// the same name, by the annotation `applied-by`, owned by that name. Whoever may write the object can write both: content is compared
// all the same, and what was there before our write shows nothing.
import { type Json, textAt } from '../model/json.ts';
import { annotations, type Managers } from '../model/transaction.ts';
import { hasManager, ownedBy } from './ownership.ts';
import { type Path, pathText } from './path.ts';

const ownAnnotations = [annotations.appliedBy, annotations.createdBy].map((name) =>
  pathText(['f:metadata', 'f:annotations', `f:${name}`]),
);

/** Whether the path is that of an annotation by which the engine marks its work: no content of the user. */
export function isOwnMark(path: Path): boolean {
  return ownAnnotations.includes(pathText(path));
}

const mark = pathText(['f:metadata', 'f:annotations', `f:${annotations.appliedBy}`]);

/** Whether the object shows a write of this change. */
export function bearsOurWrite(object: Json | undefined, { forward, holder }: Managers): boolean {
  if (holder === undefined) return hasManager(object, [forward]);
  return appliedBy(object) === holder && ownedBy(object, [forward]).some((path) => pathText(path) === mark);
}

/** The holder that the annotation names. */
export function appliedBy(object: Json | undefined): string | undefined {
  return textAt(object, 'metadata', 'annotations', annotations.appliedBy);
}
