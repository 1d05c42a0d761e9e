// How an object shows that a write of ours is in it: by an entry in managedFields whose name is only ours; where others write under
// the same name, by the annotation `applied-by`, owned by that name. Whoever may write the object can write both: content is compared
// all the same, and what was there before our write shows nothing.
import { type Json, textAt } from '../model/json.ts';
import { annotations, type Managers } from '../model/transaction.ts';
import { hasManager, ownedBy } from './ownership.ts';
import { pathText } from './path.ts';

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
