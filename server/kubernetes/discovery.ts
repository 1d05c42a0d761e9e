// Finds the resource of a kind in the discovery of the API server; it never guesses a plural.
//
// It looks a kind up in the resource list of its group and version. That list is small and up to date; the aggregated document lags
// behind a new CustomResourceDefinition. If a cached list lacks the kind, it reads the list again at once.
import type { Failed, Resource, ResourceAnswer, ResourcesAnswer } from '../../hooks/objects/cluster.ts';
import { at, type Json, type JsonObject, listAt, textAt } from '../../hooks/objects/json.ts';
import { groupOf, versionOf } from '../../hooks/objects/reference.ts';
import { groupVersionPath } from './paths.ts';
import type { ApiRequest } from './requests.ts';
import { failed, type Received } from './transport.ts';

interface Discovery {
  resource(apiVersion: string, kind: string): Promise<ResourceAnswer>;
  resources(): Promise<ResourcesAnswer>;
  /** False if the API server, asked now, does not serve the kind; true if that cannot be known. */
  isServed(resource: Resource): Promise<boolean>;
}

type Ask = (request: ApiRequest) => Promise<Received | Failed>;

interface Listing {
  readonly readAt: number;
  readonly answer: Promise<ResourcesAnswer>;
}

interface DiscoveryOptions {
  /** The lifetime of a cached list, in ms. A CRD may gain a status subresource, and the engine must notice that soon. */
  readonly longestUse: number;
  /** If a list lacks a kind, it is read again only if it is older than this, in ms. */
  readonly shortestUse: number;
  readonly monotonic: () => number;
}

const defaults: DiscoveryOptions = { longestUse: 30_000, shortestUse: 250, monotonic: () => performance.now() };
/** Of the list of a group and version, in bytes: ten thousand kinds. An aggregated API server may answer more, and the list is parsed. */
const largestListing = 4 * 1024 * 1024;
/** Of all resources, in bytes: forty thousand kinds. */
const largestDocument = 16 * 1024 * 1024;
const mostListings = 500; // names of groups come from users: the cache must not grow without end

export function createDiscovery(ask: Ask, options: DiscoveryOptions = defaults): Discovery {
  const listings = new Map<string, Listing>();

  const listing = (apiVersion: string, youngerThan: number): Promise<ResourcesAnswer> => {
    const known = listings.get(apiVersion);
    if (known !== undefined && options.monotonic() - known.readAt < youngerThan) return known.answer;
    const answer = readGroupVersion(ask, apiVersion);
    if (listings.size >= mostListings) listings.clear();
    listings.set(apiVersion, { readAt: options.monotonic(), answer });
    forgetFailure(listings, apiVersion, answer);
    return answer;
  };

  return {
    async resource(apiVersion, kind) {
      const cached = find(await listing(apiVersion, options.longestUse), apiVersion, kind);
      if (cached.kind === 'ok' || cached.failure.kind !== 'absent') return cached;
      return find(await listing(apiVersion, options.shortestUse), apiVersion, kind);
    },
    resources: () => readAll(ask),
    async isServed({ group, version, kind }) {
      const apiVersion = group === '' ? version : `${group}/${version}`;
      const found = find(await listing(apiVersion, 0), apiVersion, kind);
      return found.kind === 'ok' || found.failure.kind !== 'absent';
    },
  };
}

function forgetFailure(listings: Map<string, Listing>, apiVersion: string, answer: Promise<ResourcesAnswer>): void {
  const forget = () => listings.delete(apiVersion);
  answer.then((outcome) => outcome.kind === 'failed' && outcome.failure.kind !== 'absent' && forget(), forget);
}

function find(answer: ResourcesAnswer, apiVersion: string, kind: string): ResourceAnswer {
  if (answer.kind === 'failed') return answer;
  const resource = answer.resources.find((candidate) => candidate.kind === kind);
  return resource === undefined ? unknownKind(apiVersion, kind) : { kind: 'ok', resource };
}

function unknownKind(apiVersion: string, kind: string): Failed {
  const message = `the API server does not serve kind ${kind} of ${apiVersion}`;
  return failed({ kind: 'absent', code: 404, reason: 'NotFound', message, fields: [], definitive: true });
}

