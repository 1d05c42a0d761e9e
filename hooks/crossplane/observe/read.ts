// Reads as the ServiceAccount of packages. The hook throws a failure as ReadFailed unless it is an absence: it decides nothing on a
// part of the reads.
import type { Answer, Failed, Identity, Location, Reader, Resource } from '../../objects/cluster.ts';
import type { Failure } from '../../objects/failure.ts';
import type { JsonObject } from '../../objects/json.ts';
import { endless, firstPlace, isEndless, type Page, type Place, readPage } from '../../objects/requests/pager.ts';
import type { Gzip } from '../model/gzip.ts';
import { accountIn } from '../writes/resources.ts';

export class ReadFailed extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** The failure of any error. An error that code throws ends nothing by itself, and deadlines and deletions hold. */
export function failureOf(error: unknown): Failure {
  if (error instanceof ReadFailed) return error.failure;
  const message = 'internal error of the hook; its log has the stack';
  return { kind: 'transient', code: 0, reason: 'InternalError', message, fields: [], definitive: true };
}

/** Reads as the ServiceAccount of packages. */
export interface PackageReader {
  readonly cluster: Reader;
  readonly namespace: string;
  /** Unpacks contents. */
  readonly gzip: Gzip;
}

function identityOf({ namespace }: PackageReader): Identity {
  return accountIn(namespace);
}

// Packages, Locks and people name objects. If no object can have a name, no object has it, and a read of it fails for ever.
function present(answer: Answer): JsonObject | undefined {
  if (answer.kind === 'ok') return answer.object;
  if (answer.failure.kind === 'absent' || answer.failure.reason === 'InvalidName') return undefined;
  throw new ReadFailed(answer.failure);
}

/** Undefined if the object does not exist, if the API server does not serve its kind, or if no object can have that name. */
export async function find(reader: PackageReader, location: Location): Promise<JsonObject | undefined> {
  return present(await reader.cluster.get(location, identityOf(reader)));
}

/** Reads each object once: all questions of a call about it have one answer. */
export function createFinder(reader: PackageReader): (location: Location) => Promise<JsonObject | undefined> {
  const known = new Map<string, Promise<JsonObject | undefined>>();
  return (location) => {
    const key = JSON.stringify([location.resource.plural, location.namespace, location.name]);
    const found = known.get(key) ?? find(reader, location);
    known.set(key, found);
    return found;
  };
}

export async function findMetadata(reader: PackageReader, location: Location): Promise<JsonObject | undefined> {
  return present(await reader.cluster.getMetadata(location, identityOf(reader)));
}

interface Listing {
  readonly labelSelector?: string;
  /** Whether the list has whole objects. */
  readonly whole?: boolean;
  /** The part of each object that stays in memory while the next objects are read. */
  readonly keep?: (object: JsonObject) => JsonObject;
}

/** All objects of a kind. The list is empty if the API server does not serve the kind. */
export async function list(
  reader: PackageReader,
  resource: Resource,
  namespace: string | undefined,
  { keep = (object) => object, ...selector }: Listing,
): Promise<readonly JsonObject[]> {
  const items: JsonObject[] = [];
  const query = { resource, namespace, ...selector };
  let place: Place | undefined = firstPlace;
  for (let pages = 0; place !== undefined; pages += 1) {
    const page: Page = pageOf(await readPage(reader.cluster, identityOf(reader), query, place));
    if (isEndless(page, place, pages)) throw new ReadFailed(endless.failure);
    items.push(...page.items.map(keep));
    place = page.next;
  }
  return items;
}

/** Whether there is an object of that kind. */
export async function hasObjects(reader: PackageReader, resource: Resource): Promise<boolean> {
  return (await firstObjects(reader, resource, 1)).items.length > 0;
}

/** The first objects of a kind, with their metadata, and whether there are more. */
export async function firstObjects(reader: PackageReader, resource: Resource, limit = 500) {
  const { items, next } = pageOf(
    await readPage(reader.cluster, identityOf(reader), { resource, namespace: undefined }, { limit }),
  );
  return { items, isMore: next !== undefined };
}

function pageOf(page: Page | Failed): Page {
  if (page.kind === 'page') return page;
  if (page.failure.kind === 'absent') return { kind: 'page', items: [], next: undefined };
  throw new ReadFailed(page.failure);
}

/** The kind as the API server serves it; undefined if it does not serve the kind. */
export async function served(reader: PackageReader, apiVersion: string, kind: string): Promise<Resource | undefined> {
  const answer = await reader.cluster.resource(apiVersion, kind);
  if (answer.kind === 'ok') return answer.resource;
  if (answer.failure.kind === 'absent') return undefined;
  throw new ReadFailed(answer.failure);
}
