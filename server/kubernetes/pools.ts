// Pools of connections to the API server. Their number is limited, and new ones replace them when certificates change.
import { isDeepStrictEqual } from 'node:util';
import { type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { Connection, TlsSettings } from './connection.ts';

export interface PoolOptions {
  /** Parallel connections to the API server, at most. */
  readonly connections: number;
  /** A larger answer fails, in bytes. */
  readonly longestAnswer: number;
  /** ms for a request and its answer, at most. */
  readonly requestTimeout: number;
}

/** ms for which a request may wait before it reaches the API server, once it has a free connection. */
export const connectTimeout = 3_000;

const idleConnectionTimeoutMs = 60_000; // shorter than the API server's 90 s, so that no request meets a close

interface Pools {
  poolFor(tls: TlsSettings): Dispatcher;
  close(): Promise<void>;
}

// A connection keeps its certificates. When they rotate, new requests use a new pool, and the old pool drains.
export function createPools(to: Pick<Connection, 'server' | 'proxy'>, options: PoolOptions): Pools {
  let current: { readonly tls: TlsSettings; readonly pool: Dispatcher } | undefined;
  return {
    poolFor(tls) {
      if (current?.tls === tls) return current.pool;
      const isSame = current !== undefined && isDeepStrictEqual(current.tls, tls);
      if (!isSame) current?.pool.close().catch(() => undefined);
      current = { tls, pool: isSame && current !== undefined ? current.pool : createPool(to, tls, options) };
      return current.pool;
    },
    async close() {
      await current?.pool.close();
    },
  };
}

function createPool({ server, proxy }: Pick<Connection, 'server' | 'proxy'>, tls: TlsSettings, options: PoolOptions): Dispatcher {
  const connecting = { timeout: connectTimeout, keepAlive: true, keepAliveInitialDelay: 30_000 };
  const limits = limitsOf(options);
  // The certificates are those of the API server, behind the proxy.
  if (proxy !== undefined) return new ProxyAgent({ uri: proxy, requestTls: { ...tls, ...connecting }, ...limits });
  return new Pool(server.origin, { connect: { ...tls, ...connecting }, ...limits });
}

function limitsOf(options: PoolOptions): Pool.Options {
  return {
    connections: options.connections,
    allowH2: false, // with HTTP/2, undici 8 ends the process when the API server sends GOAWAY
    pipelining: 1,
    keepAliveTimeout: idleConnectionTimeoutMs,
    keepAliveMaxTimeout: idleConnectionTimeoutMs,
    maxResponseSize: options.longestAnswer,
    headersTimeout: options.requestTimeout,
    bodyTimeout: options.requestTimeout,
  };
}
