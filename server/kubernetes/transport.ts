// Sends one request to the API server, and returns its answer. Every error becomes a Failure. It throws nothing, and retries nothing.
//
// 1. There is one fixed host, no redirect, and no proxy except that of the connection. The content of a request never decides its host.
// 2. A request ends within its time limit, and has no effect after its lifetime. Both count from the call of `request`, with the wait
//    for a free connection. Only a new connection may add to them (`connectTimeout`).
// 3. After the head of a write, the rest is sent only if the write is not late. The API server counts the lifetime from the head. So a
//    request that a frozen process sends after it wakes up has no effect.
// 4. Bodies are raw JSON in both directions, and always have a content-length. Without it the API server would assume that a DELETE has
//    no body, and would ignore its preconditions.
import type { Dispatcher } from 'undici';
import type { Failed, Identity, Warnings } from '../../hooks/objects/cluster.ts';
import type { Failure } from '../../hooks/objects/failure.ts';
import { asYaml, isObject, type Json, type JsonObject, parseJson } from '../../hooks/objects/json.ts';
import { limits } from '../../hooks/objects/limits.ts';
import { measureOfText, remember } from '../../hooks/objects/measure.ts';
import { ownTurn } from '../../hooks/objects/requests/loop-turns.ts';
import { createAdmission } from '../tenants/admission.ts';
import { createAnswerRooms } from './answer-room.ts';
import type { Connection, Credentials } from './connection.ts';
import { exchange, type HttpReply, type Limits, TooLarge } from './exchange.ts';
import { failureOfAnswer, failureOfError, type HttpAnswer, notSendable, notSent, unreadable } from './failures.ts';
import { headFirst, type IsLate } from './head-first.ts';
import { impersonationHeaders } from './impersonation.ts';
import { createPools, type PoolOptions } from './pools.ts';
import type { ApiRequest } from './requests.ts';
import { warningsIn } from './warnings.ts';

const leastLifetime = 1_000; // a request with a shorter lifetime is not sent

export interface Received {
  readonly kind: 'ok';
  readonly body: JsonObject;
  /** Characters of the body. */
  readonly size: number;
  readonly bytes: number;
  readonly serverTime: number;
  readonly warnings?: Warnings;
}

export interface Transport {
  /** `isLate` is called once the head of the request is sent: if it returns true, the request is cut off and has no effect. */
  request(request: ApiRequest, identity: Identity, isLate?: IsLate): Promise<Received | Failed>;
  /** Closes the connections when all requests are answered. */
  close(): Promise<void>;
}

interface Asked {
  readonly request: ApiRequest;
  readonly identity: Identity;
  readonly isLate: IsLate | undefined;
}

export function createTransport(connection: Connection, options: PoolOptions): Transport {
  const pools = createPools(connection, options);
  const admission = createAdmission(admissionOf(options));
  const roomOfAnswer = createAnswerRooms();

  const send = async ({ request, identity, isLate }: Asked, askedAt: number) => {
    const credentials = connection.known() ?? (await credentialsOf(connection, options.requestTimeout));
    if (credentials === undefined)
      return failed(notSent('CredentialsUnavailable', 'the credentials for the API server cannot be read'));
    const waited = Math.ceil(performance.now() - askedAt);
    if (waited > longestWait(request, options))
      return failed(notSent('Busy', 'the request had to wait too long for a free connection to the API server'));
    const answer = await exchanged(
      pools.poolFor(credentials.tls),
      { patience: options.requestTimeout - waited, ...boundsOf(request, options), room: roomOfAnswer() },
      {
        origin: connection.server.origin,
        method: request.method,
        path: pathOf(connection.server, request, waited),
        ...framed(request, isLate, { ...headersOf(request), ...credentials.headers, ...impersonationHeaders(identity) }),
        // After a DELETE with a body, undici closes the connection by default, because a server might read the body as the next
        // request. The API server does not.
        reset: false,
      },
    );
    if (answer.kind === 'failed' && answer.failure.code === 401) connection.refused();
    return answer;
  };

  return {
    async request(request, identity, isLate) {
      const askedAt = performance.now();
      const refusal = refusalOf(request, identity);
      if (refusal !== undefined) return failed(refusal);
      const release = await admission.take(identity.kind === 'engine' ? {} : { namespace: identity.namespace });
      return send({ request, identity, isLate }, askedAt).finally(release);
    },
    close: () => pools.close(),
  };
}

/** With another number of connections than a replica has, the parts are the same. */
function admissionOf({ connections: count }: PoolOptions) {
  const partOf = ({ value }: { readonly value: number }): number => Math.floor((count * value) / limits.requests.value);
  return { count, reserve: partOf(limits.engineRequests), spare: partOf(limits.spareRequests) };
}

