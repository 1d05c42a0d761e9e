// The objects in a Namespace, or of the kind of a CustomResourceDefinition, that the Transaction created.

import type { Resource } from '../../objects/cluster.ts';
import { managersOf } from '../../objects/content/fields.ts';
import type { Failure, Unseen } from '../../objects/failure.ts';
import { at, type JsonObject, textAt } from '../../objects/json.ts';
import { identityOf, kindOf, type Reference } from '../../objects/reference.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { areEvents, type Doomed, isLeaving, type Neighbour, neighbourOf } from '../checks/company.ts';
import { instancesOf } from '../model/crds.ts';
import { serviceAccounts } from '../writes/resources.ts';
import { claims } from './claims.ts';
import { apiServiceOf, awayOf, type Looker, listAll, unseen, unseenVersion } from './listing.ts';
import { lookForOwners, ownersOf } from './owners.ts';

type Inside =
  /** The objects whose loss somebody would notice. */
  | { readonly kind: 'known'; readonly neighbours: readonly Neighbour[] }
  /** This kind could not be listed: its objects are unknown. */
  | { readonly kind: 'unseen'; readonly unseen: Unseen }
  | { readonly kind: 'trouble'; readonly failure: Failure };

/** `gone`: identities of objects that are taken for gone, with what an APIService among them serves. */
export async function listInside(
  looker: Looker,
  { resource, target, object }: Doomed,
  gone: ReadonlySet<string> = new Set(),
): Promise<Inside> {
  switch (kindOf(resource)) {
    case '/Namespace':
      return listNamespace(looker, target.name, gone);
    case 'apiextensions.k8s.io/CustomResourceDefinition':
      return listInstances(looker, instancesOf(object));
    case '/PersistentVolume':
      return { kind: 'known', neighbours: await claimsOf(looker, object) };
    default:
      return { kind: 'known', neighbours: [] };
  }
}

// An APIService of a server that is away may stand in the way of the kind.
async function listInstances(looker: Looker, instances: Resource): Promise<Inside> {
  const listed = await list(looker, [instances], undefined);
  if (listed.kind !== 'unseen') return withoutGarbage(looker, listed, () => false);
  const all = await looker.looks.once('resources', () => looker.reader.resources());
  return all.kind === 'failed' ? listed : byServer(listed, [...all.away, ...(all.stale ?? [])]);
}

// A server that is away is named: the ServiceAccount can do nothing about it.
function byServer(inside: Inside, servers: readonly string[]): Inside {
  const server = inside.kind === 'unseen' ? awayOf(inside.unseen, servers) : undefined;
  return server === undefined ? inside : { kind: 'unseen', unseen: unseenVersion(server) };
}

// The claim that a volume is bound to. If the claim cannot be read, the engine trusts the volume.
async function claimsOf({ reader, identity }: Looker, volume: JsonObject): Promise<readonly Neighbour[]> {
  const claim = at(volume, 'spec', 'claimRef');
  const [name, namespace] = [textAt(claim, 'name') ?? '', textAt(claim, 'namespace') ?? ''];
  if (textAt(volume, 'status', 'phase') !== 'Bound' || name === '') return [];
  const found = await reader.getMetadata({ resource: claims, namespace, name }, identity);
  if (found.kind === 'failed')
    return found.failure.kind === 'absent' ? [] : [neighbourOf(claims, { metadata: { name, namespace } })];
  return textAt(found.object, 'metadata', 'uid') === textAt(claim, 'uid') ? [neighbourOf(claims, found.object)] : [];
}

async function listNamespace(looker: Looker, namespace: string, gone: ReadonlySet<string>): Promise<Inside> {
  const all = await looker.looks.once('resources', () => looker.reader.resources());
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
  const listed = byServer(await list(looker, listable, namespace), stale);
  const away = all.away.find(isLeft);
  if (away !== undefined && listed.kind === 'known') return { kind: 'unseen', unseen: unseenVersion(away) };
  const found = listed.kind === 'known' ? listed.neighbours : [];
  const isMade = madeWithin(found);
  return withoutGarbage(looker, listed, (one) => isRootCertificate(one) || isMade(one));
}

