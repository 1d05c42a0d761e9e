// A thin client for tests. It takes raw JSON paths of the API server and returns `{ code, body }`. An answer with any code is a
// value; only a call without an answer throws. Integers above 2^53 survive in both directions.
import { type Dispatcher, Pool } from 'undici';
import { at, isList, isObject, type Json, type JsonObject, parseJson, textAt } from '../../hooks/objects/json.ts';
import { readAccess } from './kubeconfig.ts';

export interface Answer {
  readonly code: number;
  /** The JSON object of the answer; `{}` if the answer is not JSON (`/readyz` answers `ok`). */
  readonly body: JsonObject;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

interface ListAnswer extends Answer {
  readonly items: readonly JsonObject[];
}

export type Query = Readonly<Record<string, string | number | boolean>>;

interface RequestParts {
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json;
  /** The body as text: JSON.stringify fails for thousands of levels. */
  readonly text?: string;
}

type PatchKind = 'merge' | 'json' | 'strategic' | 'apply';

const patchTypes: Readonly<Record<PatchKind, string>> = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

/** Paths are the API server's: `/api/v1/namespaces/default/configmaps/one`. Callers must encode names themselves. */
export interface Client {
  readonly url: string;
  get(path: string, query?: Query): Promise<Answer>;
  list(path: string, query?: Query): Promise<ListAnswer>;
  create(path: string, object: JsonObject, query?: Query): Promise<Answer>;
  update(path: string, object: JsonObject, query?: Query): Promise<Answer>;
  /** Server-side apply; by default as field manager `test` and with `force`. */
  apply(path: string, object: JsonObject, query?: Query): Promise<Answer>;
  /** A merge patch unless `kind` says otherwise. */
  patch(path: string, patch: Json, kind?: PatchKind, query?: Query): Promise<Answer>;
  /** `options` is the DeleteOptions body: preconditions, propagationPolicy. */
  delete(path: string, options?: JsonObject, query?: Query): Promise<Answer>;
  request(method: Dispatcher.HttpMethod, path: string, parts?: RequestParts): Promise<Answer>;
  /** A client over this connection that impersonates a user in every call. */
  asUser(user: string): Client;
  asServiceAccount(namespace: string, name: string): Client;
  /** Closes the connection, also for the clients made by `asUser`. The process can exit without it. */
  close(): Promise<void>;
}

type Send = (method: Dispatcher.HttpMethod, path: string, parts: RequestParts) => Promise<Answer>;

/** Connects with the current context of a kubeconfig file. Reads the file at once; the first call connects. */
export function connect(kubeconfig: string): Client {
  const access = readAccess(kubeconfig);
  const { url } = access;
  const opening = openConnection(access);
  opening.catch(() => undefined);
  return clientOver(
    url,
    {},
    {
      send: async (method, path, parts) => (await opening).send(method, path, parts),
      close: async () => (await opening).close(),
    },
  );
}

interface Connection {
  readonly send: Send;
  readonly close: () => Promise<void>;
}

async function openConnection({ url, credentials }: ReturnType<typeof readAccess>): Promise<Connection> {
  const { headers: identity, tls } = await credentials();
  const pool = new Pool(new URL(url).origin, { connections: 32, allowH2: false, connect: { ...tls } });
  const base = new URL(url).pathname.replace(/\/$/, '');
  const send: Send = (method, path, parts) =>
    exchange(pool, method, base + path, { ...parts, headers: { ...identity, ...parts.headers } });
  return { send, close: async () => (pool.closed ? undefined : await pool.close()) };
}

async function exchange(pool: Pool, method: Dispatcher.HttpMethod, path: string, parts: RequestParts): Promise<Answer> {
  const response = await pool.request({
    method,
    path,
    ...(parts.query === undefined || Object.keys(parts.query).length === 0 ? {} : { query: { ...parts.query } }),
    headers: { accept: 'application/json', 'content-type': 'application/json', ...parts.headers },
    body: parts.text ?? (parts.body === undefined ? null : JSON.stringify(parts.body)),
    reset: false, // by default undici closes the connection after each DELETE
  });
  const text = await response.body.text();
  return { code: response.statusCode, body: objectIn(text), text, headers: response.headers };
}

function objectIn(text: string): JsonObject {
  if (!text.startsWith('{')) return {};
  const value = parseJson(text);
  return isObject(value) ? value : {};
}

function clientOver(url: string, headers: Readonly<Record<string, string>>, connection: Connection): Client {
  const request: Client['request'] = (method, path, parts = {}) =>
    connection.send(method, path, { ...parts, headers: { ...headers, ...parts.headers } });
  const asUser = (user: string): Client => clientOver(url, { ...headers, 'impersonate-user': user }, connection);
  const patch: Client['patch'] = (path, body, kind = 'merge', query = {}) =>
    request('PATCH', path, { body, query, headers: { 'content-type': patchTypes[kind] } });
  return {
    url,
    request,
    patch,
    asUser,
    asServiceAccount: (namespace, name) => asUser(`system:serviceaccount:${namespace}:${name}`),
    get: (path, query = {}) => request('GET', path, { query }),
    list: async (path, query = {}) => withItems(await request('GET', path, { query })),
    create: (path, body, query = {}) => request('POST', path, { body, query }),
    update: (path, body, query = {}) => request('PUT', path, { body, query }),
    apply: (path, body, query = {}) => patch(path, body, 'apply', { fieldManager: 'test', force: true, ...query }),
    delete: (path, options = {}, query = {}) => request('DELETE', path, { body: options, query }),
    close: connection.close,
  };
}

function withItems(answer: Answer): ListAnswer {
  const items = at(answer.body, 'items');
  return { ...answer, items: isList(items) ? items.filter(isObject) : [] };
}

/** The object of a successful answer; throws with the API server's message for any other. */
export function must(answer: Answer): JsonObject {
  if (answer.code >= 200 && answer.code < 300) return answer.body;
  throw new Error(`expected success, the API server answered ${answer.code}: ${textAt(answer.body, 'message') ?? answer.text}`);
}

export interface Patience {
  /** A guard against hanging, not a measurement: generous on purpose. */
  readonly timeoutMs?: number;
  /** ms between two looks at first. A sixth of the time waited so far is enough later: each look takes processor time from the rest. */
  readonly everyMs?: number;
}

/** ms between two looks, at most. */
const longestPause = 400;

/**
 * Polls until the condition returns something other than undefined, null or false, and returns that. `what` completes "waited …
 * for". If the condition throws, it is tried again; the last error is named when the guard ends the wait.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  what: string,
  { timeoutMs = 60_000, everyMs = 50 }: Patience = {},
): Promise<Exclude<T, undefined | null | false>> {
  const began = performance.now();
  const end = began + timeoutMs;
  let last: unknown = 'no error, the condition just did not hold';
  while (performance.now() < end) {
    const value = await Promise.resolve()
      .then(condition)
      .catch((error: unknown) => {
        last = error;
        return undefined;
      });
    if (value !== undefined && value !== null && value !== false) return value as Exclude<T, undefined | null | false>;
    const pause = Math.min(longestPause, (performance.now() - began) / 6);
    await new Promise((resolve) => setTimeout(resolve, Math.max(everyMs, pause)));
  }
  throw new Error(`waited ${timeoutMs / 1000} s for ${what}; last seen: ${String(last)}`);
}

/** The part of a tap test that cleaning up needs. */
export interface Teardown {
  teardown(handler: () => unknown): unknown;
}

/**
 * Creates a namespace with a generated name and returns the name. It is deleted when the test `t` ends, without waiting for its
 * contents.
 */
export async function freeNamespace(client: Client, prefix: string, t?: Teardown): Promise<string> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { generateName: `${prefix}-` } };
  const name = textAt(must(await client.create('/api/v1/namespaces', namespace)), 'metadata', 'name') ?? '';
  t?.teardown(() => client.delete(`/api/v1/namespaces/${name}`));
  return name;
}

/**
 * The kubeconfig of the cluster for the suite. Only `npm test` sets the variable: KUBECONFIG may name a production cluster, so
 * tests never use that alone.
 */
export function testKubeconfig(): string {
  const path = process.env.JANUS_TEST_KUBECONFIG ?? '';
  if (path !== '') return path;
  throw new Error('no cluster for tests: run them by `npm test -- <file>`, which starts one and sets JANUS_TEST_KUBECONFIG');
}
