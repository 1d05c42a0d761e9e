// The objects in a Namespace, or of the kind of a CustomResourceDefinition, that the Transaction created.

import type { Resource } from '../../objects/cluster.ts';
import { managersOf } from '../../objects/content/fields.ts';
import { instancesOf } from '../../objects/definitions.ts';
import type { Failure, UnlistableKind } from '../../objects/failure.ts';
import { at, type JsonObject, textAt } from '../../objects/json.ts';
import { identityOf, kindOf, type Reference } from '../../objects/reference.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { apiServiceOf, awayOf, type Lister, listKinds, pluralOf, unavailableVersion } from '../reading/listing.ts';
import { serviceAccounts } from '../writes/resources.ts';
import { areEvents, type DeletionTarget, type Dependent, dependentOf, isLeaving } from './dependents.ts';
import { findOwners, ownersOf } from './read-owners.ts';
import { claims } from './read-volumes.ts';

type Contained =
  /** The objects whose loss a user would notice. */
  | { readonly kind: 'known'; readonly dependents: readonly Dependent[] }
  /** This kind could not be listed: its objects are unknown. */
  | { readonly kind: 'unlistable'; readonly unlistable: UnlistableKind }
  | { readonly kind: 'trouble'; readonly failure: Failure };

export const nothingContained: Contained = { kind: 'known', dependents: [] };

/** `gone`: identities of objects that are taken for gone, with what an APIService among them serves. */
export async function listContained(
  lister: Lister,
  { resource, target, object }: DeletionTarget,
  gone: ReadonlySet<string> = new Set(),
): Promise<Contained> {
  switch (kindOf(resource)) {
    case '/Namespace':
      return listNamespace(lister, target.name, gone);
    case 'apiextensions.k8s.io/CustomResourceDefinition':
      return listInstances(lister, instancesOf(object));
    case '/PersistentVolume':
      return { kind: 'known', dependents: await claimsOf(lister, object) };
    default:
      return nothingContained;
  }
}

// An APIService of a server that is not available may be in the way of the kind.
async function listInstances(lister: Lister, instances: Resource): Promise<Contained> {
  const listed = await list(lister, [instances], undefined);
  if (listed.kind !== 'unlistable') return withoutGarbage(lister, listed, () => false);
  const all = await lister.callReads.once('resources', () => lister.reader.resources());
  return all.kind === 'failed' ? listed : byServer(listed, [...all.away, ...(all.stale ?? [])]);
}

// A server that is away is named: the ServiceAccount can do nothing about it.
function byServer(contained: Contained, servers: readonly string[]): Contained {
  const server = contained.kind === 'unlistable' ? awayOf(contained.unlistable, servers) : undefined;
  return server === undefined ? contained : { kind: 'unlistable', unlistable: unavailableVersion(server) };
}

// The claim that a volume is bound to. If the claim cannot be read, the engine trusts the volume.
async function claimsOf({ reader, identity }: Lister, volume: JsonObject): Promise<readonly Dependent[]> {
  const claim = at(volume, 'spec', 'claimRef');
  const [name, namespace] = [textAt(claim, 'name') ?? '', textAt(claim, 'namespace') ?? ''];
  if (textAt(volume, 'status', 'phase') !== 'Bound' || name === '') return [];
  const found = await reader.getMetadata({ resource: claims, namespace, name }, identity);
  if (found.kind === 'failed')
    return found.failure.kind === 'absent' ? [] : [dependentOf(claims, { metadata: { name, namespace } })];
  return textAt(found.object, 'metadata', 'uid') === textAt(claim, 'uid') ? [dependentOf(claims, found.object)] : [];
}

async function listNamespace(lister: Lister, namespace: string, gone: ReadonlySet<string>): Promise<Contained> {
  const all = await lister.callReads.once('resources', () => lister.reader.resources());
  if (all.kind === 'failed') return { kind: 'trouble', failure: all.failure };
  const isLeft = (apiVersion: string): boolean => !gone.has(identityOf(apiService(apiVersion)));
  const stale = all.stale ?? [];
  const passedOver = stale.filter((one) => !isLeft(one));
  const listable = all.resources.filter(
    (one) =>
      one.namespaced &&
      one.verbs.includes('list') &&
      one.verbs.includes('delete') &&
      !areEvents(one) &&
      !passedOver.includes(`${one.group}/${one.version}`),
  );
  const listed = byServer(await list(lister, listable, namespace), stale);
  const away = all.away.find(isLeft);
  if (away !== undefined && listed.kind === 'known') return { kind: 'unlistable', unlistable: unavailableVersion(away) };
  const found = listed.kind === 'known' ? listed.dependents : [];
  const isMade = madeWithin(found);
  return withoutGarbage(lister, listed, (one) => isRootCertificate(one) || isMade(one));
}

