// The undo of a CRD whose storage version moved. The field status.storedVersions keeps every version in which objects were ever
// stored. The API server refuses a spec that lacks such a version. So there are three writes, and the object shows which of them is
// missing:
//
// 1. The former content, and the versions that came with the change: served, but no longer the version to store. The engine writes
//    under the Transaction's own field manager, so that the content still counts as its work. This also holds after an Apply under
//    a manager that releases share.
// 2. status.storedVersions without those versions: no object may be stored in them.
// 3. The content of before, and the field ownership, as in every undo.
//
// An object is stored in the version that is the storage version when it is written. So those written since the change may be stored in
// the new one; versions of objects grow from write to write (Kubernetes documents it since 1.35). Between 1 and 2 lies a pause: API
// servers that have not heard of 1 may still store the new version. Source of the rules: apiextensions-apiserver,
// pkg/registry/customresourcedefinition/strategy.go and pkg/apis/apiextensions/validation.
import { contentOf } from '../../objects/content/content.ts';
import { isDefinition, newStoredVersions, settledAt, storedVersionsOf } from '../../objects/definitions.ts';
import { at, equalJson, isList, type Json, type JsonObject, textAt, withKey, withPath } from '../../objects/json.ts';
import { describe } from '../../objects/reference.ts';
import { formatTime } from '../../objects/time.ts';
import { shownOf } from '../hazards/messages.ts';
import type { StoredObjects } from '../model/crds.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { Reason } from '../model/reason.ts';

/** The first of the three writes. */
export interface Bridging {
  readonly kind: 'bridge';
  readonly live: JsonObject;
  /** The content to write. */
  readonly content: JsonObject;
  readonly message: string;
}

type StorageVerdict =
  | Bridging
  /** The second write, which the others follow. */
  | { readonly kind: 'trim'; readonly storedVersions: readonly string[] }
  | { readonly kind: 'wait'; readonly message: string }
  | { readonly kind: 'conflict'; readonly reason: Reason; readonly message: string };

const mostShown = 5;

/** The step before the engine can restore the content of a CRD; undefined if there is no such step. */
export function evaluateStorage(
  entry: SnapshotEntry,
  stored: StoredObjects | undefined,
  live: JsonObject,
  restored: JsonObject,
): StorageVerdict | undefined {
  const added = isDefinition(entry.resource) ? newStoredVersions(live, entry.prior) : [];
  if (added.length === 0 || stored === undefined) return undefined;
  const name = describe(entry.target);
  const content = bridgeOf(live, restored, added);
  const whatFor = `before ${added.join(', ')} can be removed from ${name}`;
  if (!equalJson(contentOf(live, entry.resource), content))
    return { kind: 'bridge', live, content, message: `waiting until all API servers store objects as before, ${whatFor}` };
  const until = settledAt(live);
  if (stored.now <= until)
    return {
      kind: 'wait',
      message: `waiting until ${formatTime(until)}: all API servers must store objects as before, ${whatFor}`,
    };
  if (stored.awaited.length > 0)
    return {
      kind: 'wait',
      message: `waiting for the undo of ${shownOf(
        stored.awaited.map(({ name: one }) => one),
        mostShown,
      )}, ${whatFor}`,
    };
  if (stored.others.length > 0) return conflict(name, added, stored.others);
  return { kind: 'trim', storedVersions: storedVersionsOf(live).filter((version) => !added.includes(version)) };
}

function conflict(name: string, added: readonly string[], others: readonly string[]): StorageVerdict {
  const [versions, which] = [added.join(', '), shownOf(others, mostShown)];
  const found = `objects of ${name} were written since its storage version moved and may be stored as ${versions}: ${which}`;
  const next = `they are stored as before again once each is written (kubectl get -o json, kubectl replace); then remove ${versions} from status.storedVersions of the CRD, and retry the rollback`;
  return { kind: 'conflict', reason: 'StoredVersions', message: `${found}; ${next}` };
}

/** The content of before, with the versions of `live` that it lacks and that may be stored. */
function bridgeOf(live: JsonObject, restored: JsonObject, added: readonly string[]): JsonObject {
  const [own, there] = [versionsOf(restored), versionsOf(live)];
  const names = own.map((version) => textAt(version, 'name'));
  const more = there.filter((version) => {
    const name = textAt(version, 'name') ?? '';
    return added.includes(name) && !names.includes(name);
  });
  return withPath(restored, ['spec', 'versions'], [...own, ...more.map((version) => withKey(version, 'storage', false))]);
}

function versionsOf(definition: Json): readonly JsonObject[] {
  const found = at(definition, 'spec', 'versions');
  return isList(found) ? (found as readonly JsonObject[]) : [];
}
