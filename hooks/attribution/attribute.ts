// Whose work is the live object? Values decide: our change is prior -> expected, theirs is expected -> live. managedFields
// only help where values cannot show: a change that changed nothing, and values that a webhook stamped.
//
// I4. A change, and its undo, each change the content of a target at most once, however often they are tried: what is there already is
//     recognised by its values and by managedFields.
import { contentOf } from '../content/content.ts';
import { type ListKinds, listKindsOf, partsOf, valueAt, withValueAt, withValuesAt } from '../content/lists.ts';
import { differences, type Merge, merge, type OurPath } from '../content/merge.ts';
import { isUnclaimed, ownersAt } from '../content/owners.ts';
import { hasManager, hasRestored, newOwners, ownedBy } from '../content/ownership.ts';
import { describePath, describeSealedPath, type Path, pathSet, pathText } from '../content/path.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { equalJson, isObject, type Json, type JsonObject, textAt } from '../model/json.ts';
import { foreign } from '../model/words.ts';
import type { Drift } from '../snapshots/drift.ts';

interface Managers {
  readonly forward: string;
  readonly restore: string;
}

/** What is known of one item when its live object is evaluated. */
export interface Evidence {
  readonly entry: SnapshotEntry;
  /** Undefined when the object is not there. */
  readonly live: JsonObject | undefined;
  readonly managers: Managers;
  readonly drift: readonly Drift[];
  /** Whether the status says that our write took effect. */
  readonly recorded: boolean;
  /** Whether values of the object must not be shown. */
  readonly isSealed: boolean;
}

/** A path that is no longer ours, and who has it. */
export interface ForeignPath {
  readonly path: Path;
  readonly manager: string;
}

/** The live object of an Update or a Patch, taken apart. */
export interface Attributed {
  readonly kind: 'untouched' | 'applied' | 'foreign';
  readonly merge: Merge;
  /** The paths of our change that show whose work it is: what nobody owns is not among them. */
  readonly ours: readonly OurPath[];
  readonly kinds: ListKinds;
  /** The expected state with what the server was seen to have made of it. */
  readonly written: Json | undefined;
  readonly foreign: readonly ForeignPath[];
}

/** Attributes the live object of an Update or a Patch, whose uid is that of the prior state. */
export function attribute(evidence: Evidence): Attributed {
  const { entry, live, managers } = evidence;
  const kinds = listKindsOf(entry.prior, entry.expected, live);
  const foreseen = writtenState(evidence, kinds);
  const mergeWith = (written: Json | undefined): Merge =>
    merge({ prior: content(entry.prior, entry), expected: content(written, entry), live: content(live, entry) }, kinds);
  const first = mergeWith(foreseen);
  const unclaimed = unclaimedPaths(first, foreseen, evidence, kinds);
  const found = unclaimed.map((path) => ({ path, value: valueAt(live, path, kinds) }));
  const written = withValuesAt(foreseen, found, kinds);
  const merged = unclaimed.length === 0 ? first : mergeWith(written);
  const nobodys = new Set(unclaimed.map(pathText));
  const ours = merged.ours.filter(({ path }) => !nobodys.has(pathText(path)));
  const isForeign = ({ path, state }: OurPath): boolean => state === 'foreign' && !isForgottenAnnotation(path, written, kinds);
  const foreign = ours.filter(isForeign).map(({ path }) => foreignPath(live, path));
  const marked = hasManager(live, [managers.forward]) || hasRestored(live, managers.restore);
  const byValue = ours.some(({ state }) => state === 'applied');
  // Server-side apply always leaves an entry: without one, equal values are somebody else's equal change.
  const proven = entry.type === 'Patch' && !evidence.recorded ? marked : byValue || marked;
  const kind = foreign.length > 0 ? 'foreign' : proven ? 'applied' : 'untouched';
  return { kind, merge: merged, ours, kinds, written, foreign };
}

// Neither as before nor as expected, and nobody's: stamped at every write, be it ours or another's, or generated (a node port
// in a list item of ours). It goes back with our change.
function unclaimedPaths(
  { ours }: Merge,
  written: Json | undefined,
  { entry, live }: Evidence,
  kinds: ListKinds,
): readonly Path[] {
  const foreign = ours.filter(({ state, isOrder }) => state === 'foreign' && isOrder !== true);
  if (foreign.length === 0) return [];
  const differing = differences(content(written, entry), content(live, entry), kinds);
  const inForeign = pathSet(foreign.map(({ path }) => path));
  return differing.filter((path) => inForeign.covers(path) && isUnclaimed(live, path, kinds));
}

// The API server itself counts in it, at every write of a DaemonSet. Source: k8s.io/kubernetes pkg/apis/apps/v1/conversion.go.
const counter = 'f:deprecated.daemonset.template.generation';

// A PUT drops the annotations that its content does not name; controllers write theirs again. Theirs stay, and nobody is wronged.
function isForgottenAnnotation(path: Path, written: Json | undefined, kinds: ListKinds): boolean {
  if (path[0] !== 'f:metadata' || path[1] !== 'f:annotations') return false;
  return path[2] === counter || valueAt(written, path, kinds) === undefined;
}

function content(object: Json | undefined, entry: SnapshotEntry): JsonObject | undefined {
  return isObject(object) ? contentOf(object, entry.resource) : undefined;
}

/** expected, plus the drift that was recorded, plus the values that our manager still owns in the live object. */
export function writtenState({ entry, live, managers, drift }: Evidence, kinds: ListKinds): Json | undefined {
  const recorded = drift.reduce<Json | undefined>(
    (state, { path, value }) => withValueAt(state, path, value, kinds),
    entry.expected,
  );
  const ours = ownedBy(live, [managers.forward]).flatMap((path) => {
    const value = valueAt(live, path, kinds);
    const isContainer = value === undefined || partsOf(value, path, kinds) !== undefined;
    return isContainer || equalJson(value, valueAt(recorded, path, kinds)) ? [] : [{ path, value }];
  });
  return withValuesAt(recorded, ours, kinds);
}

const longestManager = 128;

export function foreignPath(live: Json | undefined, path: Path): ForeignPath {
  const owners = ownersAt(live, path);
  return { path, manager: owners.map((owner) => foreign(owner.name, longestManager)).join(', ') || 'unknown' };
}

/** Those who took a path of our change over since it was made, although its value is still ours. */
export function takenOver(evidence: Evidence, attributed: Attributed): readonly ForeignPath[] {
  // Nobody owns the order of a list, and who adds an item to it takes nothing over.
  const applied = attributed.merge.ours
    .filter(({ state, isOrder }) => state === 'applied' && isOrder !== true)
    .map(({ path }) => path);
  const owned = { prior: evidence.entry.prior, expected: evidence.entry.expected, live: evidence.live };
  const owners = newOwners(owned, applied, [evidence.managers.forward, evidence.managers.restore]);
  return owners;
}

export function uidOf(object: Json | undefined): string | undefined {
  return textAt(object, 'metadata', 'uid');
}

const mostPaths = 5;
const longestPath = 300;

/** In words; of a sealed object without the values that lie in paths. */
export function describeForeign(paths: readonly ForeignPath[], { isSealed }: Pick<Evidence, 'isSealed'>): string {
  const describeOne = isSealed ? describeSealedPath : describePath;
  const all = [...new Set(paths.map(({ path, manager }) => `${foreign(describeOne(path), longestPath)} (by ${manager})`))];
  const shown = all.slice(0, mostPaths);
  return shown.join(', ') + (all.length > shown.length ? ` and ${all.length - shown.length} more` : '');
}
