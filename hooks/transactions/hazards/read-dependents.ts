// Lists the objects that Kubernetes may delete with an object. It lists as the ServiceAccount, and only metadata.

import type { Resource } from '../../objects/cluster.ts';
import type { Failure } from '../../objects/failure.ts';
import type { JsonObject } from '../../objects/json.ts';
import { kindOf } from '../../objects/reference.ts';
import { apiServiceOf, awayOf, inTurn, type Listing, type Looker, listAll, unlistable, type Wanted } from '../reading/listing.ts';
import { areEvents, type Candidates, type DeletionTarget, type Dependent, dependentOf, isLeaving } from './dependents.ts';
import type { Hazards } from './hazards.ts';

interface Listed extends Pick<Hazards, 'forbiddenKinds' | 'failingKinds'> {
  readonly kind: 'listed';
  readonly dependents: readonly Dependent[];
}

interface Trouble {
  readonly kind: 'trouble';
  readonly failure: Failure;
}

type ListedCandidates =
  | ({ readonly kind: 'known' } & Candidates & Pick<Hazards, 'forbiddenKinds' | 'failingKinds' | 'unavailable'>)
  | Trouble;

/**
 * For a moment, all objects in the same namespace share one list. `isAgain`: only kinds in which the first list of this process found objects with
 * an owner, kinds that it could not list, and those that often have dependents.
 */
export async function listCandidates(
  looker: Looker,
  { resource, target }: DeletionTarget,
  isAgain = false,
): Promise<ListedCandidates> {
  const served = await looker.looks.once('resources', () => looker.reader.resources());
  if (served.kind === 'failed') return { kind: 'trouble', failure: served.failure };
  const near = await listNamespace(looker, served.resources, { namespace: target.namespace, isAgain });
  if (near.kind === 'trouble') return near;
  const more = await listBySign(looker, served.resources, { resource, target });
  if (more.kind === 'trouble') return more;
  // Nothing can be learned of a server that is away. It is passed over: one APIService must not hold up every deletion in the cluster.
  const failing = [...near.failingKinds, ...more.failingKinds];
  const away = [...served.away, ...failing.map((one) => awayOf(one, served.stale))].filter((one) => one !== undefined);
  return {
    kind: 'known',
    owned: near.dependents.filter(({ owners }) => owners.length > 0),
    endpoints: near.dependents.filter(({ reference }) => reference.kind === 'Endpoints'),
    bySign: more.dependents,
    forbiddenKinds: [...near.forbiddenKinds, ...more.forbiddenKinds],
    failingKinds: failing.filter((one) => awayOf(one, served.stale) === undefined),
    unavailable: [...new Set(away.map(apiServiceOf))],
  };
}

// The same kinds as the garbage collector: only those with the verbs list, watch and delete, and no Events.
// Source: k8s.io/kubernetes pkg/controller/garbagecollector, GetDeletableResources and DefaultIgnoredResources.
function isCollected(resource: Resource): boolean {
  return !areEvents(resource) && ['list', 'watch', 'delete'].every((verb) => resource.verbs.includes(verb));
}

// A namespaced object has its dependents in its namespace. If one kind cannot be listed, only that kind is in trouble; if no kind
// can be listed, the API server is.
function listNamespace(
  looker: Looker,
  resources: readonly Resource[],
  { namespace, isAgain }: { readonly namespace: string | undefined; readonly isAgain: boolean },
): Promise<Listed | Trouble> {
  const place = namespace ?? '';
  const known = isAgain ? looker.looks.kinds.get(place) : undefined;
  const key = `dependents ${place}${known === undefined ? '' : ` again ${known.size}`}`;
  return looker.looks.once(key, async () => {
    const wanted = resources.filter(
      (resource) => isIn(resource, namespace) && isCollected(resource) && isToList(resource, known),
    );
    const all = await inTurn(wanted, (resource) => list(looker, key, { resource, namespace }));
    const unfinished = all.find((one) => one.kind === 'trouble');
    if (unfinished !== undefined) return unfinished;
    const listed = all.filter((one) => one.kind === 'listed');
    const [first] = listed.every(({ failingKinds }) => failingKinds.length > 0) ? listed : [];
    const failure = first?.failingKinds[0]?.failure;
    if (failure !== undefined) return { kind: 'trouble', failure };
    if (known === undefined) looker.looks.kinds.set(place, kindsToListAgain(wanted, listed));
    return together(listed);
  });
}

