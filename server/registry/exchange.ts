// Sends one request to one host. The answer is a stream: this file limits its time, and its reader limits its bytes.
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { Pool } from 'undici';
import { createLruCache } from '../../hooks/objects/lru-cache.ts';
import { admittedAddress, type Resolve } from './addresses.ts';
import { invalid, Trouble, unavailable } from './trouble.ts';

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
  readonly ledBy?: readonly string[];
  readonly resolve: Resolve;
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

const connectTimeout = 5_000;
const idle = 10_000;
/** The number of hosts and addresses with open connections. The least recently used one gives way. */
const mostPools = 64;
/** Bytes. */
const mostDiscarded = 16_384;

export function createExchange(connections: number, requestTimeout: number, pace = usualPace): Exchange {
  // If a pool gives way, its requests in flight continue to their end.
  const dropped = (pool: Pool) => void pool.close().catch(() => undefined);
  const pools = createLruCache<Pool>({ most: mostPools, dropped });
  // Connects to the checked address. Another look-up might return another address.
  const poolFor = async ({ url, ledBy, resolve }: Asked): Promise<Pool> => {
    const address = ledBy === undefined ? undefined : admittedAddress(url.hostname, await resolve(url.hostname), ledBy);
    const key = `${url.origin} ${address ?? ''}`;
    const known = pools.get(key);
    if (known !== undefined) return known;
    const pool = createPool(url, address, connections, requestTimeout);
    pools.set(key, pool);
    return pool;
  };
  return {
    async send(asked) {
      const { method, url, headers, signal } = asked;
      const where = `${url.host}${url.pathname}`;
      try {
        const pool = await poolFor(asked);
        const path = `${url.pathname}${url.search}`;
        // By default undici closes the connection after each HEAD. With this option it stays open if the registry keeps it alive.
        const answer = await pool.request({ method, path, headers: { ...headers }, signal, reset: false });
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

function createPool(url: URL, address: string | undefined, connections: number, timeout: number): Pool {
  const name = url.hostname.replace(/^\[|\]$/g, '');
  const origin = new URL(url.origin);
  const connect = { timeout: connectTimeout, ...(address === undefined ? {} : lookingUp(address)) };
  return new Pool(origin, {
    connect: url.protocol === 'https:' && !/^[\d.:]+$/.test(name) ? { ...connect, servername: name } : connect,
    connections,
    allowH2: false,
    keepAliveTimeout: idle,
    headersTimeout: timeout,
    bodyTimeout: timeout,
  });
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
