// Labels and owners of the objects that a package transaction makes, and owners of installed objects that still exist.
//
// Packages have no owner. With one, `kubectl delete ptx --cascade=foreground` would make the garbage collector delete a package
// whose only owner is the package transaction. Revisions, CRDs and every resource would go with it. An object with another owner
// only loses the reference.
import type { Resource, Write } from '../../objects/cluster.ts';
import { at, type Json, type JsonObject, objectAt, textAt, withPath } from '../../objects/json.ts';
import { groupOf } from '../../objects/reference.ts';
import { ownersIn } from '../checks/conflicts.ts';
import { nameLabel, packageTransactions, writeOf } from './resources.ts';

/** The package transaction as its objects name it. */
export interface Maker {
  readonly name: string;
  readonly uid: string;
  /** The uids of packages and revisions that lose their objects to it, of a Replace. */
  readonly replaced?: ReadonlySet<string> | undefined;
}

function reference({ name, uid }: Maker): JsonObject {
  return { apiVersion: 'pkg.crossplane.io/v1alpha1', kind: 'Transaction', name, uid };
}

/**
 * Owners that stay. An earlier package transaction does not stay, nor does the owner itself, which had another uid if it was
 * applied again.
 */
function stayingOwners(live: JsonObject | undefined, reference: JsonObject): readonly JsonObject[] {
  const isSame = (owner: JsonObject): boolean => ['kind', 'name'].every((key) => textAt(owner, key) === textAt(reference, key));
  return ownersIn(live).filter((owner) => !isPackageTransaction(owner) && !isSame(owner));
}

function isOurs(owner: JsonObject): boolean {
  return groupOf(textAt(owner, 'apiVersion') ?? '') === packageTransactions.group;
}

/** Whether the owner is a package transaction. */
export function isPackageTransaction(owner: JsonObject): boolean {
  return isOurs(owner) && textAt(owner, 'kind') === packageTransactions.kind;
}

/** Owners of an object that this owner, if given, controls, and that the package transaction made last. */
export function ownersOf(
  live: JsonObject | undefined,
  maker: Maker,
  owner: { readonly reference: JsonObject; readonly controls: boolean },
): readonly JsonObject[] {
  const staying = stayingOwners(live, owner.reference).filter(({ uid }) => !maker.replaced?.has(String(uid)));
  const kept = owner.controls ? staying.map(withoutControl) : staying;
  const control = owner.controls ? { controller: true, blockOwnerDeletion: true } : {};
  return [...kept, { ...owner.reference, ...control }, reference(maker)];
}

function withoutControl(owner: JsonObject): JsonObject {
  return at(owner, 'controller') === true ? { ...owner, controller: false } : owner;
}

/** The labels that the object has, then the wanted labels, then the label of the maker. */
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
 * The owners that the object should have; undefined if it may keep its owners. If a Package or a revision was applied again, it is
 * the owner under its new uid. The hook leaves owners of other kinds as they are. The garbage collector
 * does not delete an object without any owner. It deletes an object whose owners are all gone.
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

/** The uid that the owner has now. Another package transaction of that name has made no part of the object. */
function uidNow(owner: JsonObject, owners: LiveOwners): string | undefined {
  const kind = textAt(owner, 'kind') ?? '';
  const uid = owners.get(ownerKey(kind, textAt(owner, 'name') ?? ''));
  return kind === packageTransactions.kind && uid !== textAt(owner, 'uid') ? undefined : uid;
}

export function ownersWrite(resource: Resource, live: JsonObject, owners: readonly JsonObject[], namespace: string): Write {
  const object = withPath(live, ['metadata', 'ownerReferences'], owners.length === 0 ? undefined : owners);
  return writeOf({ resource, name: textAt(live, 'metadata', 'name') ?? '' }, object, namespace, live);
}
