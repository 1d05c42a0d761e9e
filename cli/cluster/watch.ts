// Watches. Each is one request, to the host and with the credentials of all other requests. Like these, it follows no redirect and
// unpacks nothing. Unread data stays in the connection, and a line has a bound.
import { at, isObject, type JsonObject, parseJson, textAt } from '../../hooks/objects/json.ts';
import type { Connection } from '../../server/kubernetes/connection.ts';
import { createPools } from '../../server/kubernetes/pools.ts';
import { unlessAborted } from '../io.ts';

interface WatchEvent {
  readonly type: string;
  readonly object: JsonObject;
}

interface WatchQuery {
  /** A path of the API server, such as `/api/v1/pods`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly accept?: string;
}

export interface Watcher {
  /**
   * Yields the events of one watch until it ends. It ends if the API server closes it, if it brings no event for 30 s, if the connection
   * breaks, or by `signal`. The reason does not matter: the caller reads again, and that read reports failures.
   */
  events(wanted: WatchQuery, signal: AbortSignal): AsyncIterable<WatchEvent>;
}

/** In ms. */
const longestSilence = 30_000;
/** In UTF-16 units. An event holds one object. */
const longestLine = 16 * 1024 * 1024;

export function createWatcher(connection: Connection): Watcher {
  const pools = createPools(connection, { connections: 1, longestAnswer: -1, requestTimeout: longestSilence });
  const bodyOf = async ({ path, query, accept = 'application/json' }: WatchQuery, signal: AbortSignal) => {
    const { headers, tls } = connection.known() ?? (await connection.credentials());
    const { statusCode, body } = await pools.poolFor(tls).request({
      origin: connection.server.origin,
      method: 'GET',
      path: `${connection.server.pathname.replace(/\/+$/, '')}${path}?${new URLSearchParams({ ...query, watch: 'true' })}`,
      headers: { accept, 'user-agent': 'janus', ...headers },
      signal,
      reset: true,
    });
    if (statusCode === 401) connection.refused();
    if (statusCode === 200) return body;
    body.on('error', () => undefined).destroy();
    return undefined;
  };
  return {
    async *events(wanted, signal) {
      const ending = new AbortController();
      try {
        const body = await unlessAborted(bodyOf(wanted, AbortSignal.any([signal, ending.signal])), signal);
        if (body !== undefined) for await (const line of linesIn(body.setEncoding('utf8'))) yield* eventIn(line);
      } catch {
        // The caller reads again. The message is dropped because it may hold a token, if a plugin gives no credentials.
      } finally {
        ending.abort();
      }
    },
  };
}

async function* linesIn(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const text of texts) {
    const lines = text.split('\n');
    const last = lines.pop() ?? '';
    for (const line of lines) {
      yield rest + line;
      rest = '';
    }
    rest += last;
    if (rest.length > longestLine) return;
  }
}

/** Yields nothing for a line that is not an event. */
function eventIn(line: string): readonly WatchEvent[] {
  const event = parsed(line);
  const [type, object] = [textAt(event, 'type'), at(event, 'object')];
  return type !== undefined && isObject(object) ? [{ type, object }] : [];
}

function parsed(line: string) {
  try {
    return parseJson(line);
  } catch {
    return undefined;
  }
}

/** The version to watch from: the version of an object, or of a list. */
export function versionIn(object: JsonObject): string {
  return textAt(object, 'metadata', 'resourceVersion') ?? '';
}