async function readGroupVersion(ask: Ask, apiVersion: string): Promise<ResourcesAnswer> {
  const answer = await ask({ method: 'GET', path: groupVersionPath(apiVersion), mostBytes: largestListing });
  return answer.kind === 'failed' ? answer : { kind: 'ok', resources: resourcesOfList(answer.body, apiVersion), away: [] };
}

function resourcesOfList(list: JsonObject, apiVersion: string): readonly Resource[] {
  const entries = listAt(list, 'resources');
  const names = new Set(entries.map((entry) => textAt(entry, 'name')));
  return entries
    .filter((entry) => !textAt(entry, 'name')?.includes('/'))
    .map((entry) => resourceOfEntry(entry, apiVersion, names));
}

function resourceOfEntry(entry: Json, apiVersion: string, names: ReadonlySet<string | undefined>): Resource {
  const plural = textAt(entry, 'name') ?? '';
  return {
    group: groupOf(apiVersion),
    version: versionOf(apiVersion),
    plural,
    kind: textAt(entry, 'kind') ?? '',
    namespaced: at(entry, 'namespaced') === true,
    verbs: textsAt(entry, 'verbs'),
    statusSubresource: names.has(`${plural}/status`),
    scale: names.has(`${plural}/scale`),
  };
}

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

// Each resource occurs once, with the first version of its group that serves it. Discovery lists versions in their order of preference.
async function readAll(ask: Ask): Promise<ResourcesAnswer> {
  const answers = await Promise.all(
    ['/api', '/apis'].map((path) => ask({ method: 'GET', path, accept: aggregated, mostBytes: largestDocument })),
  );
  const resources = new Map<string, Resource>();
  const failure = answers.find((answer) => answer.kind === 'failed');
  if (failure?.kind === 'failed') return failure;
  const groups = answers.flatMap((answer) => (answer.kind === 'failed' ? [] : listAt(answer.body, 'items')));
  for (const resource of groups.flatMap(resourcesOfGroup)) {
    const key = `${resource.plural}.${resource.group}`;
    if (!resources.has(key)) resources.set(key, resource);
  }
  const away = groups.flatMap((group) => versionsAway(group, (count) => count === 0));
  const stale = groups.flatMap((group) => versionsAway(group, (count) => count > 0));
  return { kind: 'ok', resources: [...resources.values()], away, ...(stale.length === 0 ? {} : { stale }) };
}

// If an API server has never reached an aggregated API server, it does not know its resources. If the aggregated API server stopped, the
// API server lists its resources as stale, and a list of such a resource fails. Source: kube-aggregator
// pkg/apiserver/handler_discovery.go, syncAPIService.
function versionsAway(group: Json, isWanted: (resources: number) => boolean): readonly string[] {
  const name = textAt(group, 'metadata', 'name') ?? '';
  return listAt(group, 'versions')
    .filter((version) => isStale(version) && isWanted(listAt(version, 'resources').length))
    .map((version) => `${name}/${textAt(version, 'version')}`);
}

function isStale(version: Json): boolean {
  return textAt(version, 'freshness') === 'Stale';
}

// An unavailable version comes last, because another version may list its objects.
function resourcesOfGroup(group: Json): readonly Resource[] {
  const name = textAt(group, 'metadata', 'name') ?? '';
  const versions = listAt(group, 'versions');
  const current = versions.filter((version) => !isStale(version));
  return [...current, ...versions.filter(isStale)].flatMap((version) =>
    listAt(version, 'resources').map((entry) => ({
      group: name,
      version: textAt(version, 'version') ?? '',
      plural: textAt(entry, 'resource') ?? '',
      kind: textAt(entry, 'responseKind', 'kind') ?? '',
      namespaced: textAt(entry, 'scope') === 'Namespaced',
      verbs: textsAt(entry, 'verbs'),
      statusSubresource: listAt(entry, 'subresources').some((sub) => textAt(sub, 'subresource') === 'status'),
    })),
  );
}

function textsAt(value: Json, key: string): readonly string[] {
  return listAt(value, key).filter((text) => typeof text === 'string');
}
