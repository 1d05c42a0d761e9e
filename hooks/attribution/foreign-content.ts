// The part of a created object that others wrote.
import { contentOf, withoutKeys } from '../content/content.ts';
import { listKindsOf } from '../content/lists.ts';
import { differences } from '../content/merge.ts';
import { isUnclaimed, ownersWithin } from '../content/owners.ts';
import { kubernetesManagers } from '../content/ownership.ts';
import type { Path } from '../content/path.ts';
import { at, isObject, type Json, type JsonObject, textAt, withKey } from '../model/json.ts';
import { unlikeOurs } from './applied-by.ts';
import { type Evidence, type ForeignPath, foreignPath, uidOf, writtenState } from './attribute.ts';
import { type OthersEvidence, sharedFields } from './others.ts';

/** What shows that others wrote into an object that our Create made. `isSame`: its uid shows that it is ours. */
export function workOfOthers(evidence: OthersEvidence, isSame: boolean): readonly ForeignPath[] {
  if (isAsRecorded(evidence)) return foreignContent(evidence);
  // The uid does not prove that the object is ours: fields that others own beside us may be their work.
  return [...foreignContent(evidence), ...unlikeOurs(evidence), ...(isSame ? [] : sharedFields(evidence))];
}

/**
 * Whether no dry run has shown the created object, and nobody has written to it since its uid and resourceVersion were recorded: every
 * write that changes an object gives it a new resourceVersion. What only our manager owns is ours then, whatever it looks like: a policy
 * may have changed it. An object that was found after a lost answer is recorded only if all values of our manager are those that were sent.
 */
export function isAsRecorded({ entry, live, createdUid, version }: OthersEvidence): boolean {
  const isSame = createdUid !== undefined && uidOf(live) === createdUid;
  return entry.approximate && isSame && textAt(live, 'metadata', 'resourceVersion') === version;
}

/** What others wrote into an object that our Create made, if it is a reason to keep the object. */
function foreignContent(evidence: Evidence): readonly ForeignPath[] {
  const { entry, live } = evidence;
  const kinds = listKindsOf(entry.expected, live);
  const written = writtenState(evidence, kinds);
  const ours = (object: Json | undefined): JsonObject | undefined =>
    isObject(object) ? withoutBookkeeping(contentOf(object, entry.resource)) : undefined;
  const theirs = differences(ours(written), ours(live), kinds);
  const owned = (path: Path): boolean => ownersWithin(live, path).some(({ name }) => kubernetesManagers.includes(name));
  const changed = theirs.filter((path) => path.length > 0 && !owned(path) && !isUnclaimed(live, path, kinds));
  // Without a dry run we do not know the defaults: then only fields that another manager owns count as foreign.
  const isKnown = (path: Path): boolean => !['unknown', evidence.managers.forward].includes(foreignPath(live, path).manager);
  const known = entry.approximate ? changed.filter(isKnown) : changed;
  return known.map((path) => foreignPath(live, path));
}

function withoutBookkeeping(object: JsonObject): JsonObject {
  const metadata = withoutKeys(at(object, 'metadata'), ['annotations', 'finalizers', 'ownerReferences']);
  return withKey(withKey(object, 'metadata', metadata), 'status', undefined);
}