/** Whether Kubernetes made the object for another object of this Namespace: then the other object counts. */
function madeWithin(all: readonly Dependent[]): (one: Dependent) => boolean {
  const makers = new Set(all.filter((one) => !isRootCertificate(one) && !isDefaultAccount(one)).map(({ uid }) => uid));
  const services = new Set(all.filter((one) => isCore(one, 'Service')).map(({ reference }) => reference.name));
  return (one) =>
    (isCore(one, 'Endpoints') && services.has(one.reference.name)) ||
    one.owners.some(({ isController, uid }) => isController && uid !== one.uid && makers.has(uid));
}

function isCore({ reference }: Dependent, kind: string): boolean {
  return reference.kind === kind && reference.apiVersion === 'v1';
}

/** Kubernetes puts this ConfigMap into every Namespace, and restores it after a change. */
function isRootCertificate(one: Dependent): boolean {
  return isCore(one, 'ConfigMap') && one.reference.name === 'kube-root-ca.crt';
}

function isDefaultAccount(one: Dependent): boolean {
  return isCore(one, 'ServiceAccount') && one.reference.name === 'default';
}

// A kind that may not be listed may have objects: its contents are unknown.
async function list(lister: Lister, resources: readonly Resource[], namespace: string | undefined): Promise<Contained> {
  const key = `contained ${namespace === undefined ? resources.map(pluralOf).join() : `${namespace} ${resources.length}`}`;
  const wanted = resources.map((resource) => ({ resource, namespace }));
  const listed = await listKinds(lister, key, wanted, ({ resource }, object) => [dependentOf(resource, object)]);
  if (listed.kind === 'trouble') return listed;
  const [unlistable] = listed.unlistable;
  return unlistable === undefined ? { kind: 'known', dependents: listed.items } : { kind: 'unlistable', unlistable };
}

// An object whose owners are all gone will be deleted soon: the garbage collector may not have reached it yet.
async function withoutGarbage(lister: Lister, contained: Contained, isIgnored: (one: Dependent) => boolean): Promise<Contained> {
  if (contained.kind !== 'known') return contained;
  const candidates = contained.dependents.filter((one) => !isLeaving(one) && !isIgnored(one));
  const garbage = await inTurn(candidates, async (one) => (await isGarbage(lister, one)) || isPlainAccount(lister, one));
  return { kind: 'known', dependents: candidates.filter((_, index) => garbage[index] !== true) };
}

async function isGarbage({ reader, identity }: Lister, { reference, owners, object }: Dependent): Promise<boolean> {
  if (owners.length === 0) return false;
  const named = ownersOf(object);
  const served = await inTurn(named, (owner) => reader.resource(textAt(owner, 'apiVersion') ?? '', textAt(owner, 'kind') ?? ''));
  // The garbage collector keeps an object if it cannot look up an owner: an owner of a kind that is not served may still exist.
  if (served.some(({ kind }) => kind === 'failed')) return false;
  return (await findOwners(reader, identity, named, reference.namespace)).gone.length === owners.length;
}

// Kubernetes puts this ServiceAccount into every Namespace too, but does not restore it: it counts after another writer has written
// to it. An object created without any field has no managedFields, and later writes add no managedFields. Then its content shows
// whether another writer has written to it.
async function isPlainAccount({ reader, identity }: Lister, one: Dependent): Promise<boolean> {
  const { namespace, name } = one.reference;
  if (!isDefaultAccount(one) || namespace === undefined) return false;
  const { object } = one;
  const writers = new Set(managersOf(object).map((manager) => manager.name));
  if (writers.size > 0) return writers.size === 1;
  const found = await reader.get({ resource: serviceAccounts, namespace, name }, identity);
  const hasLabels = ['labels', 'annotations'].some((key) => at(object, 'metadata', key) !== undefined);
  return (
    found.kind === 'ok' &&
    !hasLabels &&
    Object.keys(found.object).every((key) => ['apiVersion', 'kind', 'metadata'].includes(key))
  );
}

function apiService(apiVersion: string): Reference {
  return { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', name: apiServiceOf(apiVersion) };
}
