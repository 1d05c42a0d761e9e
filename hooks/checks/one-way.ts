// Changes that nobody can take back: the API server does not let them, or others have paid for them.
import { at, equalJson, type JsonObject, textAt } from '../model/json.ts';
import { parseQuantity } from '../model/quantity.ts';
import { annotations } from '../model/transaction.ts';

/** What a user does who means it. */
export const howToAllow = `annotate the Transaction with ${annotations.allowIrreversible}=true to do it all the same`;

const mostShown = 3;

/** Why a Delete cannot be undone that takes these objects along; undefined when it takes none. */
export function takesAlong(companions: readonly string[]): string | undefined {
  if (companions.length === 0) return undefined;
  return `the objects that it owns go with it (${shownOf(companions, mostShown)})`;
}

/** The first of them, and how many more there are. */
export function shownOf(names: readonly string[], most: number): string {
  const rest = names.length - most;
  return names.slice(0, most).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

const mostKinds = 10;

/** What a person should know of a Delete around which not all could be seen; undefined when all was. `failing`: cannot be listed. */
export function unlistedNote(denied: readonly string[], failing: readonly string[] = []): string | undefined {
  const notes = [[denied, 'the ServiceAccount may not list them'] as const, [failing, 'listing them fails'] as const].filter(
    ([kinds]) => kinds.length > 0,
  );
  if (notes.length === 0) return undefined;
  return notes
    .map(([kinds, why]) => `objects of these kinds may have gone with it, ${why}: ${shownOf(kinds, mostKinds)}`)
    .join('; ');
}

/** What makes the step from prior to expected a one-way one, in words; undefined when nothing does. */
export function oneWay(prior: JsonObject | undefined, expected: JsonObject | undefined): string | undefined {
  if (prior === undefined || expected === undefined) return undefined;
  if (at(expected, 'immutable') === true && at(prior, 'immutable') !== true) return 'it becomes immutable';
  return grows(prior, expected) ? 'a claim can grow but not shrink' : undefined;
}

// Source: k8s.io/kubernetes pkg/apis/core/validation, ValidatePersistentVolumeClaimUpdate: requests may only grow.
function grows(prior: JsonObject, expected: JsonObject): boolean {
  if (textAt(expected, 'kind') !== 'PersistentVolumeClaim') return false;
  const path = ['spec', 'resources', 'requests', 'storage'] as const;
  const [before, after] = [textAt(prior, ...path), textAt(expected, ...path)];
  return before !== undefined && after !== undefined && !equalJson(before, after) && parseQuantity(after) > parseQuantity(before);
}
