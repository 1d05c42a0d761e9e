// Whole lists of metadata, page by page, and not too many at once: one look around is hundreds of them in a cluster of many kinds.
import type { Failed, Identity, ListAnswer, ListOptions, Reader, Resource } from '../cluster.ts';
import type { Failure, Unseen } from '../model/failure.ts';
import type { JsonObject } from '../model/json.ts';

export interface Wanted {
  readonly resource: Resource;
  /** Undefined for the whole cluster. */
  readonly namespace: string | undefined;
  readonly fieldSelector?: string;
}

export type Listing =
  /** All that there are. */
  | { readonly kind: 'listed'; readonly items: readonly JsonObject[] }
  /** It may not be listed, or cannot be. */
  | { readonly kind: 'denied'; readonly failure: Failure }
  | { readonly kind: 'trouble'; readonly failure: Failure };

export function unseen({ group, plural }: Pick<Resource, 'group' | 'plural'>, failure: Failure): Unseen {
  return { kind: group === '' ? plural : `${plural}.${group}`, failure };
}

/** A page must fit into memory many times over, and into an answer whatever the annotations. */
const pageSize = 500;

/** Metadata of all objects of a resource; none where the kind is no longer served. */
export async function listAll(reader: Reader, identity: Identity, wanted: Wanted): Promise<Listing> {
  const { resource, namespace, ...selector } = wanted;
  const page = (more: ListOptions) =>
    reader.listMetadata(resource, namespace, identity, { ...selector, ...more, limit: pageSize });
  const first = await page({});
  return first.kind === 'failed' ? unlisted(first.failure) : followed(first, page);
}

async function followed(first: Page, page: (more: ListOptions) => Promise<ListAnswer>): Promise<Listing> {
  const items = [...first.items];
  for (let last = first; !last.complete; ) {
    const following = last.next === undefined ? endless : await page({ from: last.next });
    if (following.kind === 'failed') return { kind: 'trouble', failure: broken(following.failure) };
    items.push(...following.items);
    last = following;
  }
  return { kind: 'listed', items };
}

type Page = Extract<ListAnswer, { kind: 'ok' }>;

function unlisted(failure: Failure): Listing {
  if (failure.kind === 'absent') return { kind: 'listed', items: [] };
  return { kind: failure.kind === 'transient' ? 'trouble' : 'denied', failure };
}

// The rest of a list that has begun is no longer to be had (its version was compacted away): the whole of it is, the next time.
function broken(failure: Failure): Failure {
  return { ...failure, kind: 'transient' };
}

const endless: Failed = {
  kind: 'failed',
  failure: {
    kind: 'transient',
    code: 200,
    reason: 'AnswerUnreadable',
    message: 'a list is said to go on, and not where',
    fields: [],
    definitive: true,
  },
};

/** Others must get their requests in between: the connections to the API server are shared by all calls. */
const mostAtOnce = 16;

/** The results in the order of the items, `mostAtOnce` of them under way at a time. */
export async function inTurn<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const left = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of left) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(mostAtOnce, items.length) }, worker));
  return results;
}
