// Reads whole lists page by page, and not too many at once: in a cluster with many kinds one look makes hundreds of them. Others
// decide how large an object is, so the bytes of a page are limited, and of each object only the needed part is kept.
import type { Failed, Identity, ListAnswer, Reader, Resource } from '../../objects/cluster.ts';
import type { Failure, Passing, UnlistableKind } from '../../objects/failure.ts';
import type { JsonObject } from '../../objects/json.ts';
import { groupOf, versionOf } from '../../objects/reference.ts';
import type { Begun, Looks, Place } from './looks.ts';
import { isWithoutObjects, untilServed } from './served.ts';

/** The identity that lists, and what it has seen in this call. */
export interface Looker {
  readonly reader: Reader;
  readonly looks: Looks;
  readonly identity: Identity;
}

export interface Wanted {
  readonly resource: Resource;
  /** Undefined for the whole cluster. */
  readonly namespace: string | undefined;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** Only objects of this name. */
  readonly name?: string;
  /** Whether whole objects are needed, not only their metadata. */
  readonly whole?: boolean;
}

type Listing<Item> =
  /** What `pick` selected from all objects. */
  | { readonly kind: 'listed'; readonly items: readonly Item[] }
  /** The kind may not be listed, or has no list. */
  | { readonly kind: 'denied'; readonly failure: Failure }
  | { readonly kind: 'trouble'; readonly failure: Passing }
  /** The call has too little time for the whole list: the next call continues. */
  | { readonly kind: 'unfinished'; readonly failure: Failure };

/** The items of several lists, where none is in trouble. Of objects that may not be listed nobody knows. */
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
  looker: Looker,
  key: string,
  kinds: readonly Wanted[],
  pick: (wanted: Wanted, object: JsonObject) => readonly Item[],
): Promise<KindsListing<Item>> {
  return looker.looks.once(key, async () => {
    const all = await inTurn(kinds, (wanted) => listAll(looker, key, wanted, (object) => pick(wanted, object)));
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
  const { group, version } = resource;
  return { kind: pluralOf(resource), apiVersion: group === '' ? version : `${group}/${version}`, failure };
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

/** Bytes of a page. Each connection to the API server may have one page in progress, which takes several times that in memory. */
const mostBytes = 1024 * 1024;

/** Objects of a page: of the first page, before their size is known, and of any page. */
const firstLimit = 100;
const mostLimit = 500;

/** What `pick` selects from each object of a list, for the look `key`; nothing if the kind is gone. */
export async function listAll<Item>(
  looker: Looker,
  key: string,
  wanted: Wanted,
  pick: (object: JsonObject) => readonly Item[],
): Promise<Listing<Item>> {
  const { looks } = looker;
  const list = nameOf(wanted);
  let begun: Begun = looks.begun(key, list) ?? nothingYet;
  while (begun.next !== undefined) {
    if (!looks.isTime()) return { kind: 'unfinished', failure: noTime };
    const page = await readPage(looker, wanted, begun.next);
    if (page.kind === 'failed') return withoutPage(looker, key, { wanted, begun }, page.failure);
    if (isEndless(begun, page)) return withoutPage(looker, key, { wanted, begun }, endless.failure);
    const items = page.items.flatMap(pick);
    begun = { pages: [...begun.pages, items], count: begun.count + items.length, next: page.next };
    looks.keep(key, list, begun);
  }
  return { kind: 'listed', items: begun.pages.flat() as readonly Item[] };
}

/** Half a million small objects of one kind, or 2.5 GB of metadata. */
const mostPages = 5_000;

/** An API server ends a list, and gives no page without objects before its end. An aggregated one may do neither. */
function isEndless({ pages, next }: Begun, page: Page): boolean {
  if (page.next === undefined) return false;
  return page.items.length === 0 || page.next.from === next?.from || pages.length >= mostPages;
}

const nothingYet: Begun = { pages: [], count: 0, next: { limit: firstLimit } };

function nameOf({ resource: { plural, group }, namespace, fieldSelector, labelSelector, name }: Wanted): string {
  return JSON.stringify([plural, group, namespace, fieldSelector, labelSelector, name]);
}

interface Page {
  readonly kind: 'page';
  readonly items: readonly JsonObject[];
  readonly next: Place | undefined;
}

/** Reads the page at that place, with fewer objects if it would be too large. A single object may have any size. */
async function readPage(looker: Looker, wanted: Wanted, place: Place): Promise<Page | Failed> {
  const { resource, namespace, ...selector } = wanted;
  const options = { ...selector, ...place, ...(place.limit > 1 ? { mostBytes } : {}) };
  const answer = await looker.reader.listMetadata(resource, namespace, looker.identity, options);
  if (answer.kind === 'ok') return answer.complete || answer.next !== '' ? pageOf(answer, place) : endless;
  if (answer.failure.reason !== 'AnswerTooLarge' || place.limit === 1) return answer;
  return readPage(looker, wanted, { ...place, limit: Math.max(1, Math.floor(place.limit / 4)) });
}

// The next objects are expected to be as large as these; a page is half filled, since they may be larger.
function pageOf({ items, complete, next, size }: Extract<ListAnswer, { kind: 'ok' }>, { limit }: Place): Page {
  const fitting = Math.floor((items.length * mostBytes) / (2 * Math.max(1, size)));
  const following = items.length === 0 ? limit : Math.min(mostLimit, Math.max(1, fitting));
  return { kind: 'page', items, next: complete ? undefined : { from: next, limit: following } };
}

// The API server may have compacted the version of a list in progress: then the list starts again.
async function withoutPage(
  looker: Looker,
  key: string,
  { wanted, begun }: { readonly wanted: Wanted; readonly begun: Begun },
  failure: Failure,
): Promise<Listing<never>> {
  if (failure.kind === 'transient') return { kind: 'trouble', failure };
  looker.looks.keep(key, nameOf(wanted), undefined);
  if (begun.next?.from !== undefined) return { kind: 'trouble', failure: { ...failure, kind: 'transient' } };
  if (failure.kind !== 'absent') return { kind: 'denied', failure };
  const isGone = await isWithoutObjects(looker, wanted.resource);
  return isGone ? { kind: 'listed', items: [] } : { kind: 'trouble', failure: untilServed(failure) };
}

const ours = { kind: 'transient', fields: [], definitive: true } as const;

const endless: Failed = {
  kind: 'failed',
  failure: { ...ours, code: 200, reason: 'AnswerUnreadable', message: 'the list has no end' },
};

const serverAway: Passing = { ...ours, code: 503, reason: 'ServiceUnavailable', message: 'its API server is away' };

const noTime: Failure = { ...ours, code: 0, reason: 'DeadlineExceeded', message: 'listing takes longer than one call' };

/** All calls share the connections to the API server, and others must get their requests in between. */
const mostAtOnce = 16;

/** Runs `work` for each item, `atOnce` at a time, and returns the results in the order of the items. */
export async function inTurn<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
  atOnce = mostAtOnce,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const left = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of left) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}
