// Implements the port of packages over real registries.
//
// 1. One request resolves a tag to its digest. All later requests are by digest, and every answer is checked against it before use.
// 2. It retries no request.
// 3. Cached results and content count only for their repository, and only if the registry has shown this call that it may read the digest
//    there. An answer to HEAD proves nothing about content of another repository.
import { createHash } from 'node:crypto';
import { isDigest, type PackageReference } from '../../hooks/crossplane/model/reference.ts';
import type { RegistryFailed, SignedAnswer, SigningQuestion, VerifyingRegistry } from '../../hooks/crossplane/registry.ts';
import type { Requester } from '../../hooks/objects/cluster.ts';
import { type Admission, createAdmission } from '../tenants/admission.ts';
import { inOrder, readKeychain } from './authentication.ts';
import { type Cache, createCache } from './cache.ts';
import { readDocuments } from './documents.ts';
import { createExchange, type Pace } from './exchange.ts';
import { packageStream } from './layers.ts';
import { limits } from './limits.ts';
import { accepted, type Descriptor, type Manifest, readManifest } from './manifest.ts';
import { remembering, type Seen } from './seen.ts';
import { openSession, type Session } from './session.ts';
import type { Signature } from './signature.ts';
import { type ReadContent, referringBundles, type SignaturePlace, taggedSignatures } from './signatures.ts';
import { readTags } from './tags.ts';
import { failedBy, invalid, Trouble, unavailable } from './trouble.ts';
import { createTrusting } from './trust.ts';
import { unsignedBy } from './verification.ts';

export interface ClientOptions {
  /** A directory for the cache only. It may be emptied at any time. */
  readonly cacheDirectory: string;
  readonly cacheBytes: number;
  /** The maximum of parallel requests. */
  readonly atOnce?: number;
  /** The time limit of a request and its answer, in ms. */
  readonly requestTimeoutMs?: number;
  readonly pace?: Pace;
  /** Registries that use plain HTTP. */
  readonly httpHosts?: readonly string[];
  readonly proxy?: Parameters<typeof createExchange>[0]['proxy'];
}

interface Call {
  /** `.dockerconfigjson` that counts before the pull secrets. */
  readonly configured?: string | undefined;
  /** `.dockerconfigjson` of the root package's pull secrets. */
  readonly pullSecrets: readonly string[];
  /** Certificates in PEM, besides those of the system. */
  readonly authority?: string | undefined;
  /** The administrator has named each source of the call, as well as the user. */
  readonly isNamed?: boolean;
  /** The source of the root package, which the user named. It decides which addresses are allowed for other hosts. */
  readonly root?: string;
  /** After this time every request and every read of the call fails, in ms. */
  readonly deadline: number;
}

interface RegistryClient {
  open(call: Call): VerifyingRegistry;
  close(): Promise<void>;
}

const requestsAtOnce = 8;
/** The number of packages that are unpacked and parsed in parallel. Each has a document of some MiB in memory. */
const parsedAtOnce = 2;
const requestTimeoutMs = 15_000;

export function createRegistryClient(options: ClientOptions): RegistryClient {
  const atOnce = options.atOnce ?? requestsAtOnce;
  const timeout = options.requestTimeoutMs ?? requestTimeoutMs;
  const { pace, proxy, httpHosts } = options;
  const exchange = createExchange({ connections: atOnce, requestTimeout: timeout, pace, proxy });
  const trusting = createTrusting();
  const cache = createCache(options.cacheDirectory, options.cacheBytes);
  const parts = {
    reading: createAdmission({ count: atOnce }),
    parsing: createAdmission({ count: parsedAtOnce }),
    cache,
    seen: remembering(),
  };
  return {
    open({ configured, pullSecrets, authority, isNamed = false, root, deadline }) {
      const signal = AbortSignal.timeout(deadline);
      const keychain = inOrder(readKeychain(configured === undefined ? [] : [configured]), readKeychain(pullSecrets));
      const leader = isNamed ? undefined : root;
      const trust = () => trusting(authority);
      const session = openSession({ exchange, root: leader, keychain, signal, requestTimeout: timeout, httpHosts, trust });
      return registryOf({ ...parts, session, signal, requester: { namespace: '', uid: root ?? '' }, allowed: new Set() });
    },
    close: () => exchange.close(),
  };
}

interface Parts {
  readonly reading: Admission;
  readonly parsing: Admission;
  readonly cache: Cache;
  readonly session: Session;
  /** Aborted when the call is over. */
  readonly signal: AbortSignal;
  /** The root package. Calls for different root packages take turns. */
  readonly requester: Requester;
  readonly seen: Seen;
  /** The content that the registry lets this call read: `SOURCE DIGEST`. */
  readonly allowed: Set<string>;
}

function registryOf(parts: Parts): VerifyingRegistry {
  return {
    tags: (source) =>
      answered(async () => ({ kind: 'ok', tags: await inTurn(parts, source, () => readTags(source, parts.session)) })),
    digest: (reference) => answered(async () => ({ kind: 'ok', digest: await digestOf(reference, parts) })),
    read: (source, digest, take) =>
      answered(async () => {
        try {
          const files = await layersOf(source, digest, parts);
          const { parsing: reading, signal, requester } = parts;
          await inTurn({ reading, signal, requester }, source, () =>
            readDocuments(packageStream(files), take, signal, requester),
          );
        } catch (error) {
          throw named(error, `${source}@${digest}`);
        }
        return { kind: 'ok' };
      }),
    signed: (question) => answered(() => signedBy(question, parts)),
  };
}

