// A cache of the parents, kept with LIST and WATCH like client-go's informer:
// 1. It reports every add, update, delete and relist, even if nothing changed.
// 2. Readers get the cache, which lags behind the API server by `lagMilliseconds` and a little more.
// 3. A watch that ends continues from the last version seen; one that breaks or is too old (410) leads to a new LIST.
import { isList, isObject, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { type Api, wait } from './connection.ts';
import { keyOf, listPath, type ParentResource } from './parents.ts';
import { readEvents, type WatchEvent } from './watch-stream.ts';

interface Informer {
  get(key: string): JsonObject | undefined;
  /** Fills the cache; rejects if the LIST fails. */
  list(): Promise<void>;
  /** Follows from the last LIST until the signal is aborted; then resolves. */
  follow(): Promise<void>;
}

interface InformerOptions {
  readonly api: Api;
  readonly resource: ParentResource;
  readonly signal: AbortSignal;
  readonly lagMilliseconds: number;
  /** Called after the cache has changed; `gone` if the object was deleted. */
  readonly changed: (object: JsonObject, gone: boolean) => void;
}

type Item = Readonly<Record<'apiVersion' | 'kind', string>>;

export function createInformer(options: InformerOptions): Informer {
  const { api, resource, signal } = options;
  const cache = createCache(options.changed);
  const later = createLag(options.lagMilliseconds);
  let version = '';

  async function list(): Promise<void> {
    const answer = await api.call('GET', listPath(resource));
    const items = isList(answer.items) ? answer.items.filter(isObject) : [];
    // Items of a list lack the type that a watch event has.
    const kind = (textAt(answer, 'kind') ?? '').replace(/List$/, '');
    later.clear();
    cache.replace(items.map((item) => ({ ...({ apiVersion: resource.apiVersion, kind } satisfies Item), ...item })));
    version = textAt(answer, 'metadata', 'resourceVersion') ?? '';
  }

  async function watch(): Promise<void> {
    const query = `watch=true&allowWatchBookmarks=true&timeoutSeconds=300&resourceVersion=${version}`;
    for await (const event of readEvents(await api.watch(`${listPath(resource)}?${query}`))) {
      version = textAt(event.object, 'metadata', 'resourceVersion') ?? version;
      if (event.type !== 'BOOKMARK') later.run(() => cache.apply(event));
    }
  }

  // Returns whether the watch ended normally; if not, a LIST is needed.
  async function watchToTheEnd(): Promise<boolean> {
    return watch().then(
      () => true,
      () => false,
    );
  }

  async function follow(): Promise<void> {
    while (!signal.aborted) {
      if (!(await watchToTheEnd())) await listPatiently();
    }
    later.clear();
  }

  async function listPatiently(): Promise<void> {
    for (let pause = 100; !signal.aborted; pause = Math.min(2 * pause, 30_000)) {
      // It pauses before the first LIST too: otherwise it would list without pause if a server breaks every watch.
      const listed = wait(pause, signal).then(list);
      if (
        await listed.then(
          () => true,
          () => false,
        )
      )
        return;
    }
  }

  return { get: cache.get, list, follow };
}

interface Cache {
  get(key: string): JsonObject | undefined;
  replace(items: readonly JsonObject[]): void;
  apply(event: WatchEvent): void;
}

function createCache(changed: InformerOptions['changed']): Cache {
  const objects = new Map<string, JsonObject>();
  return {
    get: (key) => objects.get(key),
    replace(items) {
      const present = new Set(items.map(keyOf));
      const gone = [...objects].filter(([key]) => !present.has(key));
      for (const [key] of gone) objects.delete(key);
      for (const item of items) objects.set(keyOf(item), item);
      for (const [, object] of gone) changed(object, true);
      for (const item of items) changed(item, false);
    },
    apply({ type, object }) {
      if (type === 'DELETED') objects.delete(keyOf(object));
      else objects.set(keyOf(object), object);
      changed(object, type === 'DELETED');
    },
  };
}

interface Lag {
  run(action: () => void): void;
  clear(): void;
}

function createLag(milliseconds: number): Lag {
  const timers = new Set<NodeJS.Timeout>();
  return {
    run(action) {
      if (milliseconds === 0) {
        action();
        return;
      }
      const timer = setTimeout(() => {
        timers.delete(timer);
        action();
      }, milliseconds);
      timers.add(timer);
    },
    clear() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}
