// One request to the API server, one answer; every trouble is a Failure, nothing is thrown and nothing is retried.
//
// 1. One fixed host, no redirects, no proxies: where a request goes never depends on what it carries.
// 2. A request ends within its time limit, waiting for a free connection included; then it is not sent any more.
// 3. Bodies are raw JSON both ways and always framed by content-length (a DELETE without it is taken for one without a
//    body, and its preconditions are ignored).
import { isDeepStrictEqual } from 'node:util';
import { type Dispatcher, Pool } from 'undici';
import type { Failed, Identity } from '../../hooks/cluster.ts';
import type { Failure } from '../../hooks/model/failure.ts';
import { isObject, type Json, type JsonObject, parseJson } from '../../hooks/model/json.ts';
import type { Connection, Credentials, TlsSettings } from './connection.ts';
import { failureOfAnswer, failureOfError, type HttpAnswer, notSendable, notSent, unreadable } from './failures.ts';
import { impersonationHeaders } from './impersonation.ts';
import type { ApiRequest } from './requests.ts';

export interface TransportOptions {
  /** A request and its answer take at most so many ms. */
  readonly requestTimeout: number;
  /** Connections to the API server at the same time; further requests wait for a free one. */
  readonly connections: number;
  /** A larger answer is refused. */
  readonly longestAnswer: number;
}

export interface Received {
  readonly kind: 'ok';
  readonly body: JsonObject;
  readonly serverTime: number;
}

export interface Transport {
  request(request: ApiRequest, identity: Identity): Promise<Received | Failed>;
  /** Closes the connections once the requests under way are answered. */
  close(): Promise<void>;
}

const connectTimeout = 5_000;
const idleConnectionTimeout = 60_000; // the API server closes idle connections after 90 s; be first, or a request meets the close

export function createTransport(connection: Connection, options: TransportOptions): Transport {
  const pools = createPools(connection.server, options);
  return {
    async request(request, identity) {
      const refusal = refusalOf(request, identity);
      if (refusal !== undefined) return failed(refusal);
      const credentials = await credentialsOf(connection);
      if (credentials === undefined)
        return failed(notSent('CredentialsUnavailable', 'the credentials for the API server cannot be read'));
      const wire = { ...wireOf(request, connection.server), signal: AbortSignal.timeout(options.requestTimeout) };
      const headers = { ...wire.headers, ...impersonationHeaders(identity), ...credentials.headers };
      const answer = await exchange(pools.poolFor(credentials.tls), { ...wire, headers });
      if (answer.kind === 'failed' && answer.failure.code === 401) connection.refused();
      return answer;
    },
    close: () => pools.close(),
  };
}

function refusalOf(request: ApiRequest, identity: Identity): Failure | undefined {
  if (impersonationHeaders(identity) === undefined)
    return notSendable('InvalidIdentity', 'no ServiceAccount can have this namespace and name');
  if (request.path === undefined) return notSendable('InvalidName', 'no object can have this name: it cannot be part of a path');
  return undefined;
}

function wireOf(request: ApiRequest, server: URL) {
  const body = request.body === undefined ? null : JSON.stringify(request.body);
  return { method: request.method, path: pathOf(server, request), headers: headersOf(request), body };
}

async function exchange(pool: Pool, request: Dispatcher.RequestOptions): Promise<Received | Failed> {
  try {
    const response = await pool.request(request);
    return received({
      code: response.statusCode,
      headers: firstValues(response.headers),
      body: parsed(await response.body.text()),
    });
  } catch (error) {
    return failed(failureOfError(error));
  }
}

function received(answer: HttpAnswer): Received | Failed {
  if (answer.code < 200 || answer.code > 299) return failed(failureOfAnswer(answer));
  const serverTime = Date.parse(answer.headers.date ?? '');
  if (!isObject(answer.body) || Number.isNaN(serverTime)) return failed(unreadable(answer.code));
  return { kind: 'ok', body: answer.body, serverTime };
}

export function failed(failure: Failure): Failed {
  return { kind: 'failed', failure };
}

function parsed(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

async function credentialsOf(connection: Connection): Promise<Credentials | undefined> {
  try {
    return await connection.credentials();
  } catch {
    return undefined; // the error may quote what an exec plugin printed, and that may be a token
  }
}

function headersOf(request: ApiRequest): Record<string, string> {
  const headers = { accept: request.accept ?? 'application/json', 'user-agent': 'janus' };
  return request.contentType === undefined ? headers : { ...headers, 'content-type': request.contentType };
}

function firstValues(headers: Readonly<Record<string, string | string[] | undefined>>): HttpAnswer['headers'] {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]));
}

function pathOf(server: URL, request: ApiRequest): string {
  const search = new URLSearchParams(request.query).toString();
  return `${server.pathname.replace(/\/+$/, '')}${request.path}${search === '' ? '' : `?${search}`}`;
}

interface Pools {
  poolFor(tls: TlsSettings): Pool;
  close(): Promise<void>;
}

// Connections are made with certificates; once these are rotated, new requests take a new pool and the old one drains.
function createPools(server: URL, options: TransportOptions): Pools {
  let current: { readonly tls: TlsSettings; readonly pool: Pool } | undefined;
  return {
    poolFor(tls) {
      if (current !== undefined && isDeepStrictEqual(current.tls, tls)) return current.pool;
      current?.pool.close().catch(() => undefined);
      current = { tls, pool: createPool(server, tls, options) };
      return current.pool;
    },
    async close() {
      await current?.pool.close();
    },
  };
}

function createPool(server: URL, tls: TlsSettings, options: TransportOptions): Pool {
  return new Pool(server.origin, {
    connect: { ...tls, timeout: connectTimeout, keepAlive: true, keepAliveInitialDelay: 30_000 },
    connections: options.connections,
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: idleConnectionTimeout,
    keepAliveMaxTimeout: idleConnectionTimeout,
    maxResponseSize: options.longestAnswer,
    headersTimeout: options.requestTimeout,
    bodyTimeout: options.requestTimeout,
  });
}
