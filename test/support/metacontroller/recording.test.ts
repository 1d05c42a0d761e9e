// With the recorded answers, a loop makes the recorded calls: same order, same parents, same status writes, same waits. The double
// makes all of them, since its cache is late on purpose; the real one may lack the outdated duplicate.
import t, { type Test } from 'tap';
import { at, isList, isObject, type Json, type JsonObject, textAt, withKey, withPath } from '../../../hooks/objects/json.ts';
import { type Client, connect, freeNamespace, must, waitFor } from '../client.ts';
import { connectAsMetacontroller } from './connection.ts';
import { type LoopKind, startLoop } from './loop.ts';
import type { ParentResource } from './parents.ts';
import { type Recording, readRecordings, replay } from './recordings.ts';
import { installParentKind, kubeconfigOfTests, loopKinds, type Received, startScriptedHook } from './scripted-hook.ts';
import { readEvents, type WatchEvent } from './watch-stream.ts';

const kubeconfig = kubeconfigOfTests();
const client = connect(kubeconfig);
t.teardown(() => client.close());
const recordings = readRecordings();

for (const kind of loopKinds) {
  t.test(`the recorded script through the ${kind}`, { timeout: 120_000 }, async (t) => {
    const { received, history, events } = await play(t, kind);
    const made = kind === 'double' ? received : withoutDuplicates(received);
    const recorded = kind === 'double' ? recordings : withoutDuplicates(recordings);

    t.same(
      made.map(({ path }) => path),
      recorded.map(({ path }) => path),
      'the loop calls equal hooks in equal order',
    );
    t.same(anonymous(made), anonymous(recorded), 'the loop sends equal parents');
    for (const call of made) {
      t.same(Object.keys(call.request).sort(), ['children', 'controller', 'finalizing', 'parent', 'related']);
      t.equal(at(call.request, 'finalizing'), call.path === '/finalize');
      t.match(call.headers, { 'content-type': 'application/json', 'content-length': /^\d+$/ });
    }
    t.same(controllerOf(made[0]), controllerOf(recorded[0]), 'sends the controller');

    const states = history.slice(1, -1).map(({ object }) => ({ parent: object }));
    t.same(anonymous(states), anonymous(distinct(recordings)), 'the loop writes the finalizer, then each status once');
    t.match(
      history.at(-1),
      { type: 'DELETED', object: { status: { phase: 'RollingBack', version: 7 } } },
      'the last answer finds it gone',
    );

    checkWaits(t, made);
    t.equal(events.length, 2, 'two Events');
    t.match(
      events[0],
      /^Sync error: .*unsupported status code: 500 body: \{"error":"broken"\}/,
      'the body of a 500 lands in an Event',
    );
    t.match(
      events[1],
      /^Sync error: can't update status for Transaction .*status\.version must grow/,
      'the refusal causes an Event too',
    );
  });
}

interface Played {
  readonly received: readonly Received[];
  /** Every state of the parent, from its creation to its deletion. */
  readonly history: readonly WatchEvent[];
  /** Messages of its Events, in the order of their creation. */
  readonly events: readonly string[];
}

async function play(t: Test, kind: LoopKind): Promise<Played> {
  const resource = await installParentKind(client, t);
  const namespace = await freeNamespace(client, 'recording', t);
  const parents = `/apis/${resource.apiVersion}/namespaces/${namespace}/transactions`;
  const hook = await startScriptedHook(replay(recordings));
  t.teardown(() => hook.stop());
  const following = await follow(resource);
  t.teardown(() => following.stop());
  const name = `janus-${namespace}`;
  const loop = await startLoop({ kubeconfig, hookUrl: hook.url, name, kind, parentResource: resource, cacheLagMilliseconds: 40 });
  t.teardown(() => loop.stop());
  t.equal(loop.kind, kind);

  must(await client.create(parents, freshParent(resource, namespace), { fieldManager: 'kubectl-client-side-apply' }));
  const syncs = recordings.filter(({ path }) => path === '/sync').length;
  await waitFor(() => withoutDuplicates(hook.received).length === syncs - 1, 'all calls up to the resync by timer');
  must(await client.delete(`${parents}/deploy-v2`));
  await waitFor(() => following.history.at(-1)?.type === 'DELETED', 'the parent to be gone');
  await loop.stop();
  return { received: hook.received, history: following.history, events: await eventsIn(client, namespace) };
}

async function follow(resource: ParentResource) {
  const ending = new AbortController();
  const api = await connectAsMetacontroller({ kubeconfig, signal: ending.signal });
  const history: WatchEvent[] = [];
  const stream = await api.watch(`/apis/${resource.apiVersion}/transactions?watch=true`);
  const reading = (async () => {
    for await (const event of readEvents(stream)) history.push(event);
  })().catch(() => undefined);
  const stop = async (): Promise<void> => {
    ending.abort();
    await reading;
    await api.close();
  };
  return { history, stop };
}

