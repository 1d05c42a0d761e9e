// The part of a created object that others wrote.
import { contentOf, withoutKeys } from '../content/content.ts';
import { listKindsOf } from '../content/lists.ts';
import { differences } from '../content/merge.ts';
import { isUnclaimed, ownersWithin } from '../content/owners.ts';
import { kubernetesManagers } from '../content/ownership.ts';
import type { Path } from '../content/path.ts';
import { at, isObject, type Json, type JsonObject, withKey } from '../model/json.ts';
import { type Evidence, type ForeignPath, foreignPath, writtenState } from './attribute.ts';

/** What others wrote into an object that our Create made, if it is a reason to keep the object. */
export function foreignContent(evidence: Evidence): readonly ForeignPath[] {
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
