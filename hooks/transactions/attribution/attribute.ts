// Separates our work in the live object from others' work. Values decide: prior -> expected is our change, expected -> live is
// their change. The managedFields help only if values prove nothing: for a change that changed nothing, and for values that a
// webhook stamped.
//
// I4. A change, and its undo, each change the content of a target at most once, however often the engine tries them. Values and
//     managedFields show a change that was made.

import { withStoredKeys } from '../../objects/content/defaulted.ts';
import { isControllerWritten, isDerived, isScaled } from '../../objects/content/derived.ts';
import { withInjected } from '../../objects/content/injected.ts';
import { type ListKinds, listKindsOf, partsOf, valueAt, withValueAt, withValuesAt } from '../../objects/content/lists.ts';
import { differences, type Merge, merge, type OurPath } from '../../objects/content/merge.ts';
import { isUnclaimed, ownersAt } from '../../objects/content/owners.ts';
import { hasRestored, newOwners, ownedBy } from '../../objects/content/ownership.ts';
import { describePath, describeSealedPath, type Path, pathSet, pathText } from '../../objects/content/path.ts';
import { equalJson, isObject, type Json, type JsonObject, textAt } from '../../objects/json.ts';
import { kindOf } from '../../objects/reference.ts';
import { foreign } from '../../objects/words.ts';
import { shownOf } from '../hazards/messages.ts';
import { isApplied } from '../model/change.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { bearsOurWrite } from '../model/marks.ts';
import { longestManager, type Managers, ownManager } from '../model/transaction.ts';
import type { Drift } from '../snapshots/drift.ts';
import { countedContent, ownsUncounted } from './uncounted.ts';

/** The facts about one item when the engine evaluates its live object. */
export interface Evidence {
  readonly entry: SnapshotEntry;
  /** Undefined if the object does not exist. */
  readonly live: JsonObject | undefined;
  readonly managers: Managers;
  readonly drift: readonly Drift[];
  /** Whether the status says that our write took effect. */
  readonly recorded: boolean;
  /** Whether messages must not show values of the object. */
  readonly isSealed: boolean;
  /** Whether a user requested the undo. */
  readonly isRequested?: boolean;
}

/** A path whose value is no longer ours, and the managers that own it now. */
export interface ForeignPath {
  readonly path: Path;
  readonly manager: string;
}

/** The live object of an Update or a Patch, split into our work and others' work. */
export interface Attributed {
  readonly kind: 'untouched' | 'applied' | 'foreign';
  readonly merge: Merge;
  /** The paths of our change, without the paths that no manager owns: such paths prove nothing. */
  readonly ours: readonly OurPath[];
  readonly kinds: ListKinds;
  /** The expected state, with the values that the API server set later (unclaimedPaths). */
  readonly written: Json | undefined;
  readonly foreign: readonly ForeignPath[];
  /** The fields that clients have scaled since, with or without an owner: their live values stay in the undo. */
  readonly staying: readonly ForeignPath[];
}

/**
 * Attributes the live object of an Update or a Patch, whose uid is that of the prior state. The engine does not make an existing
 * change again (I4).
 */