function isIn({ namespaced }: Resource, namespace: string | undefined): boolean {
  return namespaced || namespace === undefined;
}

/** Kinds that controllers and people often make for other objects, and those that hold data. */
const listedAgain = new Set([
  ...['pods', 'persistentvolumeclaims', 'configmaps', 'secrets', 'services', 'endpoints', 'replicationcontrollers'],
  ...['endpointslices.discovery.k8s.io', 'jobs.batch', 'cronjobs.batch'],
  ...['deployments.apps', 'replicasets.apps', 'statefulsets.apps', 'daemonsets.apps'],
]);

function isToList(resource: Resource, known: ReadonlySet<string> | undefined): boolean {
  return known === undefined || known.has(nameOf(resource)) || listedAgain.has(nameOf(resource));
}

function kindsToListAgain(resources: readonly Resource[], listed: readonly Listed[]): ReadonlySet<string> {
  const isUsed = ({ dependents, forbiddenKinds, failingKinds }: Listed | undefined = nothing): boolean =>
    dependents.length + forbiddenKinds.length + failingKinds.length > 0;
  return new Set(resources.filter((_, index) => isUsed(listed[index])).map(nameOf));
}

function nameOf({ plural, group }: Resource): string {
  return group === '' ? plural : `${plural}.${group}`;
}

/** Lists dependents that are found by other signs than an owner reference. */
async function listBySign(
  looker: Looker,
  resources: readonly Resource[],
  { resource, target }: Pick<DeletionTarget, 'resource' | 'target'>,
): Promise<Listed | Trouble> {
  const signs = {
    '/ServiceAccount': ['secrets', 'type=kubernetes.io/service-account-token', target.namespace],
    '/Node': ['pods', `spec.nodeName=${target.name}`, undefined],
  } as const;
  const [plural, fieldSelector, namespace] = signs[kindOf(resource) as '/Node'] ?? [];
  const wanted = resources.find((one) => one.group === '' && one.plural === plural);
  if (wanted === undefined || fieldSelector === undefined) return nothing;
  const key = `${plural} ${namespace} ${fieldSelector}`;
  return looker.looks.once(key, () => list(looker, key, { resource: wanted, namespace, fieldSelector }));
}

async function list(looker: Looker, key: string, wanted: Wanted): Promise<Listed | Trouble> {
  return listedIn(await listAll(looker, key, wanted, (object) => keptOf(wanted, object)), wanted);
}

// Most objects of a cluster are no dependents: these are not kept.
function keptOf({ resource, fieldSelector }: Wanted, object: JsonObject): readonly Dependent[] {
  const one = dependentOf(resource, object);
  const mayGo = fieldSelector !== undefined || one.owners.length > 0 || resource.plural === 'endpoints';
  return mayGo && !isLeaving(one) ? [one] : [];
}

const nothing: Listed = { kind: 'listed', dependents: [], forbiddenKinds: [], failingKinds: [] };

function listedIn(listing: Listing<Dependent>, { resource }: Wanted): Listed | Trouble {
  switch (listing.kind) {
    case 'listed':
      return { ...nothing, dependents: listing.items };
    case 'unfinished':
      return { kind: 'trouble', failure: listing.failure };
    case 'denied':
      return { ...nothing, forbiddenKinds: [unlistable(resource, listing.failure).kind] };
    default:
      return { ...nothing, failingKinds: [unlistable(resource, listing.failure)] };
  }
}

function together(all: readonly Listed[]): Listed {
  return {
    kind: 'listed',
    dependents: all.flatMap(({ dependents }) => dependents),
    forbiddenKinds: all.flatMap(({ forbiddenKinds }) => forbiddenKinds),
    failingKinds: all.flatMap(({ failingKinds }) => failingKinds),
  };
}
