// Sends one request to one host. The answer is a stream: this file limits its time, and its reader limits its bytes.
import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { Pool, ProxyAgent } from 'undici';
import { createLruCache } from '../../hooks/objects/lru-cache.ts';
import { admittedAddress, type Resolve, schemeOf } from './addresses.ts';
import { invalid, Trouble, unavailable } from './trouble.ts';
import type { Trust } from './trust.ts';

export interface Reply {
  readonly code: number;
  header(name: string): string | undefined;
  readonly body: AsyncIterable<Uint8Array>;
  /** Reads at most that many bytes as text, and drops the rest. */
  text(most: number): Promise<string>;
  /** Drops the answer unread. */
  discard(): void;
}

export interface Asked {
  readonly method: 'GET' | 'HEAD';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** For every other host, the addresses of the registry that the user named. They decide which addresses are allowed. */
  readonly ledBy?: () => Promise<readonly string[]>;
  readonly resolve: Resolve;
  /** Absent: the authorities of the system. */
  readonly trust?: Trust | undefined;
}

/** A proxy for all hosts but those. */
interface ProxySettings {
  /** The URL, which may have credentials. */
  readonly url: string;
  /** Hosts, and domains with all hosts in them. */
  readonly except: readonly string[];
}

export interface Exchange {
  send(asked: Asked): Promise<Reply>;
  close(): Promise<void>;
}

/** The lower bound for bodies. A request ends if its body has fewer bytes per second, on average over this time in ms. */
export interface Pace {
  readonly bytesPerSecond: number;
  readonly ms: number;
}

/** A slower host never sends a package within a call. */
const usualPace: Pace = { bytesPerSecond: 4_096, ms: 10_000 };

const connectTimeoutMs = 5_000;
const idle = 10_000;
/** The number of hosts and addresses with open connections. The least recently used one gives way. */
const mostPools = 64;
/** Bytes. */
const mostDiscarded = 16_384;

interface ExchangeOptions {
  /** Connections to one host, at most. */
  readonly connections: number;
  readonly requestTimeout: number;
  readonly pace?: Pace | undefined;
  readonly proxy?: ProxySettings | undefined;
}

export function createExchange(options: ExchangeOptions): Exchange {
  const { pace = usualPace, proxy } = options;
  // If a pool gives way, its requests in flight continue to their end.
  const dropped = (pool: Dispatcher) => void pool.close().catch(() => undefined);
  const pools = createLruCache<Dispatcher>({ most: mostPools, dropped });
  const poolFor = async (asked: Asked): Promise<Dispatcher> => {
    const by = isProxied(asked.url, proxy) ? proxy : undefined;
    const address = await (by === undefined ? addressFor(asked) : literalFor(asked));
    const key = `${asked.url.origin} ${address ?? ''} ${asked.trust?.key ?? ''}`;
    const create = () => (by === undefined ? createPool(asked, address, options) : createAgent(asked, by, options));
    const pool = pools.get(key) ?? create();
    pools.set(key, pool);
    return pool;
  };
  return {
    async send(asked) {
      const { method, url, headers, signal } = asked;
      const where = `${url.host}${url.pathname}${isProxied(url, proxy) ? ' (by the proxy)' : ''}`;
      try {
        const pool = await poolFor(asked);
        const path = `${url.pathname}${url.search}`;
        // By default undici closes the connection after each HEAD. With this option it stays open if the registry keeps it alive.
        const answer = await pool.request({ origin: url.origin, method, path, headers: { ...headers }, signal, reset: false });
        return replyOf(answer, where, pace);
      } catch (error) {
        throw troubleOf(error, where);
      }
    },
    async close() {
      await Promise.all(pools.values().map((pool) => pool.destroy()));
    },
  };
}

/** The checked address to connect to: another look-up might return another address. */
async function addressFor({ url, ledBy, resolve }: Asked): Promise<string | undefined> {
  return ledBy === undefined ? undefined : admittedAddress(url.hostname, await resolve(url.hostname), await ledBy());
}