export function attribute(evidence: Evidence): Attributed {
  const { entry, live, managers } = evidence;
  const kinds = listKindsOf(entry.prior, entry.expected, live);
  const foreseen = writtenState(evidence, kinds);
  const [before, now] = [countedContent(entry.prior, entry), countedContent(live, entry)];
  const mergeWith = (written: Json | undefined): Merge =>
    merge({ prior: before, expected: countedContent(written, entry), live: now }, kinds);
  const first = mergeWith(foreseen);
  const unclaimed = [...unclaimedPaths(first, foreseen, evidence, kinds), ...consequences(first, evidence)];
  const found = unclaimed.map((path) => ({ path, value: valueAt(live, path, kinds) }));
  const written = withValuesAt(foreseen, found, kinds);
  const merged = unclaimed.length === 0 ? first : mergeWith(written);
  const uncounted = new Set(unclaimed.map(pathText));
  const isUnowned = (path: Path): boolean => isScaledWithoutOwner(path, evidence, kinds);
  const isStaying = (path: Path): boolean => isScaled(live, path) || isUnowned(path);
  // A field that a client has scaled is one of those that controllers write.
  const ours = merged.ours.filter(
    ({ path }) => !uncounted.has(pathText(path)) && !isControllerWritten(live, path) && !isUnowned(path),
  );
  const all = [...merged.ours.map(({ path }) => path), ...merged.theirs].filter(isStaying);
  const staying = [...new Map(all.map((path) => [pathText(path), path])).values()].filter(
    (path) => !equalJson(valueAt(entry.prior, path, kinds), valueAt(live, path, kinds)),
  );
  const isForeign = ({ path, state }: OurPath): boolean => state === 'foreign' && !isForgottenAnnotation(path, written, kinds);
  const foreign = ours.filter(isForeign).map(({ path }) => foreignPath(live, path));
  const marked = bearsOurWrite(live, managers) || hasRestored(live, managers.restore);
  const byValue = ours.some(({ state }) => state === 'applied');
  // Server-side apply always leaves an entry in managedFields: without an entry, another writer wrote equal values.
  const proven = isApplied(entry.type) && !evidence.recorded ? marked : byValue || marked;
  const kind = foreign.length > 0 ? 'foreign' : proven ? 'applied' : 'untouched';
  const left = { ...merged, restored: withLive(staying, merged.restored, live, kinds) };
  const shown = staying.map((path) => foreignPath(live, path));
  return { kind, merge: withBundles(left, evidence), ours, kinds, written, foreign, staying: shown };
}

function withLive(
  paths: readonly Path[],
  restored: Json | undefined,
  live: Json | undefined,
  kinds: ListKinds,
): Json | undefined {
  const values = paths.map((path) => ({ path, value: valueAt(live, path, kinds) }));
  return paths.length === 0 ? restored : withValuesAt(restored, values, kinds);
}

function withBundles(merged: Merge, { entry, live }: Evidence): Merge {
  const { restored } = merged;
  if (!isObject(restored) || live === undefined) return merged;
  const change = { prior: entry.prior, expected: entry.expected, live };
  return { ...merged, restored: withInjected(restored, kindOf(entry.resource), change) };
}

// Values that a controller derives from the object of our change, but not from the prior object. For example, our change made a
// ClusterRole an aggregated ClusterRole, and the controller wrote its rules. The undo reverts such values with our change.
function consequences({ ours, theirs }: Merge, { entry, live }: Evidence): readonly Path[] {
  const { prior } = entry;
  const paths = [...theirs, ...ours.filter(({ state }) => state === 'foreign').map(({ path }) => path)];
  const found = paths.filter((path) => isDerived(live, path) && !isDerived(live, path, prior));
  return [...new Map(found.map((path) => [pathText(path), path])).values()];
}

// Paths that no manager owns, and whose value is neither the prior nor the expected value. A webhook stamps such values at every
// write, ours or another's. Or the API server generates them, for example a node port in our list item. The undo reverts these
// values with our change.
function unclaimedPaths({ ours }: Merge, written: Json | undefined, evidence: Evidence, kinds: ListKinds): readonly Path[] {
  const { entry, live } = evidence;
  const foreign = ours.filter(({ state, isOrder }) => state === 'foreign' && isOrder !== true);
  if (foreign.length === 0) return [];
  const differing = differences(countedContent(written, entry), countedContent(live, entry), kinds);
  const inForeign = pathSet(foreign.map(({ path }) => path));
  return differing.filter(
    (path) => inForeign.covers(path) && !isScaledWithoutOwner(path, evidence, kinds) && isUnclaimed(live, path, kinds),
  );
}

// If a client scales an object whose replicas no manager owned before, the API server names no owner. In an undo that a user requests,
// that number stays, too. A rollback that the engine begins itself takes the replicas back.
const replicas = pathText(['f:spec', 'f:replicas']);

function isScaledWithoutOwner(path: Path, { live, isRequested }: Evidence, kinds: ListKinds): boolean {
  return isRequested === true && pathText(path) === replicas && isUnclaimed(live, path, kinds);
}

