// Lists the objects around an object that is about to be deleted, to find what Kubernetes would delete with it. It lists as the
// ServiceAccount, and only metadata. Kinds that the ServiceAccount may not list are reported by name.

import type { Resource } from '../../objects/cluster.ts';
import type { Failure, Passing, Unseen } from '../../objects/failure.ts';
import type { JsonObject } from '../../objects/json.ts';
import { kindOf } from '../../objects/reference.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import type { ListQuery } from '../../objects/requests/pager.ts';
import { areEvents, type Doomed, isLeaving, type Neighbour, neighbourOf, type Surroundings } from '../checks/company.ts';
import { apiServiceOf, awayOf, type Listing, type Looker, listAll, unseen } from './listing.ts';

export interface Around extends Surroundings {
  /** Kinds that the ServiceAccount may not list, as plural and group, in the order of discovery. */
  readonly unlisted: readonly string[];
  /** Kinds that cannot be listed for now. */
  readonly failing: readonly Unseen<Passing>[];
  /** APIServices that are not Available: of their kinds nothing is known. */
  readonly away: readonly string[];
}

export type LookedAround =
  | { readonly kind: 'known'; readonly around: Around }
  | { readonly kind: 'trouble'; readonly failure: Failure };

/** The objects around one object that is to be deleted. For a moment, all objects in the same place share one look. */
export async function lookAround(
  looker: Looker,
  { resource, target }: Pick<Doomed, 'resource' | 'target'>,
): Promise<LookedAround> {
  const served = await looker.looks.once('resources', () => looker.reader.resources());
  if (served.kind === 'failed') return { kind: 'trouble', failure: served.failure };
  const place = await lookAtPlace(looker, served.resources, target.namespace);
  if (place.kind === 'trouble') return place;
  const more = await lookForMore(looker, served.resources, { resource, target });
  if (more.kind === 'trouble') return more;
  const owned = place.neighbours.filter(({ owners }) => owners.length > 0);
  const endpoints = place.neighbours.filter(({ reference }) => reference.kind === 'Endpoints');
  const isPod = kindOf(resource) === '/Node';
  const [pods, tokens] = isPod ? [more.neighbours, []] : [[], more.neighbours];
  // Nothing can be learned of a server that is away. It is passed over: one APIService must not hold up every deletion in the cluster.
  const all = [...place.failing, ...more.failing];
  const failing = all.filter((one) => awayOf(one, served.stale) === undefined);
  const away = [...served.away, ...all.map((one) => awayOf(one, served.stale))].filter((one) => one !== undefined);
  const seen = { unlisted: [...place.unlisted, ...more.unlisted], failing, away: [...new Set(away.map(apiServiceOf))] };
  return { kind: 'known', around: { owned, endpoints, tokens, pods, ...seen } };
}

export const nothingAround: LookedAround = {
  kind: 'known',
  around: { owned: [], endpoints: [], tokens: [], pods: [], unlisted: [], failing: [], away: [] },
};

type Seen = Pick<Around, 'unlisted' | 'failing'> & { readonly kind: 'seen'; readonly neighbours: readonly Neighbour[] };

type Trouble = Extract<LookedAround, { kind: 'trouble' }>;

// The same kinds as the garbage collector: only those with the verbs list, watch and delete, and no Events.
// Source: k8s.io/kubernetes pkg/controller/garbagecollector, GetDeletableResources and DefaultIgnoredResources.
function isCollected(resource: Resource): boolean {
  return !areEvents(resource) && ['list', 'watch', 'delete'].every((verb) => resource.verbs.includes(verb));
}

// A namespaced object has its dependents in its namespace. If one kind cannot be listed, only that kind is in trouble; if no kind
// can be listed, the API server is.
function lookAtPlace(looker: Looker, resources: readonly Resource[], namespace: string | undefined): Promise<Seen | Trouble> {
  const key = `around ${namespace ?? ''}`;
  return looker.looks.once(key, async () => {
    const wanted = resources.filter((resource) => isCollected(resource) && (resource.namespaced || namespace === undefined));
    const all = await inTurn(wanted, (resource) => see(looker, key, { resource, namespace }));
    const unfinished = all.find((one) => one.kind === 'trouble');
    if (unfinished !== undefined) return unfinished;
    const seen = all.filter((one) => one.kind === 'seen');
    const [first] = seen.every(({ failing }) => failing.length > 0) ? seen : [];
    const failure = first?.failing[0]?.failure;
    return failure === undefined ? merged(seen) : { kind: 'trouble', failure };
  });
}

/** Lists dependents that are found by other signs than an owner reference. */
async function lookForMore(
  looker: Looker,
  resources: readonly Resource[],
  { resource, target }: Pick<Doomed, 'resource' | 'target'>,
): Promise<Seen | Trouble> {
  const core = (plural: string) => resources.find((one) => one.group === '' && one.plural === plural);
  const [secrets, pods] = [core('secrets'), core('pods')];
  const kind = kindOf(resource);
  if (kind === '/ServiceAccount' && secrets !== undefined) {
    const fieldSelector = 'type=kubernetes.io/service-account-token';
    const key = `tokens ${target.namespace}`;
    return looker.looks.once(key, () => see(looker, key, { resource: secrets, namespace: target.namespace, fieldSelector }));
  }
  if (kind !== '/Node' || pods === undefined) return nothingSeen;
  const key = `pods ${target.name}`;
  const fieldSelector = `spec.nodeName=${target.name}`;
  return looker.looks.once(key, () => see(looker, key, { resource: pods, namespace: undefined, fieldSelector }));
}

async function see(looker: Looker, key: string, wanted: ListQuery): Promise<Seen | Trouble> {
  return seenIn(await listAll(looker, key, wanted, (object) => keptOf(wanted, object)), wanted);
}

// Most objects of a cluster are no dependents: these are not kept.
function keptOf({ resource, fieldSelector }: ListQuery, object: JsonObject): readonly Neighbour[] {
  const one = neighbourOf(resource, object);
  const mayGo = fieldSelector !== undefined || one.owners.length > 0 || resource.plural === 'endpoints';
  return mayGo && !isLeaving(one) ? [one] : [];
}

const nothingSeen: Seen = { kind: 'seen', neighbours: [], unlisted: [], failing: [] };

function seenIn(listing: Listing<Neighbour>, { resource }: ListQuery): Seen | Trouble {
  switch (listing.kind) {
    case 'listed':
      return { ...nothingSeen, neighbours: listing.items };
    case 'unfinished':
      return { kind: 'trouble', failure: listing.failure };
    case 'denied':
      return { ...nothingSeen, unlisted: [unseen(resource, listing.failure).kind] };
    default:
      return { ...nothingSeen, failing: [unseen(resource, listing.failure)] };
  }
}

function merged(all: readonly Seen[]): Seen {
  return {
    kind: 'seen',
    neighbours: all.flatMap(({ neighbours }) => neighbours),
    unlisted: all.flatMap(({ unlisted }) => unlisted),
    failing: all.flatMap(({ failing }) => failing),
  };
}
