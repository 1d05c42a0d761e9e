// Lists page by page. Others decide how large an object is, so the bytes of a page are limited.
import type { Failed, Identity, ListAnswer, Reader, Resource } from '../cluster.ts';
import type { JsonObject } from '../json.ts';

export interface ListQuery {
  readonly resource: Resource;
  /** Undefined for the whole cluster. */
  readonly namespace: string | undefined;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** Only objects of this name. */
  readonly name?: string;
  /** Whether the caller needs whole objects, not only their metadata. */
  readonly whole?: boolean;
}

export interface Place {
  readonly from?: string;
  /** Objects of a page. */
  readonly limit: number;
}

export interface Page {
  readonly kind: 'page';
  readonly items: readonly JsonObject[];
  /** The place at which the list continues; undefined if it is complete. */
  readonly next: Place | undefined;
}

/** Bytes of a page. Each connection to the API server may have one page in progress, which takes several times that in memory. */
const mostBytes = 1024 * 1024;

/** Objects of a page: of the first page, before their size is known, and of any page. */
export const firstPlace: Place = { limit: 100 };
const mostLimit = 500;

/** Reads the page at that place, with fewer objects if it would be too large. A single object may have any size. */
export async function readPage(
  reader: Pick<Reader, 'listMetadata'>,
  identity: Identity,
  query: ListQuery,
  place: Place,
): Promise<Page | Failed> {
  const { resource, namespace, ...selector } = query;
  const options = { ...selector, ...place, ...(place.limit > 1 ? { mostBytes } : {}) };
  const answer = await reader.listMetadata(resource, namespace, identity, options);
  if (answer.kind === 'ok') return answer.complete || answer.next !== '' ? pageOf(answer, place) : endless;
  if (answer.failure.reason !== 'AnswerTooLarge' || place.limit === 1) return answer;
  return readPage(reader, identity, query, { ...place, limit: Math.max(1, Math.floor(place.limit / 4)) });
}

// The next objects are expected to be as large as these objects. A page is half filled, because the next objects may be larger.
function pageOf({ items, complete, next, size }: Extract<ListAnswer, { kind: 'ok' }>, { limit }: Place): Page {
  const fitting = Math.floor((items.length * mostBytes) / (2 * Math.max(1, size)));
  const following = items.length === 0 ? limit : Math.min(mostLimit, Math.max(1, fitting));
  return { kind: 'page', items, next: complete ? undefined : { from: next, limit: following } };
}

/** Half a million small objects of one kind, or 2.5 GB of metadata. */
const mostPages = 5_000;

/** An API server ends a list, and gives no page without objects before its end. An aggregated API server may break both rules. */
export function isEndless(page: Page, place: Place, before: number): boolean {
  if (page.next === undefined) return false;
  return page.items.length === 0 || page.next.from === place.from || before >= mostPages;
}

export const endless: Failed = {
  kind: 'failed',
  failure: {
    kind: 'transient',
    code: 200,
    reason: 'AnswerUnreadable',
    message: 'the list has no end',
    fields: [],
    definitive: true,
  },
};
