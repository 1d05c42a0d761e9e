// Metacontroller's loop over one parent resource, for tests and the demo: a CompositeController with generateSelector, sync and
// finalize hooks of version v2, and no childResources. It follows the rules of the real one:
// 1. Every add, update, delete and relist of a parent enqueues it; one worker per parent.
// 2. It adds its finalizer first, with a separate update, whose event causes a duplicate call.
// 3. A call sends the parent from the cache, which may be outdated; to /finalize if the parent is being deleted.
// 4. After an answer it first queues resyncAfterSeconds, then removes the finalizer if the answer says so, then stores the status.
// 5. After a 429 it stores nothing and calls again after Retry-After. After any other answer that is no valid 200 it writes an
//    Event and backs off.
// 6. It does not write a status that is already stored, and wakes no watcher.
// 7. Its requests to the API server may be limited; by default they are not. It leaves out children and etags, which the project does
//    not use.
// 8. With a customize hook, calls hold the related objects, and a change of one enqueues its parents (related.ts).
// 9. As a DecoratorController without attachments, its calls say `object` in place of `parent`. It replaces the status of the version in
//    the cache (a conflict is an error), adds no observedGeneration to it, and leaves it as it is if the answer has none.
import { setMaxListeners } from 'node:events';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import type { ControllerKind } from './answer.ts';
import { type Api, connectAsMetacontroller, hasCode, wait } from './connection.ts';
import { controllerObject } from './controller-object.ts';
import { createEventRecorder } from './events.ts';
import { createCustomize, createHookClient, type FetchHook, httpTransport, type RecordedCall } from './hook-call.ts';
import { createInformer } from './informer.ts';
import { tokenBucket } from './limits.ts';
import { keyOf, type ParentResource, parentsOf } from './parents.ts';
import { createQueue } from './queue.ts';
import { createRelated } from './related.ts';
import { concerns, process, type SyncParts } from './sync.ts';

export interface MetacontrollerOptions {
  /** The path of the file. */
  readonly kubeconfig: string;
  /** The URL without `/sync` and `/finalize`. */
  readonly hookUrl: string;
  /** The name of the CompositeController, which is part of the finalizer; default `janus`. */
  readonly name?: string;
  readonly parentResource?: ParentResource;
  /** Whether the hook has `/customize`, which names related objects. */
  readonly customize?: boolean;
  /** A DecoratorController, which handles only objects with these annotations. A CompositeController if absent. */
  readonly decorates?: Readonly<Record<string, string>>;
  /**
   * It handles only parents with these labels; all parents if absent. Loops that share a cluster need different labels and names: a
   * loop also takes parents with its finalizer, and finalizes them if they lack its labels.
   */
  readonly matchLabels?: Readonly<Record<string, string>>;
  /** Parents handled in parallel; default 5. */
  readonly workers?: number;
  /** Requests per second to the API server, and the burst; unlimited by default. The real one has 5 and 10. */
  readonly qps?: number;
  readonly burst?: number;
  /** The timeout of one call of the hook; default 30 s. */
  readonly timeoutMilliseconds?: number;
  /** The bearer token for the hook. */
  readonly token?: string;
  /** Called instead of HTTP. */
  readonly fetchHook?: FetchHook;
  /** A delay before the cache learns of a change; default 0. It makes outdated parents certain. */
  readonly cacheLagMilliseconds?: number;
}

export interface Metacontroller {
  /** In the order of their ends. */
  readonly calls: readonly RecordedCall[];
  /** Ends the current calls, and resolves once nothing of the loop runs. Leaves finalizers in place. May be called again. */
  stop(): Promise<void>;
}

export const transactions: ParentResource = { apiVersion: 'tx.janus.io/v1alpha1', resource: 'transactions' };

