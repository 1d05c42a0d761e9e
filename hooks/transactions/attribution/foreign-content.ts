// The part of a created object that others wrote.
import { withoutKeys } from '../../objects/content/content.ts';
import { isOfControllers } from '../../objects/content/derived.ts';
import { listKindsOf } from '../../objects/content/lists.ts';
import { differences } from '../../objects/content/merge.ts';
import { isUnclaimed, ownersAt } from '../../objects/content/owners.ts';
import type { Path } from '../../objects/content/path.ts';
import { at, isObject, type Json, type JsonObject, textAt, withKey } from '../../objects/json.ts';
import type { Filled } from '../model/filled.ts';
import { describeForeign, type Evidence, type ForeignPath, foreignPath, uidOf, writtenState } from './attribute.ts';
import type { OthersEvidence } from './other-transactions.ts';
import { countedOf } from './uncounted.ts';

interface ForeignContent {
  /** It is a reason to keep the object. */
  readonly kept: readonly ForeignPath[];
  /** What goes with the object, in words; undefined if nothing does. */
  readonly note: string | undefined;
}

/** What others wrote into an object that our Create made. */
export function foreignContent(evidence: Evidence, filled: Filled): ForeignContent {
  const all = pathsOf(evidence);
  const goes = (path: Path): boolean => filled !== 'Keep' && (filled === 'Delete' || isOnlyBy(filled, evidence.live, path));
  const shown = (paths: readonly Path[]): readonly ForeignPath[] => paths.map((path) => foreignPath(evidence.live, path));
  const going = shown(all.filter(goes));
  const note = going.length === 0 ? undefined : `deleted with what others wrote into it: ${describeForeign(going, evidence)}`;
  return { kept: shown(all.filter((path) => !goes(path))), note };
}

function isOnlyBy(names: readonly string[], live: Json | undefined, path: Path): boolean {
  const owners = ownersAt(live, path);
  return owners.length > 0 && owners.every(({ name }) => names.includes(name));
}

/**
 * Whether no dry run has shown the created object, and no writer has changed it since the engine recorded its uid and
 * resourceVersion. Every write that changes an object gives it a new resourceVersion. Then a value that only our manager owns is
 * ours, whatever the value is: a policy may have changed it. After a lost answer, the engine records a found object only if our
 * manager's values equal the sent values.
 */
export function isAsRecorded({ entry, live, createdUid, version }: OthersEvidence): boolean {
  const isSame = createdUid !== undefined && uidOf(live) === createdUid;
  return entry.approximate && isSame && textAt(live, 'metadata', 'resourceVersion') === version;
}

function pathsOf(evidence: Evidence): readonly Path[] {
  const { entry, live } = evidence;
  const kinds = listKindsOf(entry.expected, live);
  const written = writtenState(evidence, kinds);
  const ours = (object: Json | undefined): JsonObject | undefined =>
    isObject(object) ? withoutBookkeeping(countedOf(object, entry)) : undefined;
  const theirs = differences(ours(written), ours(live), kinds);
  const isOfOthers = (path: Path): boolean =>
    live !== undefined && !isUnclaimed(live, path, kinds) && !isOfControllers(live, path);
  const changed = theirs.filter((path) => path.length > 0 && isOfOthers(path));
  // Without a dry run we do not know the defaults: then only fields that another manager owns count as foreign.
  const isKnown = (path: Path): boolean => !['unknown', evidence.managers.forward].includes(foreignPath(live, path).manager);
  return entry.approximate ? changed.filter(isKnown) : changed;
}

function withoutBookkeeping(object: JsonObject): JsonObject {
  const metadata = withoutKeys(at(object, 'metadata'), ['annotations', 'finalizers', 'ownerReferences']);
  return withKey(withKey(object, 'metadata', metadata), 'status', undefined);
}