async function answered<Answer>(work: () => Promise<Answer>): Promise<Answer | RegistryFailed> {
  try {
    return await work();
  } catch (error) {
    return failedBy(error);
  }
}

/** All calls share the turns, and other calls may take longer. A waiting call stops waiting at its own deadline. */
async function inTurn<Result>(
  { reading, signal, requester }: Pick<Parts, 'reading' | 'signal' | 'requester'>,
  source: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const release = await reading.take(requester, signal);
  if (release === undefined) throw unavailable(`${source}: not read in time, other requests came first`);
  return work().finally(release);
}

function named(error: unknown, name: string): unknown {
  return error instanceof Trouble && error.failure.kind === 'invalid' ? invalid(`${name}: ${error.message}`) : error;
}

async function digestOf(reference: PackageReference, parts: Parts): Promise<string> {
  const { source, version } = reference;
  // Registries limit downloads of manifests. If this manifest was seen before, the hook requests only its digest.
  const last = isDigest(version) ? version : parts.seen.digests.get(`${source} ${version}`);
  const isSeen = last !== undefined && parts.seen.manifests.has(`${source} ${last}`);
  const digest = await inTurn(parts, source, async () =>
    isSeen ? headOf(reference, parts) : (await fetchManifest(reference, parts)).digest,
  );
  parts.allowed.add(`${source} ${digest}`);
  return digest;
}

async function headOf(reference: PackageReference, parts: Parts): Promise<string> {
  const { source, version } = reference;
  const head = await parts.session.ask(source, { method: 'HEAD', path: `manifests/${version}`, accept: accepted });
  const announced = head.header('docker-content-digest') ?? '';
  head.discard();
  if (isDigest(version)) return version;
  return isDigest(announced) ? announced : (await fetchManifest(reference, parts)).digest;
}

async function fetchManifest(reference: PackageReference, { session, seen }: Parts) {
  const { source, version } = reference;
  const reply = await session.ask(source, { path: `manifests/${version}`, accept: accepted });
  const text = await reply.text(limits.manifestBytes);
  const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`;
  if (isDigest(version) && version !== digest) throw invalid(`expected content of the digest ${version}, found ${digest}`);
  const manifest = readManifest(text);
  seen.keep(reference, digest, manifest);
  return { digest, manifest };
}

async function layersOf(source: string, digest: string, parts: Parts): Promise<readonly string[]> {
  if (!parts.allowed.has(`${source} ${digest}`)) await digestOf({ source, version: digest }, parts);
  const manifest = await manifestOf(source, digest, parts);
  const image = manifest.kind === 'image' ? manifest : await manifestOf(source, manifest.image.digest, parts);
  if (image.kind === 'index') throw invalid('the index leads to another index');
  const paths = new Map<string, Promise<string>>();
  return Promise.all(image.layers.map((layer) => once(paths, layer.digest, () => blob(source, layer, parts))));
}

async function manifestOf(source: string, digest: string, parts: Parts): Promise<Manifest> {
  return (
    parts.seen.manifests.get(`${source} ${digest}`) ??
    (await inTurn(parts, source, () => fetchManifest({ source, version: digest }, parts))).manifest
  );
}

/** A manifest may name a layer many times. */
function once<Value>(known: Map<string, Value>, key: string, make: () => Value): Value {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}

/** The path of a layer in the cache, after a download if it is missing. The check reads the whole layer, so it takes a turn. */
function blob(source: string, layer: Descriptor, parts: Parts): Promise<string> {
  return inTurn(parts, source, async () => {
    const found = await parts.cache.find(source, layer.digest, parts.signal);
    if (found !== undefined) return found;
    const reply = await parts.session.ask(source, { path: `blobs/${layer.digest}`, isLarge: true });
    return parts.cache.store({ ...layer, source, most: limits.layerBytes }, reply.body);
  });
}

/** Verifies signatures below their tags first, as most images have them there. */
async function signedBy({ source, digest, authorities, trustedRoot }: SigningQuestion, parts: Parts): Promise<SignedAnswer> {
  const place: SignaturePlace = { source, digest, room: limits.signatureBytes, read: readingContents(source, parts) };
  const endings = new Set(authorities.map(({ attestations }) => (attestations.length === 0 ? 'sig' : 'att')));
  const reads = [...[...endings].map((ending) => () => taggedSignatures(place, ending)), () => referringBundles(place)];
  const signatures: Signature[] = [];
  let why: readonly (string | undefined)[] = [];
  for (const read of reads) {
    signatures.push(...(await read()));
    why = authorities.map((authority) => unsignedBy(authority, { digest, signatures, trustedRoot }));
    if (why.includes(undefined)) return { kind: 'ok' };
  }
  return { kind: 'unsigned', why: why.filter((one) => one !== undefined) };
}

function readingContents(source: string, parts: Parts): ReadContent {
  return (path, accept, most) =>
    inTurn(parts, source, async () => {
      try {
        return await (await parts.session.ask(source, { path, accept })).text(most);
      } catch (error) {
        if (error instanceof Trouble && error.failure.kind === 'absent') return undefined;
        throw error;
      }
    });
}