// The API server increments this at every write of a DaemonSet. Source: k8s.io/kubernetes pkg/apis/apps/v1/conversion.go.
const counter = 'f:deprecated.daemonset.template.generation';

export function isCounter(path: Path): boolean {
  return path[0] === 'f:metadata' && path[1] === 'f:annotations' && path[2] === counter;
}

// A PUT drops the annotations that its content does not name, and controllers write theirs again. These are theirs: no conflict.
function isForgottenAnnotation(path: Path, written: Json | undefined, kinds: ListKinds): boolean {
  if (path[0] !== 'f:metadata' || path[1] !== 'f:annotations') return false;
  return isCounter(path) || valueAt(written, path, kinds) === undefined;
}

/** The expected state, plus the recorded drift, plus the values that our own manager still owns in the live object. */
export function writtenState(evidence: Evidence, kinds: ListKinds): Json | undefined {
  const { live, managers, drift } = evidence;
  const after = drift.filter(({ before }) => before !== true);
  const recorded = after.reduce<Json | undefined>(
    (state, { path, value }) => withValueAt(state, path, value, kinds),
    sentState(evidence, kinds),
  );
  // Values that others write under our manager's name are not our work.
  const ours = ownedBy(live, [ownManager(managers)]).flatMap((path) => {
    const value = valueAt(live, path, kinds);
    const isContainer = value === undefined || partsOf(value, path, kinds) !== undefined;
    return isContainer || equalJson(value, valueAt(recorded, path, kinds)) ? [] : [{ path, value }];
  });
  return withValuesAt(recorded, ours, kinds);
}

// Without a dry run, the expected state is the sent object: the live object shows the keys that list items have.
function sentState({ entry, live, managers }: Evidence, kinds: ListKinds): Json | undefined {
  if (!entry.approximate || entry.expected === undefined) return entry.expected;
  const claimed = pathSet(ownedBy(live, [managers.forward]));
  return withStoredKeys(entry.expected, live, { kinds, isOurs: (path) => claimed.covers(path) || claimed.leadsTo(path) });
}

export function foreignPath(live: Json | undefined, path: Path): ForeignPath {
  const owners = ownersAt(live, path);
  return { path, manager: owners.map((owner) => foreign(owner.name, longestManager)).join(', ') || 'unknown' };
}

/** The paths of our change that another manager took over since, although the value is still ours. */
export function takenOver(evidence: Evidence, attributed: Attributed): readonly ForeignPath[] {
  // No manager owns the order of a list: a manager that adds an item takes nothing over.
  const applied = attributed.merge.ours
    .filter(({ state, isOrder }) => state === 'applied' && isOrder !== true)
    .map(({ path }) => path);
  const { managers, entry } = evidence;
  const owned = { prior: entry.prior, expected: entry.expected, live: evidence.live };
  return newOwners({ ...owned, ownsUncounted: ownsUncounted(entry, owned.live) }, applied, [
    managers.forward,
    managers.restore,
    ownManager(managers),
  ]);
}

export function uidOf(object: Json | undefined): string | undefined {
  return textAt(object, 'metadata', 'uid');
}

const mostPaths = 5;
const longestPath = 300;

/** The paths in words. For a sealed object the words leave out the values that a path contains. */
export function describeForeign(paths: readonly ForeignPath[], { isSealed }: Pick<Evidence, 'isSealed'>): string {
  const describeOne = isSealed ? describeSealedPath : describePath;
  const all = [...new Set(paths.map(({ path, manager }) => `${foreign(describeOne(path), longestPath)} (by ${manager})`))];
  return shownOf(all, mostPaths);
}

/**
 * Whether the change was announced, but no part of it is in the object: the values there are others' work. A Patch always leaves our
 * entry.
 */
export function isAbsent({ entry, live, managers, recorded }: Evidence, { ours }: Attributed): boolean {
  if (recorded || bearsOurWrite(live, managers)) return false;
  return isApplied(entry.type) || !ours.some(({ state }) => state === 'applied');
}

/** The paths without repetitions. */
export function once(paths: readonly ForeignPath[]): readonly ForeignPath[] {
  return [...new Map(paths.map((one) => [JSON.stringify(one), one])).values()];
}
