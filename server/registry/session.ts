// Sends requests to registries for one root package: with its pull secrets, until its deadline, through challenges and redirects.
import { readSource } from '../../hooks/crossplane/model/reference.ts';
import type { RegistryFailure } from '../../hooks/crossplane/registry.ts';
import { createResolver, type Resolve, schemeOf } from './addresses.ts';
import { basic, type Challenge, type Keychain, readChallenge, readToken, tokenAddress } from './authentication.ts';
import type { Asked, Exchange, Reply } from './exchange.ts';
import { limits } from './limits.ts';
import { invalid, Trouble, unavailable } from './trouble.ts';
import type { Trust } from './trust.ts';

interface SessionOptions {
  readonly exchange: Exchange;
  /** The source that the user named. If it is missing, the user named every source. */
  readonly root?: string | undefined;
  readonly keychain: Keychain;
  /** Aborts every request. */
  readonly signal: AbortSignal;
  /** The time limit of a request and its answer, in ms. For a layer it limits only the head of the answer. */
  readonly requestTimeout: number;
  /** Registries that use plain HTTP, each with its port if it has one. */
  readonly httpHosts?: readonly string[] | undefined;
  /** Throws a Trouble if the administrator's authorities cannot be read. Undefined: those of the system. */
  readonly trust?: () => Trust | undefined;
}

interface Options extends SessionOptions {
  readonly resolve: Resolve;
}

interface Request {
  readonly method?: 'GET' | 'HEAD';
  /** The path below the repository: `tags/list`, `manifests/…`; or the full address of another page. */
  readonly path: string | URL;
  readonly accept?: string;
  /** Whether the body is large. Then it may take until the deadline. */
  readonly isLarge?: boolean;
}

export interface Session {
  /** An answer with code 200. Throws a Trouble for every other code. */
  ask(source: string, request: Request): Promise<Reply>;
  addressOf(source: string, path: string): URL;
}

interface Place {
  readonly source: string;
  readonly registry: string;
  readonly repository: string;
  /** The path of the request below the repository, for messages. */
  readonly path?: string;
}

export function openSession(opening: SessionOptions): Session {
  const options: Options = { ...opening, resolve: createResolver(opening.signal) };
  /** The authorization for each source. */
  const shown = new Map<string, string>();
  const ask = async (source: string, request: Request): Promise<Reply> => {
    const path = typeof request.path === 'string' ? request.path : request.path.pathname;
    const place = { ...placeOf(source), path };
    const former = shown.get(source);
    const first = await follow(place, request, former, options);
    // A host that the registry redirects to may send a challenge, too. The hook sends it no secret.
    if (first.reply.code !== 401 || !first.isOwn) return accepted(first.reply, place, options);
    const authorization = await authorizationFor(first.reply, place, options);
    // If a token has expired meanwhile, the hook replaces it once. It never sends a refused password again.
    if (authorization === undefined || authorization === former) throw refused(place, 401, options);
    shown.set(source, authorization);
    return accepted((await follow(place, request, authorization, options)).reply, place, options);
  };
  return { ask, addressOf: (source, path) => urlOf(placeOf(source), path, options) };
}

function placeOf(source: string): Place {
  const read = readSource(source);
  if (read === undefined) throw invalid('expected a repository such as registry.example.org/acme/name');
  return { source, ...read };
}

/** Docker's own registry has another host name than users write. */
const served: Readonly<Record<string, string>> = { 'docker.io': 'index.docker.io' };

function urlOf({ registry, repository }: Place, path: string, { httpHosts }: Pick<Options, 'httpHosts'>): URL {
  const host = served[registry] ?? registry;
  return new URL(`${schemeOf(host, httpHosts)}://${host}/v2/${repository}/${path}`);
}

interface Followed {
  readonly reply: Reply;
  /** Whether the registry itself answered, not a host that it redirects to. */
  readonly isOwn: boolean;
}

async function follow(place: Place, request: Request, authorization: string | undefined, options: Options): Promise<Followed> {
  const start = typeof request.path === 'string' ? urlOf(place, request.path, options) : request.path;
  let url = start;
  for (let redirects = 0; redirects <= limits.redirects; redirects += 1) {
    const reply = await options.exchange.send(await askedOf({ request, url, start, authorization, options }));
    if (![301, 302, 303, 307, 308].includes(reply.code)) return { reply, isOwn: url.origin === start.origin };
    reply.discard();
    url = nextOf(reply.header('location'), url, place);
  }
  throw invalid(`${place.source}: the registry redirects more than ${limits.redirects} times`);
}

interface Step {
  readonly request: Request;
  readonly url: URL;
  /** The address of the registry. The hook sends credentials only there. */
  readonly start: URL;
  readonly authorization: string | undefined;
  readonly options: Options;
}

