// A look around what is about to be deleted: what would go along with it. As the ServiceAccount, and of metadata only: what it may not
// list is named, not looked at.
import { areEvents, type Doomed, isLeaving, kindOf, type Neighbour, neighbourOf, type Surroundings } from '../checks/company.ts';
import type { Identity, Reader, Resource } from '../cluster.ts';
import type { Failure, Unseen } from '../model/failure.ts';
import { inTurn, type Listing, listAll, unseen } from './listing.ts';
import type { Looks } from './looks.ts';

/** Who looks, and what it has seen in this call. */
export interface Looker {
  readonly reader: Reader;
  readonly looks: Looks;
  readonly identity: Identity;
}

export interface Around extends Surroundings {
  /** Plurals with their group of what may not be listed, in the order of discovery. */
  readonly unlisted: readonly string[];
  /** What cannot be listed for now. */
  readonly failing: readonly Unseen[];
}

export type LookedAround =
  | { readonly kind: 'known'; readonly around: Around }
  | { readonly kind: 'trouble'; readonly failure: Failure };

/** What is around one object that is to be deleted. All in the same place share one look for a moment. */
export async function lookAround(
  looker: Looker,
  { resource, target }: Pick<Doomed, 'resource' | 'target'>,
): Promise<LookedAround> {
  const served = await looker.looks.once('resources', () => looker.reader.resources());
  if (served.kind === 'failed') return { kind: 'trouble', failure: served.failure };
  const place = await lookAtPlace(looker, served.resources, target.namespace);
  if (place.kind === 'trouble') return place;
  const more = await lookForMore(looker, served.resources, { resource, target });
  const owned = place.neighbours.filter(({ owners }) => owners.length > 0);
  const endpoints = place.neighbours.filter(({ reference }) => reference.kind === 'Endpoints');
  const isPod = kindOf(resource) === '/Node';
  const [pods, tokens] = isPod ? [more.neighbours, []] : [[], more.neighbours];
  const unlisted = [...new Set([...place.unlisted, ...more.unlisted])];
  return { kind: 'known', around: { owned, endpoints, tokens, pods, unlisted, failing: [...place.failing, ...more.failing] } };
}

export const nothingAround: LookedAround = {
  kind: 'known',
  around: { owned: [], endpoints: [], tokens: [], pods: [], unlisted: [], failing: [] },
};

type Seen = Pick<Around, 'unlisted' | 'failing'> & { readonly kind: 'seen'; readonly neighbours: readonly Neighbour[] };

// As the garbage collector: what cannot be listed, watched and deleted has no part in it, nor have Events.
// Source: k8s.io/kubernetes pkg/controller/garbagecollector, GetDeletableResources and DefaultIgnoredResources.
function isCollected(resource: Resource): boolean {
  return !areEvents(resource) && ['list', 'watch', 'delete'].every((verb) => resource.verbs.includes(verb));
}

// The dependents of what has a namespace are in it. One kind that cannot be listed is trouble with that kind; where none can be, it is
// trouble with the API server.
function lookAtPlace(
  looker: Looker,
  resources: readonly Resource[],
  namespace: string | undefined,
): Promise<Seen | { readonly kind: 'trouble'; readonly failure: Failure }> {
  return looker.looks.once(`around ${namespace ?? ''}`, async () => {
    const wanted = resources.filter((resource) => isCollected(resource) && (resource.namespaced || namespace === undefined));
    const seen = await inTurn(wanted, (resource) => see(looker, { resource, namespace }));
    const [first] = seen.every(({ failing }) => failing.length > 0) ? seen : [];
    const failure = first?.failing[0]?.failure;
    return failure === undefined ? merged(seen) : { kind: 'trouble', failure };
  });
}

/** What goes along by other signs than its owner, and has to be listed by them. */
async function lookForMore(
  looker: Looker,
  resources: readonly Resource[],
  { resource, target }: Pick<Doomed, 'resource' | 'target'>,
): Promise<Seen> {
  const core = (plural: string) => resources.find((one) => one.group === '' && one.plural === plural);
  const [secrets, pods] = [core('secrets'), core('pods')];
  const kind = kindOf(resource);
  if (kind === '/ServiceAccount' && secrets !== undefined) {
    const fieldSelector = 'type=kubernetes.io/service-account-token';
    return looker.looks.once(`tokens ${target.namespace}`, () =>
      see(looker, { resource: secrets, namespace: target.namespace, fieldSelector }),
    );
  }
  if (kind !== '/Node' || pods === undefined) return nothingSeen;
  return see(looker, { resource: pods, namespace: undefined, fieldSelector: `spec.nodeName=${target.name}` });
}

async function see({ reader, identity }: Looker, wanted: Parameters<typeof listAll>[2]): Promise<Seen> {
  return seenIn(await listAll(reader, identity, wanted), wanted);
}

const nothingSeen: Seen = { kind: 'seen', neighbours: [], unlisted: [], failing: [] };

function seenIn(listing: Listing, { resource, fieldSelector }: Parameters<typeof listAll>[2]): Seen {
  if (listing.kind !== 'listed') {
    const one = unseen(resource, listing.failure);
    return listing.kind === 'denied' ? { ...nothingSeen, unlisted: [one.kind] } : { ...nothingSeen, failing: [one] };
  }
  const all = listing.items.map((object) => neighbourOf(resource, object));
  // Most objects of a cluster have nothing to do with the question: they are not kept.
  const kept = all.filter((one) => fieldSelector !== undefined || one.owners.length > 0 || resource.plural === 'endpoints');
  return { ...nothingSeen, neighbours: kept.filter((one) => !isLeaving(one)) };
}

function merged(all: readonly Seen[]): Seen {
  return {
    kind: 'seen',
    neighbours: all.flatMap(({ neighbours }) => neighbours),
    unlisted: all.flatMap(({ unlisted }) => unlisted),
    failing: all.flatMap(({ failing }) => failing),
  };
}
