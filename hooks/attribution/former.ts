// The object that a change has deleted to create it again (model/halves.ts), while it is still there.
import type { SnapshotEntry } from '../model/entry.ts';
import { isCreatingHalf } from '../model/halves.ts';
import { at, isList, type JsonObject } from '../model/json.ts';
import { describe } from '../model/reference.ts';
import { foreign } from '../model/words.ts';
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
  const found = at(live, 'metadata', 'finalizers');
  const finalizers = isList(found) ? found.filter((one) => typeof one === 'string') : [];
  const which = isSealed ? '' : ` (${foreign(finalizers.join(', '), longestFinalizers)})`;
  const why = finalizers.length === 0 ? '' : `: finalizers keep it${which}`;
  return `waiting to create ${describe(entry.target)} again until the former one is gone${why}`;
}