/** Resolves once the cache is filled; rejects if the API server refuses that, or does not serve the resource. */
export async function startMetacontroller(options: MetacontrollerOptions): Promise<Metacontroller> {
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  const calls: RecordedCall[] = [];
  const transport = httpTransport();
  const api = await connectAsMetacontroller({ kubeconfig: options.kubeconfig, signal: ending.signal, ...limit(options) });
  const events = createEventRecorder(api);
  const parts = assemble(options, { api, signal: ending.signal, events, transport: transport.fetchHook, calls });
  let following = Promise.resolve();

  const stop = async (): Promise<void> => {
    ending.abort(new Error('the loop was stopped'));
    await Promise.all([parts.queue.close(), following, parts.related.settled(), events.settled()]);
    await Promise.all([api.close(), transport.close()]);
  };

  try {
    await served(api, options.parentResource ?? transactions, ending.signal);
    await parts.informer.list();
  } catch (error) {
    await stop();
    throw error;
  }
  following = parts.informer.follow();
  return { calls, stop };
}

function limit({ qps, burst = 10 }: MetacontrollerOptions): { bucket?: ReturnType<typeof tokenBucket> } {
  return qps === undefined ? {} : { bucket: tokenBucket({ perSecond: qps, burst }) };
}

interface Candidates {
  readonly api: Api;
  readonly signal: AbortSignal;
  readonly events: ReturnType<typeof createEventRecorder>;
  readonly transport: FetchHook;
  readonly calls: RecordedCall[];
}

function clientOf(
  options: MetacontrollerOptions,
  { signal, transport, calls }: Pick<Candidates, 'signal' | 'transport' | 'calls'>,
) {
  const kind: ControllerKind = options.decorates === undefined ? 'CompositeController' : 'DecoratorController';
  return {
    kind,
    hookUrl: options.hookUrl,
    ...(options.token === undefined ? {} : { token: options.token }),
    timeoutMilliseconds: options.timeoutMilliseconds ?? 30_000,
    fetchHook: options.fetchHook ?? transport,
    signal,
    record: (call: RecordedCall) => calls.push(call),
  };
}

function assemble(options: MetacontrollerOptions, { api, signal, events, transport, calls }: Candidates) {
  const resource = options.parentResource ?? transactions;
  const client = clientOf(options, { signal, transport, calls });
  const name = options.name ?? 'janus';
  const matchLabels = options.matchLabels ?? {};
  const customize = options.customize === true;
  const { decorates, hookUrl } = options;
  const controller = controllerObject({ name, resource, hookUrl, matchLabels, customize, ...(decorates && { decorates }) });
  const related = createRelated({ api, signal, enqueue: (key) => queue.add(key) });
  const ask = createCustomize(client);
  const sync: SyncParts = {
    controller,
    matchLabels,
    ...(decorates === undefined ? {} : { decorates }),
    parents: parentsOf(api, resource, signal),
    callHook: createHookClient(client),
    ...(customize ? { related: (parent: JsonObject) => related.of(parent, () => ask({ controller, parent }, parent)) } : {}),
    events,
    signal,
    cached: (key) => informer.get(key),
    enqueueAfter: (key, seconds) => queue.addAfter(key, seconds),
  };
  const queue = createQueue({ workers: options.workers ?? 5, process: (key) => process(sync, key) });
  const informer = createInformer({
    api,
    resource,
    signal,
    lagMilliseconds: options.cacheLagMilliseconds ?? 0,
    changed(object, gone) {
      if (gone) events.forget(object);
      if (concerns(sync, object)) queue.add(keyOf(object));
    },
  });
  return { queue, informer, related };
}

/** A kind is served some time after it is defined; the real one finds it at its next discovery. */
async function served(api: Api, { apiVersion, resource }: ParentResource, signal: AbortSignal): Promise<void> {
  for (const end = performance.now() + 30_000; performance.now() < end; await wait(100, signal)) {
    if (await found(api, `/apis/${apiVersion}/${resource}?limit=1`)) return;
  }
  const problem = `${resource} in ${apiVersion}: expected the API server to serve them, found 404 for 30 s`;
  throw new Error(`${problem}; apply their CustomResourceDefinition`);
}

async function found(api: Api, path: string): Promise<boolean> {
  try {
    await api.call('GET', path);
    return true;
  } catch (error) {
    if (hasCode(error, 404)) return false;
    throw error;
  }
}
