// Reads whole lists page by page. Others decide how large an object is, so of each object only the needed part is kept.
import type { Failed, Identity, Reader, Resource } from '../../objects/cluster.ts';
import type { Failure, Passing, UnlistableKind } from '../../objects/failure.ts';
import type { JsonObject } from '../../objects/json.ts';
import { apiVersionOf, groupOf, versionOf } from '../../objects/reference.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { endless, firstPlace, isEndless, type ListQuery, type Place, readPage } from '../../objects/requests/pager.ts';
import type { Begun, CallReads } from './call-reads.ts';
import { isWithoutObjects, untilServed } from './served.ts';

/** The identity that lists, and what it has seen in this call. */
export interface Lister {
  readonly reader: Reader;
  readonly callReads: CallReads;
  readonly identity: Identity;
}

type Listing<Item> =
  /** What `pick` selected from all objects. */
  | { readonly kind: 'listed'; readonly items: readonly Item[] }
  /** The kind may not be listed, or has no list. */
  | { readonly kind: 'denied'; readonly failure: Failure }
  | { readonly kind: 'trouble'; readonly failure: Passing }
  /** The call has too little time for the whole list: the next call continues. */
  | { readonly kind: 'unfinished'; readonly failure: Failure };

/** The items of several lists, if no list is in trouble. The engine cannot know objects that it may not list. */
export function allListed<Item>(
  listings: readonly Listing<Item>[],
): { readonly kind: 'known'; readonly items: readonly Item[] } | Failed {
  const trouble = listings.find((one) => one.kind === 'trouble' || one.kind === 'unfinished');
  if (trouble !== undefined) return { kind: 'failed', failure: trouble.failure };
  return { kind: 'known', items: listings.flatMap((one) => (one.kind === 'listed' ? one.items : [])) };
}

/** What `pick` selects from the objects of several kinds, and the kinds that could not be listed. */
export type KindsListing<Item> =
  | { readonly kind: 'listed'; readonly items: readonly Item[]; readonly unlistable: readonly UnlistableKind[] }
  | { readonly kind: 'trouble'; readonly failure: Failure };

/** For a moment, equal keys share one list. */
export function listKinds<Item>(
  lister: Lister,
  key: string,
  kinds: readonly ListQuery[],
  pick: (wanted: ListQuery, object: JsonObject) => readonly Item[],
): Promise<KindsListing<Item>> {
  return lister.callReads.once(key, async () => {
    const all = await inTurn(kinds, (wanted) => listAll(lister, key, wanted, (object) => pick(wanted, object)));
    const unfinished = all.find((listing) => listing.kind === 'unfinished');
    if (unfinished !== undefined) return { kind: 'trouble', failure: unfinished.failure };
    const unlistable = kinds.flatMap(({ resource }, index) => {
      const listing = all[index];
      return listing === undefined || listing.kind === 'listed' ? [] : [unlistableKind(resource, listing.failure)];
    });
    return { kind: 'listed', items: all.flatMap((listing) => (listing.kind === 'listed' ? listing.items : [])), unlistable };
  });
}

function unlistableKind(resource: Resource, failure: Failure): UnlistableKind {
  return { kind: pluralOf(resource), apiVersion: apiVersionOf(resource), failure };
}

/** The plural with the group, as kubectl takes it. */
export function pluralOf({ group, plural }: Pick<Resource, 'group' | 'plural'>): string {
  return group === '' ? plural : `${plural}.${group}`;
}

/** Whether the kind cannot be listed for now; otherwise the ServiceAccount may not list it. */
export function isPassing(one: UnlistableKind): one is UnlistableKind<Passing> {
  return one.failure.kind === 'transient';
}

/** The name of the APIService of a group with its version. */
export function apiServiceOf(apiVersion: string): string {
  return `${versionOf(apiVersion)}.${groupOf(apiVersion)}`;
}

/** Of a group with its version: its API server is away, so its kinds may not even be known by name. */
export function unavailableVersion(apiVersion: string): UnlistableKind<Passing> {
  return { kind: apiServiceOf(apiVersion), failure: serverAway, isAway: true };
}

/** Of these groups with their versions, the one of a kind that cannot be listed. */
export function awayOf({ apiVersion }: UnlistableKind, servers: readonly string[] = []): string | undefined {
  return servers.find((one) => one === apiVersion);
}

/** The parts that `pick` selects from each object of a list, for the search `key`; nothing if the kind is gone. */
export async function listAll<Item>(
  lister: Lister,
  key: string,
  wanted: ListQuery,
  pick: (object: JsonObject) => readonly Item[],
): Promise<Listing<Item>> {
  const { callReads } = lister;
  const list = nameOf(wanted);
  let begun: Begun = callReads.begun(key, list) ?? { pages: [], count: 0, next: placeOf(wanted) };
  while (begun.next !== undefined) {
    if (!callReads.isTime()) return { kind: 'unfinished', failure: noTime };
    const page = await readPage(lister.reader, lister.identity, wanted, begun.next);
    if (page.kind === 'failed') return withoutPage(lister, key, { wanted, begun }, page.failure);
    if (isEndless(page, begun.next, begun.pages.length)) return withoutPage(lister, key, { wanted, begun }, endless.failure);
    const items = page.items.flatMap(pick);
    begun = { pages: [...begun.pages, items], count: begun.count + items.length, next: page.next };
    callReads.keep(key, list, begun);
  }
  return { kind: 'listed', items: begun.pages.flat() as readonly Item[] };
}

// One object is read at once, whatever its size.
function placeOf({ name, namespace }: ListQuery): Place {
  return name === undefined || namespace === undefined ? firstPlace : { limit: 1 };
}

function nameOf({ resource: { plural, group }, namespace, fieldSelector, labelSelector, name }: ListQuery): string {
  return JSON.stringify([plural, group, namespace, fieldSelector, labelSelector, name]);
}

// The API server may have compacted the version of a list in progress: then the list starts again.
async function withoutPage(
  lister: Lister,
  key: string,
  { wanted, begun }: { readonly wanted: ListQuery; readonly begun: Begun },
  failure: Failure,
): Promise<Listing<never>> {
  if (failure.kind === 'transient') return { kind: 'trouble', failure };
  lister.callReads.keep(key, nameOf(wanted), undefined);
  if (begun.next?.from !== undefined) return { kind: 'trouble', failure: { ...failure, kind: 'transient' } };
  if (failure.kind !== 'absent') return { kind: 'denied', failure };
  const isGone = await isWithoutObjects(lister, wanted.resource);
  return isGone ? { kind: 'listed', items: [] } : { kind: 'trouble', failure: untilServed(failure) };
}

const ours = { kind: 'transient', fields: [], definitive: true } as const;

const serverAway: Passing = { ...ours, code: 503, reason: 'ServiceUnavailable', message: 'its API server is away' };

const noTime: Failure = { ...ours, code: 0, reason: 'DeadlineExceeded', message: 'listing takes longer than one call' };
