// Loaded into a hook's process before its program (`node --import`): counts the requests of the hook's calls to the API server, and
// has the process killed or stopped at exactly one of them. The program itself is as users start it.
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';

/** `before`: nothing of the request is sent; `sent`: the system has it; `after`: the head of its answer has arrived. */
export type Moment = 'before' | 'sent' | 'after';

export interface Strike {
  /** Number of the request; or how it begins, `METHOD path?`, for the first such request that is no dry run. */
  readonly at: number | string;
  readonly moment: Moment;
  readonly signal: NodeJS.Signals;
}

export type ToSwitch =
  /** Counts from 1 again. */
  { readonly kind: 'arm'; readonly strike?: Strike } | { readonly kind: 'count' };

export type FromSwitch = { readonly kind: 'armed' } | { readonly kind: 'counted'; readonly requests: readonly string[] };

/** The event of undici's diagnostics channels. */
interface Sent {
  readonly request: { readonly method: string; readonly path: string };
}

// Only requests within calls count: no crash is tried at background work (the sealing key, garbage collection, readiness).
const inCall = new AsyncLocalStorage<boolean>();
const numbers = new WeakMap<Sent['request'], number>();
const requests: string[] = [];
let strike: Strike | undefined;

subscribe('http.server.request.start', (message) => {
  const { url } = (message as { readonly request: IncomingMessage }).request;
  inCall.enterWith(url === '/sync' || url === '/finalize');
});

subscribe('undici:request:create', (message) => {
  const { request } = message as Sent;
  if (inCall.getStore() !== true || request.path.includes('/events')) return;
  requests.push(`${request.method} ${request.path}`);
  numbers.set(request, requests.length);
  struck(request, 'before');
});
subscribe('undici:request:bodySent', (message) => struck((message as Sent).request, 'sent'));
subscribe('undici:request:headers', (message) => struck((message as Sent).request, 'after'));

function struck(request: Sent['request'], moment: Moment): void {
  if (strike === undefined || strike.moment !== moment || !isAt(strike, request)) return;
  const { signal } = strike;
  strike = undefined;
  process.kill(process.pid, signal);
}

function isAt({ at }: Strike, request: Sent['request']): boolean {
  const number = numbers.get(request);
  if (number === undefined || typeof at === 'number') return number === at;
  const text = requests[number - 1] ?? '';
  return text.startsWith(at) && !text.includes('dryRun');
}

process.on('message', (message: ToSwitch) => {
  if (message.kind === 'count') return notify({ kind: 'counted', requests });
  requests.length = 0;
  strike = message.strike;
  notify({ kind: 'armed' });
});
process.channel?.unref();

function notify(message: FromSwitch): void {
  process.send?.(message);
}
