// Reads for the coordinator. A failure that is no absence is thrown as Unread: nothing is decided on half a look.
import type { Answer, Identity, ListAnswer, ListOptions, Location, Reader, Resource } from '../../objects/cluster.ts';
import type { Failure } from '../../objects/failure.ts';
import type { JsonObject } from '../../objects/json.ts';
import type { Gzip } from '../model/gzip.ts';
import { accountIn } from '../plan/resources.ts';

export class Unread extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Whatever was met: what throws ends nothing by itself, and deadlines and deletions hold. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Unread) return error.failure;
  const message = 'internal error of the hook; its log has the stack';
  return { kind: 'transient', code: 0, reason: 'InternalError', message, fields: [], definitive: true };
}

/** Reads as the ServiceAccount of packages. */
export interface Looker {
  readonly reader: Reader;
  readonly namespace: string;
  /** For contents. */
  readonly gzip: Gzip;
}

export function identityOf({ namespace }: Looker): Identity {
  return accountIn(namespace);
}

// Packages, Locks and people name objects: a name that no object can have is that of none, and a read of it fails for ever.
function present(answer: Answer): JsonObject | undefined {
  if (answer.kind === 'ok') return answer.object;
  if (answer.failure.kind === 'absent' || answer.failure.reason === 'InvalidName') return undefined;
  throw new Unread(answer.failure);
}

/** Undefined if it does not exist, its kind is not served, or no object can have that name. */
export async function find(looker: Looker, location: Location): Promise<JsonObject | undefined> {
  return present(await looker.reader.get(location, identityOf(looker)));
}

export async function findMetadata(looker: Looker, location: Location): Promise<JsonObject | undefined> {
  return present(await looker.reader.getMetadata(location, identityOf(looker)));
}

interface Listing {
  readonly labelSelector?: string;
  /** Whole objects. */
  readonly whole?: boolean;
  /** The first ones only. */
  readonly limit?: number;
  /** Objects in one answer; 500 if absent. */
  readonly page?: number;
  /** What stays in memory of each object while the next ones are read. */
  readonly keep?: (object: JsonObject) => JsonObject;
}

export async function list(
  looker: Looker,
  resource: Resource,
  namespace: string | undefined,
  { labelSelector, whole, limit = 0, page: each = 500, keep = (object) => object }: Listing,
): Promise<readonly JsonObject[]> {
  const items: JsonObject[] = [];
  const options = { limit: limit || each, whole: whole === true, ...(labelSelector === undefined ? {} : { labelSelector }) };
  let page: ListOptions | undefined = options;
  while (page !== undefined) {
    const { found, next } = pageOf(await looker.reader.listMetadata(resource, namespace, identityOf(looker), page));
    items.push(...found.map(keep));
    page = next === '' || limit > 0 ? undefined : { ...options, from: next };
  }
  return items;
}

function pageOf(answer: ListAnswer): { readonly found: readonly JsonObject[]; readonly next: string } {
  if (answer.kind === 'ok') return { found: answer.items, next: answer.next };
  if (answer.failure.kind === 'absent') return { found: [], next: '' };
  throw new Unread(answer.failure);
}

/** The kind as it is served; undefined if it is not. */
export async function served(looker: Looker, apiVersion: string, kind: string): Promise<Resource | undefined> {
  const answer = await looker.reader.resource(apiVersion, kind);
  if (answer.kind === 'ok') return answer.resource;
  if (answer.failure.kind === 'absent') return undefined;
  throw new Unread(answer.failure);
}

/** Works through all, at most so many at once, in order. */
export async function eachOf<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
  atOnce = 8,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += atOnce)
    results.push(...(await Promise.all(items.slice(start, start + atOnce).map(work))));
  return results;
}
