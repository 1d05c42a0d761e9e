// Watches: client-node's, with an Accept header where rows of a Table are wanted. It parses plainly, so integers above 2^53 lose
// digits: for states, never for content.
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { Watch } from '@kubernetes/client-node/dist/watch.js';
import { at, type JsonObject } from '../../hooks/model/json.ts';
import { unlessAborted } from '../io.ts';

interface WatchEvent {
  readonly type: string;
  readonly object: JsonObject;
}

interface WatchQuery {
  /** Of the API server, such as `/api/v1/pods`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly accept?: string;
}

export interface Watcher {
  /**
   * The events of one watch, until it ends: closed by the API server, without news for 30 s, broken, or `signal`. How it ended
   * does not matter: the caller reads again, which says what is wrong, and watches from there.
   */
  events(wanted: WatchQuery, signal: AbortSignal): AsyncIterable<WatchEvent>;
}

export function createWatcher(config: KubeConfig): Watcher {
  return { events: (wanted, signal) => eventsOf(config, wanted, signal) };
}

async function* eventsOf(
  config: KubeConfig,
  { path, query, accept }: WatchQuery,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent> {
  const queue: WatchEvent[] = [];
  let ended = false;
  let wake = (): void => undefined;
  const end = (): void => {
    ended = true;
    wake();
  };
  signal.addEventListener('abort', end, { once: true });
  const receive = (type: string, object: JsonObject): void => {
    queue.push({ type, object });
    wake();
  };
  const watch = new Watch(accept === undefined ? config : accepting(config, accept));
  // Rejects where a plugin gives no credentials; its words may hold a token.
  const begun = watch.watch(path, query, receive, end).catch(end);
  try {
    await unlessAborted(begun, signal);
    while (!signal.aborted) {
      const event = queue.shift();
      if (event !== undefined) yield event;
      else if (ended) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    signal.removeEventListener('abort', end);
    void begun.then((controller) => controller?.abort());
  }
}

type Security = Pick<KubeConfig, 'applySecurityAuthentication'>;

/** The same configuration, whose requests have an Accept header. */
function accepting(config: KubeConfig, accept: string): KubeConfig {
  const applySecurityAuthentication: Security['applySecurityAuthentication'] = async (context) => {
    await config.applySecurityAuthentication(context);
    context.setHeaderParam('Accept', accept);
  };
  return Object.assign(Object.create(config) as KubeConfig, { applySecurityAuthentication });
}

/** The version to watch from: that of an object, or of a list. */
export function versionIn(object: JsonObject): string {
  const version = at(object, 'metadata', 'resourceVersion');
  return typeof version === 'string' ? version : '';
}
