// Values that count neither as our work nor as others' work: values that no manager owns, values that controllers of Kubernetes
// write (content/controller-writes.ts), the number that a client has scaled to, and injected CA bundles (content/injected.ts).
import { contentOf } from '../../objects/content/content.ts';
import { isControllerWritten, isWrittenByController } from '../../objects/content/derived.ts';
import type { Manager } from '../../objects/content/fields.ts';
import { isInjectedBy, withoutInjected } from '../../objects/content/injected.ts';
import type { ListKinds } from '../../objects/content/lists.ts';
import { isUnclaimed } from '../../objects/content/owners.ts';
import type { Path } from '../../objects/content/path.ts';
import { isObject, type Json, type JsonObject } from '../../objects/json.ts';
import { kindOf } from '../../objects/reference.ts';
import type { SnapshotEntry } from '../model/entry.ts';

/** The part of an object's content that counts as a writer's work. */
export function countedContent(object: Json | undefined, entry: SnapshotEntry): JsonObject | undefined {
  return isObject(object) ? countedOf(object, entry) : undefined;
}

/** The same of an object that is there. */
export function countedOf(object: JsonObject, entry: SnapshotEntry): JsonObject {
  return withoutInjected(contentOf(object, entry.resource), kindOf(entry.resource), entry);
}

/** Whether the value at the path counts neither as our work nor as others' work. */
export function isUncounted(live: Json | undefined, path: Path, kinds: ListKinds): boolean {
  return isUnclaimed(live, path, kinds) || isControllerWritten(live, path);
}

/** Whether the manager owns the path only as a client that derives, scales or injects the value. */
export function ownsUncounted(entry: SnapshotEntry, live: Json | undefined): (owner: Manager, path: Path) => boolean {
  const kind = kindOf(entry.resource);
  return (owner, path) =>
    (live !== undefined && isWrittenByController(live, owner, path)) || isInjectedBy(owner, path, kind, entry);
}
