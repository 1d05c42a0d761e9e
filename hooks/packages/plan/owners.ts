// Labels and owners of what a package transaction makes.
//
// Packages have no owner: `kubectl delete ptx --cascade=foreground` would have the garbage collector delete a package whose only
// owner is the package transaction, and with it revisions, CRDs and every resource. What has another owner only loses the reference.
import { at, isList, isObject, type Json, type JsonObject, textAt } from '../../objects/json.ts';
import { groupOf } from '../../objects/reference.ts';
import { nameLabel } from './resources.ts';

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
  const owners = at(live, 'metadata', 'ownerReferences');
  const isSame = (owner: JsonObject): boolean => ['kind', 'name'].every((key) => textAt(owner, key) === textAt(reference, key));
  return (isList(owners) ? owners : []).filter(isObject).filter((owner) => !isPackageTransaction(owner) && !isSame(owner));
}

function isPackageTransaction(owner: JsonObject): boolean {
  return groupOf(textAt(owner, 'apiVersion') ?? '') === 'pkg.crossplane.io' && textAt(owner, 'kind') === 'Transaction';
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
  return { ...objectAt(live, 'labels'), ...(isObject(wanted) ? wanted : {}), [nameLabel]: maker.name };
}

export function annotationsOf(live: JsonObject | undefined, wanted: Json | undefined): JsonObject {
  return { ...objectAt(live, 'annotations'), ...(isObject(wanted) ? wanted : {}) };
}

function objectAt(live: JsonObject | undefined, key: string): JsonObject {
  const found = at(live, 'metadata', key);
  return isObject(found) ? found : {};
}
