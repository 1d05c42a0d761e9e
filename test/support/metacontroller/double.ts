// Metacontroller's loop over one parent resource, for tests and the demo: a CompositeController with generateSelector,
// sync and finalize hooks of version v2, and no childResources. The rules are those of the real one:
// 1. Every add, update, delete and relist of a parent enqueues it; one worker per parent.
// 2. Its finalizer comes first, by an update of its own, whose event causes a duplicate call.
// 3. A call carries the parent out of the cache, which may be old; of a parent that is being deleted, to /finalize.
// 4. An answer: first resyncAfterSeconds is queued, then the finalizer removed if so answered, then the status stored.
// 5. 429: nothing is stored, called again after Retry-After. All else than a good 200: an Event, and backoff.
// 6. A status that is already there is not written, and wakes nobody.
// 7. Requests to the API server may be limited; by default they are not.
// What it leaves out: children, related objects, customize and etags, of which the project declares none.
import { setMaxListeners } from 'node:events';
import { type Api, connectAsMetacontroller, hasCode, wait } from './connection.ts';
import { controllerObject } from './controller-object.ts';
import { createEventRecorder } from './events.ts';
import { createHookClient, type FetchHook, httpTransport, type RecordedCall } from './hook-call.ts';
import { createInformer } from './informer.ts';
import { tokenBucket } from './limits.ts';
import { keyOf, type ParentResource, parentsOf } from './parents.ts';
import { createQueue } from './queue.ts';
import { concerns, process, type SyncParts } from './sync.ts';

export interface MetacontrollerOptions {
  /** Path of a file. */
  readonly kubeconfig: string;
  /** Of the hook, without `/sync` and `/finalize`. */
  readonly hookUrl: string;
  /** Of the CompositeController, and so of the finalizer; default `janus`. */
  readonly name?: string;
  readonly parentResource?: ParentResource;
  /**
   * Only parents with these labels are its own; all, when absent. Loops that share a cluster need other labels and other
   * names: parents that carry the finalizer of a loop are its own too, and without the labels they get finalized.
   */
  readonly matchLabels?: Readonly<Record<string, string>>;
  /** How many parents are worked on at once; default 5. */
  readonly workers?: number;
  /** Requests a second to the API server, and how many at a stretch; unlimited by default. The real one has 5 and 10. */
  readonly qps?: number;
  readonly burst?: number;
  /** For one call of the hook; default 30 s. */
  readonly timeoutMilliseconds?: number;
  /** Sent to the hook as bearer token. */
  readonly token?: string;
  /** Called in place of HTTP. */
  readonly fetchHook?: FetchHook;
  /** How much later than it could the cache learns of a change; default 0. Makes outdated parents certain. */
  readonly cacheLagMilliseconds?: number;
}

export interface Metacontroller {
  /** In the order in which they ended. */
  readonly calls: readonly RecordedCall[];
  /** Ends the calls under way and resolves when nothing of the loop runs any more. Finalizers stay where they are. May be called again. */
  stop(): Promise<void>;
}

export const transactions: ParentResource = { apiVersion: 'tx.janus.io/v1alpha1', resource: 'transactions' };

/** Resolves when the cache is filled; rejects when the API server does not let it, or does not serve the resource. */
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
    await Promise.all([parts.queue.close(), following, events.settled()]);
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

interface Surroundings {
  readonly api: Api;
  readonly signal: AbortSignal;
  readonly events: ReturnType<typeof createEventRecorder>;
  readonly transport: FetchHook;
  readonly calls: RecordedCall[];
}

function assemble(options: MetacontrollerOptions, { api, signal, events, transport, calls }: Surroundings) {
  const resource = options.parentResource ?? transactions;
  const callHook = createHookClient({
    hookUrl: options.hookUrl,
    ...(options.token === undefined ? {} : { token: options.token }),
    timeoutMilliseconds: options.timeoutMilliseconds ?? 30_000,
    fetchHook: options.fetchHook ?? transport,
    signal,
    record: (call) => calls.push(call),
  });
  const name = options.name ?? 'janus';
  const matchLabels = options.matchLabels ?? {};
  const sync: SyncParts = {
    controller: controllerObject({ name, resource, hookUrl: options.hookUrl, matchLabels }),
    matchLabels,
    parents: parentsOf(api, resource, signal),
    callHook,
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
  return { queue, informer };
}

/** A kind just defined is served a moment later; the real one finds it at its next look. */
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
