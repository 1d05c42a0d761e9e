// An undo that a user lets overwrite what others wrote later.
import { valueAt, withValuesAt } from '../../objects/content/lists.ts';
import { withoutLaterOwners } from '../../objects/content/overwritten.ts';
import type { JsonObject } from '../../objects/json.ts';
import type { Attributed, Evidence } from './attribute.ts';

/** The values and owners of before, also where others have changed ours since. `foreign` of `attributed`: where they have. */
export function overLater(
  { entry, managers }: Evidence,
  live: JsonObject,
  attributed: Attributed,
): { readonly live: JsonObject; readonly attributed: Attributed } {
  const { merge, kinds } = attributed;
  const paths = attributed.foreign.map(({ path }) => path);
  const former = paths.map((path) => ({ path, value: valueAt(entry.prior, path, kinds) }));
  const restored = withValuesAt(merge.restored, former, kinds);
  const owned = withoutLaterOwners({ live, expected: entry.expected, forward: managers.forward, paths });
  return { live: owned, attributed: { ...attributed, merge: { ...merge, restored } } };
}