function freshParent(resource: ParentResource, namespace: string): JsonObject {
  const recorded = recordings[0]?.parent ?? {};
  const annotations = at(recorded, 'metadata', 'annotations') ?? {};
  const spec = at(recorded, 'spec') ?? {};
  const metadata = { namespace, name: 'deploy-v2', annotations };
  return { apiVersion: resource.apiVersion, kind: 'Transaction', metadata, spec };
}

async function eventsIn(client: Client, namespace: string): Promise<readonly string[]> {
  const path = `/api/v1/namespaces/${namespace}/events`;
  const events = await waitFor(async () => {
    const { items } = await client.list(path);
    return items.length >= 2 && items;
  }, 'the Events of both errors');
  const byTime = (event: JsonObject): string => textAt(event, 'metadata', 'name') ?? '';
  const sorted = events.toSorted((left, right) => (byTime(left) < byTime(right) ? -1 : 1));
  return sorted.filter((event) => textAt(event, 'reason') === 'SyncError').map((event) => textAt(event, 'message') ?? '');
}

interface OfParent {
  readonly parent: JsonObject;
}

/** Without repeated first calls that still have the parent without status. */
function withoutDuplicates<T extends OfParent>(calls: readonly T[]): readonly T[] {
  return calls.filter(({ parent }, index) => index === 0 || at(parent, 'status') !== undefined);
}

function distinct(calls: readonly Recording[]): readonly Recording[] {
  return calls.filter(({ parent }, index) => versionOf(parent) !== versionOf(calls[index - 1]?.parent ?? {}));
}

function versionOf(parent: JsonObject): string {
  return textAt(parent, 'metadata', 'resourceVersion') ?? '';
}

/** The parents without what differs between runs: times, names, and versions (replaced by their rank). */
function anonymous(calls: readonly OfParent[]): readonly Json[] {
  const versions = [...new Set(calls.map(({ parent }) => versionOf(parent)))];
  return calls.map(({ parent }) => {
    const named = { uid: 'uid', namespace: 'namespace', resourceVersion: `#${versions.indexOf(versionOf(parent))}` };
    const metadata = { ...(at(parent, 'metadata') as JsonObject), ...named };
    return withoutTimes(withKey(withPath(parent, ['metadata'], metadata), 'apiVersion', 'version'));
  });
}

function withoutTimes(value: Json): Json {
  if (typeof value === 'string') return general(value);
  if (isList(value)) return value.map(withoutTimes);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [general(key), withoutTimes(member)]));
}

function general(text: string): string {
  return text
    .replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, 'time')
    .replace(/metacontroller\.io\/compositecontroller-[a-z0-9-]+/, 'finalizer')
    .replace(/^[a-z0-9.]*tx\.janus\.io\/v1(alpha1)?$/, 'version');
}

/** The parts of the controller object that do not depend on how it was created. */
function controllerOf(call: { readonly request: JsonObject } | undefined): Json {
  const controller = at(call?.request, 'controller');
  const webhook = (hook: string): Json => ({
    version: at(controller, 'spec', 'hooks', hook, 'version') ?? null,
    path: new URL(textAt(controller, 'spec', 'hooks', hook, 'webhook', 'url') ?? '').pathname,
    timeout: at(controller, 'spec', 'hooks', hook, 'webhook', 'timeout') ?? null,
  });
  return {
    apiVersion: at(controller, 'apiVersion') ?? null,
    kind: at(controller, 'kind') ?? null,
    generateSelector: at(controller, 'spec', 'generateSelector') ?? null,
    hooks: [webhook('sync'), webhook('finalize')],
    resource: at(controller, 'spec', 'parentResource', 'resource') ?? null,
    status: at(controller, 'status') ?? null,
  };
}

// The waits of the recording: after the 429, the two backoffs, and the resync timer. The resync of 1 s in the refused answer never
// comes: the backoff after the refusal replaced it.
const waits = [
  { from: '03-sync-answered-429.json', to: '04-sync-after-429.json', milliseconds: 2000 },
  { from: '05-sync-answered-500.json', to: '06-sync-after-500-answer-refused-by-crd.json', milliseconds: 5 },
  { from: '06-sync-after-500-answer-refused-by-crd.json', to: '07-sync-retry.json', milliseconds: 10 },
  { from: '07-sync-retry.json', to: '11-sync-by-resync-timer.json', milliseconds: 1500 },
];

function checkWaits(t: Test, made: readonly Received[]): void {
  const offset = made.length - recordings.length;
  const arrival = (file: string): number => made[recordings.findIndex((one) => one.file === file) + offset]?.at ?? Number.NaN;
  for (const { from, to, milliseconds } of waits) {
    const waited = arrival(to) - arrival(from);
    // Timers may be a little early compared with another clock; under load they may be late.
    t.ok(
      waited > milliseconds - 3 && waited < milliseconds + 5000,
      `${from} to ${to}: ${milliseconds} ms, found ${Math.round(waited)}`,
    );
  }
}
