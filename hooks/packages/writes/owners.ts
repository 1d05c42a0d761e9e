// Labels and owners of what a package transaction makes, and owners of installed objects that are still there.
//
// Packages have no owner: `kubectl delete ptx --cascade=foreground` would have the garbage collector delete a package whose only
// owner is the package transaction, and with it revisions, CRDs and every resource. What has another owner only loses the reference.
import type { Resource, Write } from '../../objects/cluster.ts';
import { at, type Json, type JsonObject, objectAt, textAt, withPath } from '../../objects/json.ts';
import { groupOf } from '../../objects/reference.ts';
import { ownersIn } from '../checks/conflicts.ts';
import { nameLabel, packageTransactions, writeOf } from './resources.ts';

/** The package transaction as what it makes names it. */
export interface Maker {
  readonly name: string;
  readonly uid: string;
}

function reference({ name, uid }: Maker): JsonObject {
  return { apiVersion: 'pkg.crossplane.io/v1alpha1', kind: 'Transaction', name, uid };
}

/** Owners that stay: not an earlier package transaction, nor the owner itself, which had another uid if it was applied again. */
function stayingOwners(live: JsonObject | undefined, reference: JsonObject): readonly JsonObject[] {
  const isSame = (owner: JsonObject): boolean => ['kind', 'name'].every((key) => textAt(owner, key) === textAt(reference, key));
  return ownersIn(live).filter((owner) => !isPackageTransaction(owner) && !isSame(owner));
}

function isOurs(owner: JsonObject): boolean {
  return groupOf(textAt(owner, 'apiVersion') ?? '') === packageTransactions.group;
}

function isPackageTransaction(owner: JsonObject): boolean {
  return isOurs(owner) && textAt(owner, 'kind') === packageTransactions.kind;
}

/** Owners of an object that this owner, if given, controls, and that the package transaction made last. */
export function ownersOf(
  live: JsonObject | undefined,
  maker: Maker,
  owner: { readonly reference: JsonObject; readonly controls: boolean },
): readonly JsonObject[] {
  const staying = stayingOwners(live, owner.reference);
  const kept = owner.controls ? staying.map(withoutControl) : staying;
  const control = owner.controls ? { controller: true, blockOwnerDeletion: true } : {};
  return [...kept, { ...owner.reference, ...control }, reference(maker)];
}

function withoutControl(owner: JsonObject): JsonObject {
  return at(owner, 'controller') === true ? { ...owner, controller: false } : owner;
}

/** What is there, then what is wanted, then the label of the maker. */
export function labelsOf(live: JsonObject | undefined, wanted: Json | undefined, maker: Maker): JsonObject {
  return { ...objectAt(live, 'metadata', 'labels'), ...objectAt(wanted), [nameLabel]: maker.name };
}

export function annotationsOf(live: JsonObject | undefined, wanted: Json | undefined): JsonObject {
  return { ...objectAt(live, 'metadata', 'annotations'), ...objectAt(wanted) };
}

/** The uid by kind and name. */
export type LiveOwners = ReadonlyMap<string, string>;

export function ownerKey(kind: string, name: string): string {
  return `${kind} ${name}`;
}

/**
 * The owners that the object should have; undefined if it may keep those that it has. A Package or a revision that was applied again is the
 * owner under its new uid. Owners of other kinds are not judged: they stay, and hold nothing. An object without any owner is nobody's
 * garbage; one whose owners are all gone is.
 */
export function livingOwners(object: JsonObject, owners: LiveOwners): readonly JsonObject[] | undefined {
  const before = ownersIn(object);
  const moved = before.flatMap((owner) => {
    const uid = uidNow(owner, owners);
    return !isOurs(owner) ? [owner] : uid === undefined ? [] : [{ ...owner, uid }];
  });
  const living = moved.filter((owner, index) => moved.findIndex(({ uid }) => uid === owner.uid) === index);
  const isMoved = living.some(({ uid }) => !before.some((owner) => owner.uid === uid));
  return before.some(isOurs) && (isMoved || !living.some(isOurs)) ? living : undefined;
}

/** Another package transaction of the same name has made nothing of it. */
function uidNow(owner: JsonObject, owners: LiveOwners): string | undefined {
  const kind = textAt(owner, 'kind') ?? '';
  const uid = owners.get(ownerKey(kind, textAt(owner, 'name') ?? ''));
  return kind === packageTransactions.kind && uid !== textAt(owner, 'uid') ? undefined : uid;
}

export function ownersWrite(resource: Resource, live: JsonObject, owners: readonly JsonObject[], namespace: string): Write {
  const object = withPath(live, ['metadata', 'ownerReferences'], owners.length === 0 ? undefined : owners);
  return writeOf({ resource, name: textAt(live, 'metadata', 'name') ?? '' }, object, namespace, live);
}