/** Whether Kubernetes made the object for another one of the same Namespace: then that one counts. */
function madeWithin(all: readonly Neighbour[]): (one: Neighbour) => boolean {
  const makers = new Set(all.filter((one) => !isRootCertificate(one) && !isDefaultAccount(one)).map(({ uid }) => uid));
  const services = new Set(all.filter((one) => isCore(one, 'Service')).map(({ reference }) => reference.name));
  return (one) =>
    (isCore(one, 'Endpoints') && services.has(one.reference.name)) ||
    one.owners.some(({ isController, uid }) => isController && uid !== one.uid && makers.has(uid));
}

function isCore({ reference }: Neighbour, kind: string): boolean {
  return reference.kind === kind && reference.apiVersion === 'v1';
}

/** Kubernetes puts this ConfigMap into every Namespace, and restores it after a change. */
function isRootCertificate(one: Neighbour): boolean {
  return isCore(one, 'ConfigMap') && one.reference.name === 'kube-root-ca.crt';
}

function isDefaultAccount(one: Neighbour): boolean {
  return isCore(one, 'ServiceAccount') && one.reference.name === 'default';
}

// A kind that may not be listed may have objects: its contents are unknown.
function list(looker: Looker, resources: readonly Resource[], namespace: string | undefined): Promise<Inside> {
  const kinds = resources.map(({ plural, group }) => `${plural}.${group}`).join();
  const key = `inside ${namespace === undefined ? kinds : `${namespace} ${resources.length}`}`;
  return looker.looks.once(key, () => listEach(looker, key, resources, namespace));
}

async function listEach(
  looker: Looker,
  key: string,
  resources: readonly Resource[],
  namespace: string | undefined,
): Promise<Inside> {
  const lists = await inTurn(resources, async (resource): Promise<Inside> => {
    const listing = await listAll(looker, key, { resource, namespace }, (object) => [neighbourOf(resource, object)]);
    if (listing.kind === 'listed') return { kind: 'known', neighbours: listing.items };
    const { failure } = listing;
    return listing.kind === 'unfinished' ? { kind: 'trouble', failure } : { kind: 'unseen', unseen: unseen(resource, failure) };
  });
  const unknown = lists.find((one) => one.kind === 'trouble') ?? lists.find((one) => one.kind !== 'known');
  return unknown ?? { kind: 'known', neighbours: lists.flatMap((one) => (one.kind === 'known' ? one.neighbours : [])) };
}

// An object whose owners are all gone will be deleted soon: the garbage collector may not have reached it yet.
async function withoutGarbage(looker: Looker, inside: Inside, isNobodys: (one: Neighbour) => boolean): Promise<Inside> {
  if (inside.kind !== 'known') return inside;
  const candidates = inside.neighbours.filter((one) => !isLeaving(one) && !isNobodys(one));
  const garbage = await inTurn(candidates, async (one) => (await isGarbage(looker, one)) || isPlainAccount(looker, one));
  return { kind: 'known', neighbours: candidates.filter((_, index) => garbage[index] !== true) };
}

async function isGarbage({ reader, identity }: Looker, { reference, owners, object }: Neighbour): Promise<boolean> {
  if (owners.length === 0) return false;
  const named = ownersOf(object);
  const served = await inTurn(named, (owner) => reader.resource(textAt(owner, 'apiVersion') ?? '', textAt(owner, 'kind') ?? ''));
  // The garbage collector keeps an object if it cannot look up an owner: an owner of a kind that is not served may still exist.
  if (served.some(({ kind }) => kind === 'failed')) return false;
  return (await lookForOwners(reader, identity, named, reference.namespace)).gone.length === owners.length;
}

// Kubernetes puts this ServiceAccount into every Namespace too, but does not restore it: it counts once somebody has written to it.
// An object created without any field has no managedFields, and later writes add none: then its content shows whether somebody
// wrote.
async function isPlainAccount({ reader, identity }: Looker, one: Neighbour): Promise<boolean> {
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
