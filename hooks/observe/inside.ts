// What is inside a Namespace, or of the kind of a CustomResourceDefinition, that the Transaction made.
import { areEvents, type Doomed, isLeaving, kindOf, type Neighbour, neighbourOf } from '../checks/company.ts';
import type { Resource } from '../cluster.ts';
import { managersOf } from '../content/fields.ts';
import type { Failure, Unseen } from '../model/failure.ts';
import { at, isList, type JsonObject, textAt } from '../model/json.ts';
import { serviceAccounts } from '../writes/resources.ts';
import { claims } from './claims.ts';
import { inTurn, type Looker, listAll, unseen } from './listing.ts';
import { lookForOwners, ownersOf } from './owners.ts';

type Inside =
  /** What somebody would miss. */
  | { readonly kind: 'known'; readonly neighbours: readonly Neighbour[] }
  /** Of this kind it is not known. */
  | { readonly kind: 'unseen'; readonly unseen: Unseen }
  | { readonly kind: 'trouble'; readonly failure: Failure };

export async function listInside(looker: Looker, { resource, target, object }: Doomed): Promise<Inside> {
  switch (kindOf(resource)) {
    case '/Namespace':
      return listNamespace(looker, target.name);
    case 'apiextensions.k8s.io/CustomResourceDefinition':
      return withoutGarbage(looker, await list(looker, [instancesOf(object)], undefined), () => false);
    case '/PersistentVolume':
      return { kind: 'known', neighbours: await claimsOf(looker, object) };
    default:
      return { kind: 'known', neighbours: [] };
  }
}

// The claim that a volume is bound to. Where it cannot be read, the volume is believed.
async function claimsOf({ reader, identity }: Looker, volume: JsonObject): Promise<readonly Neighbour[]> {
  const claim = at(volume, 'spec', 'claimRef');
  const [name, namespace] = [textAt(claim, 'name') ?? '', textAt(claim, 'namespace') ?? ''];
  if (textAt(volume, 'status', 'phase') !== 'Bound' || name === '') return [];
  const found = await reader.getMetadata({ resource: claims, namespace, name }, identity);
  if (found.kind === 'failed')
    return found.failure.kind === 'absent' ? [] : [neighbourOf(claims, { metadata: { name, namespace } })];
  return textAt(found.object, 'metadata', 'uid') === textAt(claim, 'uid') ? [neighbourOf(claims, found.object)] : [];
}

async function listNamespace(looker: Looker, namespace: string): Promise<Inside> {
  const all = await looker.looks.once('resources', () => looker.reader.resources());
  if (all.kind === 'failed') return { kind: 'trouble', failure: all.failure };
  const listable = all.resources.filter(
    (one) => one.namespaced && one.verbs.includes('list') && one.verbs.includes('delete') && !areEvents(one),
  );
  const listed = await list(looker, listable, namespace);
  const found = listed.kind === 'known' ? listed.neighbours : [];
  return withoutGarbage(looker, listed, (one) => isRootCertificate(one) || isSubordinate(one, found));
}

function instancesOf(definition: JsonObject): Resource {
  const versions = at(definition, 'spec', 'versions');
  const served = isList(versions) ? versions.find((version) => at(version, 'served') === true) : undefined;
  return {
    group: textAt(definition, 'spec', 'group') ?? '',
    version: textAt(served, 'name') ?? '',
    plural: textAt(definition, 'spec', 'names', 'plural') ?? '',
    kind: textAt(definition, 'spec', 'names', 'kind') ?? '',
    namespaced: textAt(definition, 'spec', 'scope') === 'Namespaced',
    verbs: ['list'],
    statusSubresource: false,
  };
}

// What may not be listed may be full.
async function list(looker: Looker, resources: readonly Resource[], namespace: string | undefined): Promise<Inside> {
  const key = `inside ${namespace ?? ''}`;
  const lists = await inTurn(resources, async (resource): Promise<Inside> => {
    const listing = await listAll(looker, key, { resource, namespace }, (object) => [neighbourOf(resource, object)]);
    if (listing.kind === 'listed') return { kind: 'known', neighbours: listing.items };
    const { failure } = listing;
    return listing.kind === 'unfinished' ? { kind: 'trouble', failure } : { kind: 'unseen', unseen: unseen(resource, failure) };
  });
  const unknown = lists.find((one) => one.kind === 'trouble') ?? lists.find((one) => one.kind !== 'known');
  return unknown ?? { kind: 'known', neighbours: lists.flatMap((one) => (one.kind === 'known' ? one.neighbours : [])) };
}

// What only names owners that are no more is on its way out: the garbage collector may not have come by yet.
async function withoutGarbage(looker: Looker, inside: Inside, isNobodys: (one: Neighbour) => boolean): Promise<Inside> {
  if (inside.kind !== 'known') return inside;
  const candidates = inside.neighbours.filter((one) => !isLeaving(one) && !isNobodys(one));
  const garbage = await inTurn(candidates, async (one) => (await isGarbage(looker, one)) || isPlainAccount(looker, one));
  return { kind: 'known', neighbours: candidates.filter((_, index) => garbage[index] !== true) };
}

async function isGarbage({ reader, identity }: Looker, { reference, owners, object }: Neighbour): Promise<boolean> {
  if (owners.length === 0) return false;
  const named = ownersOf(object);
  const served = await Promise.all(
    named.map((owner) => reader.resource(textAt(owner, 'apiVersion') ?? '', textAt(owner, 'kind') ?? '')),
  );
  // The garbage collector leaves what it cannot look up: an owner of a kind that is not served, now or ever, may be alive.
  if (served.some(({ kind }) => kind === 'failed')) return false;
  return (await lookForOwners(reader, identity, named, reference.namespace)).gone.length === owners.length;
}

// Made by a controller for something that is in the same Namespace, and counts itself. Somebody's is what nothing here answers for: whose
// owner is elsewhere, or no controller of it, or in the end itself, or something that does not count.
function isSubordinate(one: Neighbour, all: readonly Neighbour[]): boolean {
  const isCore = ({ reference }: Neighbour, kind: string): boolean => reference.kind === kind && reference.apiVersion === 'v1';
  const isBeside = (other: Neighbour): boolean => isCore(other, 'Service') && other.reference.name === one.reference.name;
  if (isCore(one, 'Endpoints') && all.some(isBeside)) return true;
  const seen = new Set([one.uid]);
  for (let above = controllerOf(one, all); above !== undefined; above = controllerOf(above, all)) {
    if (seen.has(above.uid)) return false;
    seen.add(above.uid);
  }
  return seen.size > 1;
}

function controllerOf({ owners }: Neighbour, all: readonly Neighbour[]): Neighbour | undefined {
  const controller = owners.find(({ isController }) => isController);
  const found = controller === undefined ? undefined : all.find(({ uid }) => uid === controller.uid);
  return found === undefined || isRootCertificate(found) || isDefaultAccount(found) ? undefined : found;
}

// What Kubernetes puts into every Namespace by itself, and keeps as it is.
function isRootCertificate({ reference }: Neighbour): boolean {
  const { apiVersion, kind, name } = reference;
  return apiVersion === 'v1' && kind === 'ConfigMap' && name === 'kube-root-ca.crt';
}

function isDefaultAccount({ reference }: Neighbour): boolean {
  const { apiVersion, kind, name } = reference;
  return apiVersion === 'v1' && kind === 'ServiceAccount' && name === 'default';
}

// This too, but nobody keeps it as it is: it counts once somebody has written to it. What was made without any field has no
// managedFields, and gets none by later writes either: then its content shows it.
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
