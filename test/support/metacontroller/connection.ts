// The requests that the double needs: plain ones and a watch, as client-go makes them. The user agent decides the name in
// managedFields, so it is Metacontroller's. A refusal is an ApiError; an aborted signal ends everything.
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, type Dispatcher } from 'undici';
import { isObject, type JsonObject, parseJson, textAt } from '../../../hooks/objects/json.ts';
import { readAccess } from '../kubeconfig.ts';
import type { Bucket } from './limits.ts';

export class ApiError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
  }
}

export function hasCode(error: unknown, code: number): boolean {
  return error instanceof ApiError && error.code === code;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Api {
  /** The object in the answer. Throws ApiError unless the code is 2xx. PATCH sends a merge patch. */
  call(method: Method, path: string, body?: JsonObject): Promise<JsonObject>;
  /** The bytes of a watch, until the server or the signal ends it. */
  watch(path: string): Promise<AsyncIterable<Uint8Array>>;
  close(): Promise<void>;
}

interface ConnectionOptions {
  readonly kubeconfig: string;
  readonly signal: AbortSignal;
  /** Limits every request, retries and watches included. */
  readonly bucket?: Bucket;
}

// client-go retries that many times if an answer has a Retry-After.
const retriesOnRetryAfter = 10;

export async function connectAsMetacontroller({ kubeconfig, signal, bucket }: ConnectionOptions): Promise<Api> {
  const access = readAccess(kubeconfig);
  const [url, { headers: identity, tls }] = [new URL(access.url), await access.credentials()];
  const agent = new Agent({ connect: { ...tls }, headersTimeout: 0, bodyTimeout: 0 });
  const headers = {
    ...identity,
    'user-agent': 'metacontroller/double',
    accept: 'application/json',
  };
  const base = { origin: url.origin, signal, headers };
  const prefix = url.pathname.replace(/\/$/, '');

  const send = async (method: Method, path: string, body?: JsonObject): Promise<Dispatcher.ResponseData> => {
    await wait(bucket?.reserve() ?? 0, signal);
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    return agent.request({
      ...base,
      method,
      path: prefix + path,
      headers: { ...headers, 'content-type': type },
      body: body === undefined ? null : JSON.stringify(body),
    });
  };

  return {
    call: (method, path, body) => callPatiently(() => send(method, path, body), signal),
    watch: async (path) => {
      const response = await send('GET', path);
      if (response.statusCode !== 200) await answerOf(response);
      return response.body;
    },
    close: () => agent.destroy(),
  };
}

async function callPatiently(send: () => Promise<Dispatcher.ResponseData>, signal: AbortSignal): Promise<JsonObject> {
  for (let retries = 0; ; retries += 1) {
    const response = await send();
    const seconds = Number.parseInt(String(response.headers['retry-after']), 10);
    const overloaded = response.statusCode === 429 || response.statusCode >= 500;
    if (!overloaded || Number.isNaN(seconds) || retries === retriesOnRetryAfter) return answerOf(response);
    await response.body.dump();
    await wait(seconds * 1000, signal);
  }
}

async function answerOf(response: Dispatcher.ResponseData): Promise<JsonObject> {
  const text = await response.body.text();
  const body = text.startsWith('{') ? parseJson(text) : null;
  if (response.statusCode < 200 || response.statusCode > 299)
    throw new ApiError(response.statusCode, textAt(body, 'message') ?? `the API server answered ${response.statusCode}: ${text}`);
  return isObject(body) ? body : {};
}

/** Rejects when the signal is aborted; leaves no timer behind. */
export async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (milliseconds > 0) await delay(milliseconds, undefined, { signal });
}
