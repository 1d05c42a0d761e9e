// One call of the hook: the request, how an answer is evaluated (rule 5 of the loop), and what is recorded of it.
import { Agent } from 'undici';
import { isObject, type JsonObject, parseJson, textAt } from '../../../hooks/objects/json.ts';
import { type ControllerKind, decodeAnswer, type HookAnswer } from './answer.ts';

interface HookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Aborted when the webhook's timeout has passed or the loop stops; the hook itself goes on. */
  readonly signal: AbortSignal;
}

interface HookResponse {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

export type FetchHook = (request: HookRequest) => Promise<HookResponse>;

type HookPath = '/sync' | '/finalize' | '/customize';

export interface RecordedCall {
  readonly path: HookPath;
  readonly parent: { readonly namespace: string; readonly name: string; readonly uid: string; readonly resourceVersion: string };
  /** ms of performance.now() */
  readonly startedAt: number;
  readonly milliseconds: number;
  /** Absent if no answer came. */
  readonly code?: number;
  /** Why the answer is unusable. */
  readonly error?: string;
}

/** Every kind but `answer` leaves the stored status unchanged. */
type HookResult =
  | { readonly kind: 'answer'; readonly answer: HookAnswer }
  | { readonly kind: 'tooManyRequests'; readonly seconds: number }
  | { readonly kind: 'error'; readonly message: string };

interface HookClientOptions {
  readonly kind: ControllerKind;
  readonly hookUrl: string;
  readonly token?: string;
  readonly timeoutMilliseconds: number;
  readonly fetchHook: FetchHook;
  readonly signal: AbortSignal;
  readonly record: (call: RecordedCall) => void;
}

export type CallHook = (path: HookPath, request: JsonObject, parent: JsonObject) => Promise<HookResult>;

/** The answer of the customize hook. Throws if there is none. */
type Customize = (request: JsonObject, parent: JsonObject) => Promise<JsonObject>;

export function createCustomize(options: HookClientOptions): Customize {
  return async (request, parent) => {
    const [startedAt, path] = [performance.now(), '/customize'] as const;
    const url = options.hookUrl.replace(/\/$/, '') + path;
    const { response, error } = await fetchWithin(options, { url, headers: headersOf(options), body: JSON.stringify(request) });
    const code = response === undefined ? {} : { code: response.code };
    options.record({ path, parent: identityOf(parent), startedAt, milliseconds: performance.now() - startedAt, ...code });
    if (response?.code !== 200)
      throw new Error(`customize hook failed: ${error ?? `unsupported status code: ${response?.code}`}`);
    const answer = parseJson(response.body);
    if (!isObject(answer)) throw new Error('customize hook failed: expected an object');
    return answer;
  };
}

function headersOf({ token }: HookClientOptions): Readonly<Record<string, string>> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return { 'content-type': 'application/json', 'user-agent': 'Go-http-client/1.1', ...authorization };
}

export function createHookClient(options: HookClientOptions): CallHook {
  const base = options.hookUrl.replace(/\/$/, '');
  const headers = headersOf(options);
  return async (path, request, parent) => {
    const startedAt = performance.now();
    const body = JSON.stringify(request);
    const { response, error } = await fetchWithin(options, { url: base + path, headers, body });
    const result: HookResult = response === undefined ? { kind: 'error', message: error } : judge(response, options.kind);
    options.record({
      path,
      parent: identityOf(parent),
      startedAt,
      milliseconds: performance.now() - startedAt,
      ...(response === undefined ? {} : { code: response.code }),
      ...(result.kind === 'error' ? { error: result.message } : {}),
    });
    return result;
  };
}

type Fetched =
  | { readonly response: HookResponse; readonly error?: never }
  | { readonly response?: never; readonly error: string };

async function fetchWithin(options: HookClientOptions, request: Omit<HookRequest, 'signal'>): Promise<Fetched> {
  const { signal, timeoutMilliseconds, fetchHook } = options;
  const controller = new AbortController();
  const stop = (): void => controller.abort(signal.reason);
  const timer = setTimeout(
    () => controller.abort(new Error('context deadline exceeded (Client.Timeout exceeded while awaiting headers)')),
    timeoutMilliseconds,
  );
  signal.addEventListener('abort', stop, { once: true });
  try {
    return { response: await fetchHook({ ...request, signal: controller.signal }) };
  } catch (error) {
    return { error: `http error: Post "${request.url}": ${error instanceof Error ? error.message : String(error)}` };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

function judge(response: HookResponse, kind: ControllerKind): HookResult {
  if (response.code === 429) return { kind: 'tooManyRequests', seconds: secondsOf(response.headers['retry-after']) };
  if (response.code !== 200)
    return { kind: 'error', message: `unsupported status code: ${response.code} body: ${response.body}` };
  try {
    return { kind: 'answer', answer: decodeAnswer(response.body, kind) };
  } catch (error) {
    return { kind: 'error', message: error instanceof Error ? error.message : String(error) };
  }
}

/** Whole seconds or an HTTP date; any other text means at once. */
export function secondsOf(retryAfter: string | readonly string[] | undefined): number {
  const text = String(retryAfter ?? '');
  if (/^[+-]?\d+$/.test(text)) return Number(text);
  const date = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? 0 : Math.ceil((date - Date.now()) / 1000);
}

function identityOf(parent: JsonObject): RecordedCall['parent'] {
  const field = (name: string): string => textAt(parent, 'metadata', name) ?? '';
  return { namespace: field('namespace'), name: field('name'), uid: field('uid'), resourceVersion: field('resourceVersion') };
}

interface HookTransport {
  readonly fetchHook: FetchHook;
  close(): Promise<void>;
}

/** Calls over HTTP with kept-alive connections, as Go's client does; the signal of a call is its timeout. */
export function httpTransport(): HookTransport {
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  return {
    async fetchHook({ url, headers, body, signal }) {
      const { origin, pathname, search } = new URL(url);
      const response = await agent.request({ origin, path: pathname + search, method: 'POST', headers, body, signal });
      return { code: response.statusCode, headers: response.headers, body: await response.body.text() };
    },
    close: () => agent.destroy(),
  };
}