function refusalOf(request: ApiRequest, identity: Identity): Failure | undefined {
  if (impersonationHeaders(identity) === undefined)
    return notSendable('InvalidIdentity', 'no ServiceAccount can have this namespace and name');
  if (request.path === undefined) return notSendable('InvalidName', 'no object can have this name: it cannot be part of a path');
  return undefined;
}

function longestWait(request: ApiRequest, options: PoolOptions): number {
  return Math.min(options.requestTimeout, request.lifetime ?? Number.POSITIVE_INFINITY) - leastLifetime;
}

function framed({ body }: ApiRequest, isLate: IsLate | undefined, headers: Readonly<Record<string, string>>) {
  if (body === undefined || isLate === undefined) return { headers, body: body === undefined ? null : textOf(body) };
  const bytes = Buffer.from(textOf(body));
  return { headers: { ...headers, 'content-length': String(bytes.length) }, body: headFirst(bytes, isLate) };
}

// The API server reads the body of an apply as YAML. Source: k8s.io/apiserver, pkg/endpoints/handlers/patch.go, applyPatcher.
function textOf(body: JsonObject): string {
  return asYaml(JSON.stringify(body));
}

/** An answer with more characters keeps the thread busy for several ms, in its parser and in its reader. */
const longText = 128 * 1024;

function boundsOf({ mostBytes, isText }: ApiRequest, { longestAnswer }: PoolOptions) {
  return { mostBytes: mostBytes ?? longestAnswer, isText: isText === true };
}

interface AnswerLimits extends Omit<Limits, 'take'> {
  readonly mostBytes: number;
  readonly isText: boolean;
  readonly room: ReturnType<ReturnType<typeof createAnswerRooms>>;
}

// If large answers arrive together, each is parsed in a turn of the event loop, and its reader runs in another turn.
async function exchanged(
  pool: Dispatcher,
  { room, isText, ...limits }: AnswerLimits,
  request: Dispatcher.DispatchOptions,
): Promise<Received | Failed> {
  try {
    const reply = await exchange(pool, { ...limits, take: room.take }, request);
    if (isText) return receivedText(reply);
    if (reply.text.length <= longText) return received(reply);
    await ownTurn();
    const measure = measureOfText(reply.text);
    if (measure.memory > mostMemory(limits)) throw new TooLarge('the parsed answer would take too much memory');
    const answer = received(reply, measure);
    await ownTurn();
    return answer;
  } catch (error) {
    return failed(failureOfError(error));
  } finally {
    room.giveBack();
  }
}

/**
 * Bytes that the parsed answer may take. etcd stores no object that takes more than 35 MB, but of short keys and empty maps, an answer of
 * 16 MiB takes 400 MiB.
 */
function mostMemory({ mostBytes }: Pick<AnswerLimits, 'mostBytes'>): number {
  return Math.max(leastMemory, 3 * mostBytes);
}

const leastMemory = 48 * 1024 * 1024;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

function received(reply: HttpReply, measure = measureOfText(reply.text)): Received | Failed {
  const { code, headers, text, bytes } = reply;
  const body = parsed(text);
  if (code < 200 || code > 299) return failed(failureOfAnswer({ code, headers: firstValues(headers), body }));
  const serverTime = Date.parse(String(headers.date));
  if (!isObject(body) || Number.isNaN(serverTime)) return failed(unreadable(code));
  remember(body, measure);
  return { kind: 'ok', body, size: text.length, bytes, serverTime, ...warningsIn(headers.warning) };
}

// Of a refusal, the body is JSON.
function receivedText(reply: HttpReply): Received | Failed {
  const { code, headers, text, bytes } = reply;
  if (code < 200 || code > 299) return received(reply);
  return { kind: 'ok', body: { text }, size: text.length, bytes, serverTime: Date.parse(String(headers.date)) };
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

async function credentialsOf(connection: Connection, patience: number): Promise<Credentials | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, patience, undefined);
  });
  try {
    return await Promise.race([connection.credentials(), tooLate]);
  } catch {
    return undefined; // the error may quote the output of an exec plugin, which may hold a token
  } finally {
    clearTimeout(timer);
  }
}

function headersOf(request: ApiRequest): Record<string, string> {
  const headers = { accept: request.accept ?? 'application/json', 'user-agent': 'janus' };
  return request.contentType === undefined ? headers : { ...headers, 'content-type': request.contentType };
}

function firstValues(headers: Headers): HttpAnswer['headers'] {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]));
}

// Subtracts the time that the request has waited, because the API server counts from its arrival.
function pathOf(server: URL, request: ApiRequest, waited: number): string {
  const timeout = request.lifetime === undefined ? {} : { timeout: `${request.lifetime - waited}ms` };
  const path = `${server.pathname.replace(/\/+$/, '')}${request.path}`;
  if (request.query === undefined && request.lifetime === undefined) return path;
  return `${path}?${new URLSearchParams({ ...request.query, ...timeout })}`;
}
