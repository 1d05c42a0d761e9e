// What of a created object is somebody else's work.
import { contentOf, withoutKeys } from '../content/content.ts';
import { listKindsOf } from '../content/lists.ts';
import { differences } from '../content/merge.ts';
import { isUnclaimed, ownersWithin } from '../content/owners.ts';
import { kubernetesManagers } from '../content/ownership.ts';
import type { Path } from '../content/path.ts';
import { at, isObject, type Json, type JsonObject, withKey } from '../model/json.ts';
import { type Evidence, type ForeignPath, foreignPath, writtenState } from './attribute.ts';

/** What others have put into an object that our Create made, as far as it is a reason to keep it. */
export function foreignContent(evidence: Evidence): readonly ForeignPath[] {
  const { entry, live } = evidence;
  const kinds = listKindsOf(entry.expected, live);
  const written = writtenState(evidence, kinds);
  const ours = (object: Json | undefined): JsonObject | undefined =>
    isObject(object) ? withoutBookkeeping(contentOf(object, entry.resource)) : undefined;
  const theirs = differences(ours(written), ours(live), kinds);
  const owned = (path: Path): boolean => ownersWithin(live, path).some(({ name }) => kubernetesManagers.includes(name));
  const changed = theirs.filter((path) => path.length > 0 && !owned(path) && !isUnclaimed(live, path, kinds));
  // Where no dry run showed the defaults, only what another manager has written is foreign.
  const isKnown = (path: Path): boolean => !['unknown', evidence.managers.forward].includes(foreignPath(live, path).manager);
  const known = entry.approximate ? changed.filter(isKnown) : changed;
  return known.map((path) => foreignPath(live, path));
}

function withoutBookkeeping(object: JsonObject): JsonObject {
  const metadata = withoutKeys(at(object, 'metadata'), ['annotations', 'finalizers', 'ownerReferences']);
  return withKey(withKey(object, 'metadata', metadata), 'status', undefined);
}