async function askedOf({ request, url, start, authorization, options }: Step): Promise<Asked> {
  const { method = 'GET', accept = '*/*', isLarge = false } = request;
  const ledBy = namedAddresses(url, start, options);
  const signal = isLarge ? options.signal : AbortSignal.any([options.signal, AbortSignal.timeout(options.requestTimeout)]);
  const headers = { accept, 'user-agent': 'janus' };
  const asked = { method, url, signal, headers, resolve: options.resolve, trust: options.trust?.(), ...ledBy };
  const isShown = url.origin === start.origin && authorization !== undefined;
  return isShown ? { ...asked, headers: { ...headers, authorization } } : asked;
}

/** The addresses of the registry that the user named, for every other host. */
function namedAddresses(url: URL, start: URL, options: Options): Pick<Asked, 'ledBy'> {
  const { root, resolve } = options;
  const named = root === undefined ? start : urlOf(placeOf(root), '', options);
  return url.host === named.host ? {} : { ledBy: () => resolve(named.hostname).catch(noAddresses) };
}

/** An ImageConfig may rewrite the image that the user named: then the host may be unknown. It is not an internal host. */
function noAddresses(error: unknown): readonly string[] {
  if (error instanceof Trouble) return [];
  throw error;
}

function nextOf(location: string | undefined, from: URL, { source }: Place): URL {
  if (location === undefined || !URL.canParse(location, from.href))
    throw invalid(`${source}: the registry redirects to no address`);
  const url = new URL(location, from);
  if (!isAsSafe(url, from)) throw invalid(`${source}: the registry redirects to an address that is not safe`);
  return url;
}

/** A redirect from HTTPS must lead to HTTPS. */
function isAsSafe(url: URL, from: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && from.protocol === 'http:');
}

async function authorizationFor(refusal: Reply, place: Place, options: Options): Promise<string | undefined> {
  const challenge = readChallenge(refusal.header('www-authenticate') ?? '');
  refusal.discard();
  return challenge === undefined ? undefined : answerTo(challenge, place, options);
}

async function answerTo(challenge: Challenge, place: Place, options: Options): Promise<string | undefined> {
  const login = options.keychain(place.source);
  if (challenge.kind === 'basic') return login === undefined ? undefined : basic(login);
  const registry = urlOf(place, '', options);
  const url = tokenAddress(challenge, place.repository);
  if (url === undefined || !isAsSafe(url, registry)) throw invalid(`${place.source}: the registry names no safe token service`);
  const ledBy = namedAddresses(url, registry, options);
  const reply = await options.exchange.send({
    method: 'GET',
    url,
    headers: {
      accept: 'application/json',
      'user-agent': 'janus',
      ...(login === undefined ? {} : { authorization: basic(login) }),
    },
    signal: AbortSignal.any([options.signal, AbortSignal.timeout(options.requestTimeout)]),
    resolve: options.resolve,
    trust: options.trust?.(),
    ...ledBy,
  });
  const token = readToken(await ofTokenService(reply, place, options).text(limits.answerBytes));
  if (token === undefined) throw unavailable(`${place.source}: the token service gave no token`);
  return `Bearer ${token}`;
}

/** A 404 of the token service does not mean that the repository is missing. */
function ofTokenService(reply: Reply, place: Place, options: Options): Reply {
  if (reply.code !== 404) return accepted(reply, place, options);
  reply.discard();
  throw unavailable(`${place.source}: the token service of the registry answers ${reply.code}`);
}

function accepted(reply: Reply, place: Place, options: Options): Reply {
  if (reply.code === 200) return reply;
  reply.discard();
  throw refused(place, reply.code, options, secondsOf(reply.header('retry-after')));
}

function refused(place: Place, code: number, { keychain }: Options, retryAfterSeconds?: number): Trouble {
  const isKnown = keychain(place.source) !== undefined;
  const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return new Trouble({ ...reasonOf(place, code, isKnown), ...wait });
}

function reasonOf({ source, path = '' }: Place, code: number, isKnown: boolean): RegistryFailure {
  if (code === 401 || code === 403) {
    const why = isKnown ? 'the pull secret gives no right to it' : 'no pull secret is for it, or the one that is gives no right';
    return { kind: 'denied', message: `${source}: the registry answers ${code}: ${why}` };
  }
  if (code === 404)
    return {
      kind: 'absent',
      message: `${source}: the registry answers 404 to ${path}: there is no such repository, tag or digest`,
    };
  return { kind: 'unavailable', message: `${source}: the registry answers ${code}` };
}

const longestWaitSeconds = 3_600;

function secondsOf(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : Math.ceil((Date.parse(header) - Date.now()) / 1_000);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), longestWaitSeconds);
}
