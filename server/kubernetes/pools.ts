// Connections to the API server: kept, bounded, and made anew when the certificates for them change.
import { isDeepStrictEqual } from 'node:util';
import { Pool } from '../undici-pool.ts';
import type { TlsSettings } from './connection.ts';

export interface PoolOptions {
  /** Connections to the API server at the same time. */
  readonly connections: number;
  /** A larger answer is refused. */
  readonly longestAnswer: number;
  /** A request and its answer take at most so many ms. */
  readonly requestTimeout: number;
}

/** How long a request may wait in front of the API server after it was given to a free connection. */
export const connectTimeout = 3_000;

const idleConnectionTimeout = 60_000; // the API server closes idle connections after 90 s; be first, or a request meets the close

export interface Pools {
  poolFor(tls: TlsSettings): Pool;
  close(): Promise<void>;
}

// Connections are made with certificates; once these are rotated, new requests take a new pool and the old one drains.
export function createPools(server: URL, options: PoolOptions): Pools {
  let current: { readonly tls: TlsSettings; readonly pool: Pool } | undefined;
  return {
    poolFor(tls) {
      if (current?.tls === tls) return current.pool;
      const isSame = current !== undefined && isDeepStrictEqual(current.tls, tls);
      if (!isSame) current?.pool.close().catch(() => undefined);
      current = { tls, pool: isSame && current !== undefined ? current.pool : createPool(server, tls, options) };
      return current.pool;
    },
    async close() {
      await current?.pool.close();
    },
  };
}

function createPool(server: URL, tls: TlsSettings, options: PoolOptions): Pool {
  return new Pool(server.origin, {
    connect: { ...tls, timeout: connectTimeout, keepAlive: true, keepAliveInitialDelay: 30_000 },
    connections: options.connections,
    allowH2: false, // with it, undici 8 ends the process when the API server says GOAWAY
    pipelining: 1,
    keepAliveTimeout: idleConnectionTimeout,
    keepAliveMaxTimeout: idleConnectionTimeout,
    maxResponseSize: options.longestAnswer,
    headersTimeout: options.requestTimeout,
    bodyTimeout: options.requestTimeout,
  });
}
