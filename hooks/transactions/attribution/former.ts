// The object that a change has deleted to create it again (model/halves.ts), while it is still there.

import { at, isList, type JsonObject } from '../../objects/json.ts';
import { describe, type Reference } from '../../objects/reference.ts';
import { foreign } from '../../objects/words.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { isCreatingHalf } from '../model/halves.ts';
import { isFormer } from '../writes/halves.ts';

interface Leaving {
  readonly entry: SnapshotEntry;
  readonly live: JsonObject | undefined;
  readonly isSealed: boolean;
}

const longestFinalizers = 300;

/** What the Create waits for, in words; undefined if nothing is in its way. */
export function untilGone({ entry, live, isSealed }: Leaving): string | undefined {
  if (!isCreatingHalf(entry) || !isFormer(entry, live)) return undefined;
  return `waiting to create ${describe(entry.target)} again until the former one is gone${keptBy(live, isSealed)}`;
}

/** What an undo waits for, in words. */
export function goingSentence(target: Reference, live: JsonObject, isSealed: boolean): string {
  return `${describe(target)} is being deleted; waiting until it is gone${keptBy(live, isSealed)}`;
}

/** What keeps an object that is being deleted, as the end of a sentence. */
function keptBy(live: JsonObject | undefined, isSealed: boolean): string {
  const found = at(live, 'metadata', 'finalizers');
  const finalizers = isList(found) ? found.filter((one) => typeof one === 'string') : [];
  if (finalizers.length === 0) return '';
  return `: finalizers keep it${isSealed ? '' : ` (${foreign(finalizers.join(', '), longestFinalizers)})`}`;
}