/** The proxy looks names up. So only an address that is written literally can be checked. */
function literalFor({ url, ledBy }: Asked): string | undefined {
  const name = nameOf(url);
  return ledBy === undefined || isIP(name) === 0 ? undefined : admittedAddress(url.hostname, [name], []);
}

/** Registries on this machine need no proxy. */
function isProxied(url: URL, proxy: ProxySettings | undefined): boolean {
  if (proxy === undefined || schemeOf(url.hostname) === 'http') return false;
  return !proxy.except.some((one) => url.hostname === one || url.host === one || url.hostname.endsWith(`.${one}`));
}

function nameOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function limitsOf({ connections, requestTimeout }: ExchangeOptions) {
  return {
    connections,
    allowH2: false,
    keepAliveTimeout: idle,
    headersTimeout: requestTimeout,
    bodyTimeout: requestTimeout,
  };
}

function connectingTo({ url, trust }: Asked) {
  const name = nameOf(url);
  const named = url.protocol === 'https:' && !/^[\d.:]+$/.test(name) ? { servername: name } : {};
  return { timeout: connectTimeoutMs, ...named, ...secured(trust) };
}

function secured(trust: Trust | undefined) {
  return trust === undefined ? {} : { secureContext: trust.context };
}

function createPool(asked: Asked, address: string | undefined, options: ExchangeOptions): Pool {
  const connect = { ...connectingTo(asked), ...(address === undefined ? {} : lookingUp(address)) };
  return new Pool(new URL(asked.url.origin), { connect, ...limitsOf(options) });
}

function createAgent(asked: Asked, { url }: ProxySettings, options: ExchangeOptions): ProxyAgent {
  const proxyTls = { timeout: connectTimeoutMs, ...secured(asked.trust) };
  return new ProxyAgent({ uri: url, requestTls: connectingTo(asked), proxyTls, ...limitsOf(options) });
}

type Found = (error: null, address: string | { address: string; family: number }[], family: number) => void;

function lookingUp(address: string) {
  const family = address.includes(':') ? 6 : 4;
  return {
    lookup: (_hostname: string, options: { readonly all?: boolean }, found: Found): void =>
      options.all === true ? found(null, [{ address, family }], family) : found(null, address, family),
  };
}

function replyOf({ statusCode, headers, body }: Dispatcher.ResponseData, where: string, pace: Pace): Reply {
  const content = guarded(body, where, pace);
  return {
    code: statusCode,
    header(name) {
      const value = headers[name];
      return Array.isArray(value) ? value[0] : value;
    },
    body: content,
    text: (most) => textOf(content, most, where),
    // Reads a short body to its end, so that the connection can be used again.
    discard: () => void body.dump({ limit: mostDiscarded }).catch(() => undefined),
  };
}

async function* guarded(body: Readable, where: string, { bytesPerSecond, ms }: Pace): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  const least = (bytesPerSecond * ms) / 1_000;
  const watch = setInterval(() => {
    if (bytes < least) body.destroy(unavailable(`${where}: sends fewer than ${bytesPerSecond} bytes a second`));
    bytes = 0;
  }, ms);
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      yield chunk;
    }
  } catch (error) {
    throw troubleOf(error, where);
  } finally {
    clearInterval(watch);
  }
}

async function textOf(body: AsyncIterable<Uint8Array>, most: number, where: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > most) throw invalid(`${where} answered with more than ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Replaces messages of Node and undici, because these may quote the request. */
function troubleOf(error: unknown, where: string): unknown {
  if (error instanceof Trouble || !(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  const named = `${error.name} ${code}`;
  const reason = reasons.find(([pattern]) => pattern.test(named))?.[1];
  if (reason === undefined && code === '') return error;
  return unavailable(`${where}: ${reason ?? `no answer (${code})`}`);
}

const reasons: readonly (readonly [RegExp, string])[] = [
  [/Timeout|UND_ERR_\w*TIMEOUT|AbortError/i, 'no answer in time'],
  [/ENOTFOUND|EAI_AGAIN/, 'the host is not known'],
  [/ECONNREFUSED/, 'the connection is refused'],
  [/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO|ALTNAME/, 'no trusted TLS connection'],
  [/ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_RES_CONTENT/, 'the connection was cut'],
];
