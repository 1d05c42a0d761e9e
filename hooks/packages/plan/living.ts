// Owners of installed objects that are still there. An object without any owner is nobody's garbage; one whose owners are all gone is.
import type { Resource, Write } from '../../objects/cluster.ts';
import { at, isList, isObject, type JsonObject, textAt, withPath } from '../../objects/json.ts';
import { groupOf } from '../../objects/reference.ts';
import { accountIn, fieldManager, packageTransactions, preconditionOf } from './resources.ts';

/** The uid by kind and name. */
export type LiveOwners = ReadonlyMap<string, string>;

export function ownerKey(kind: string, name: string): string {
  return `${kind} ${name}`;
}

/**
 * The owners that the object should have; undefined if it may keep those that it has. A Package or a revision that was applied again is the
 * owner under its new uid. Owners of other kinds are not judged: they stay, and hold nothing.
 */
export function livingOwners(object: JsonObject, owners: LiveOwners): readonly JsonObject[] | undefined {
  const before = ownersIn(object);
  const own = before.filter(isOurs);
  const moved = before.flatMap((owner) => {
    const uid = uidNow(owner, owners);
    return !isOurs(owner) ? [owner] : uid === undefined ? [] : [{ ...owner, uid }];
  });
  const living = moved.filter((owner, index) => moved.findIndex(({ uid }) => uid === owner.uid) === index);
  const isMoved = living.some(({ uid }) => !before.some((owner) => owner.uid === uid));
  return own.length > 0 && (isMoved || !living.some(isOurs)) ? living : undefined;
}

function ownersIn(object: JsonObject): readonly JsonObject[] {
  const owners = at(object, 'metadata', 'ownerReferences');
  return (isList(owners) ? owners : []).filter(isObject);
}

function isOurs(owner: JsonObject): boolean {
  return groupOf(textAt(owner, 'apiVersion') ?? '') === packageTransactions.group;
}

/** Another package transaction of the same name has made nothing of it. */
function uidNow(owner: JsonObject, owners: LiveOwners): string | undefined {
  const kind = textAt(owner, 'kind') ?? '';
  const uid = owners.get(ownerKey(kind, textAt(owner, 'name') ?? ''));
  return kind === packageTransactions.kind && uid !== textAt(owner, 'uid') ? undefined : uid;
}

export function ownersWrite(resource: Resource, live: JsonObject, owners: readonly JsonObject[], namespace: string): Write {
  const object = withPath(live, ['metadata', 'ownerReferences'], owners.length === 0 ? undefined : owners);
  const location = { resource, name: textAt(live, 'metadata', 'name') ?? '' };
  return { verb: 'update', identity: accountIn(namespace), location, object, precondition: preconditionOf(live), fieldManager };
}
