// What tests of the loop's rules share: a parent kind and a namespace for each test, a hook that handles each parent as its test
// says, and a loop over the parents.
import type { Test } from 'tap';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { isObject, textAt, withKey } from '../../../hooks/objects/json.ts';
import { type Client, connect, freeNamespace, must, waitFor } from '../client.ts';
import { type LoopKind, type LoopOptions, startLoop } from './loop.ts';
import { installParentKind, kubeconfigOfTests, type Received, type Scripted, startScriptedHook } from './scripted-hook.ts';

/** `number` counts the calls for the parent, from 1. */
type Behaviour = (call: Received, number: number) => Scripted | Promise<Scripted>;

export interface Stage {
  readonly client: Client;
  readonly finalizer: string;
  /** Creates a parent; `metadata` is added to its name and to the label that the loop selects. */
  parent(name: string, behave: Behaviour, metadata?: JsonObject): Promise<Staged>;
}

interface Staged {
  readonly path: string;
  calls(): readonly Received[];
  /** Resolves with the calls once there are that many. */
  called(count: number): Promise<readonly Received[]>;
  live(): Promise<JsonObject>;
  /** Resolves once the condition holds for the parent. */
  becomes(what: string, condition: (object: JsonObject) => boolean): Promise<JsonObject>;
  gone(): Promise<boolean>;
  /** Messages of Metacontroller's warnings about the parent. */
  warnings(): Promise<readonly string[]>;
  /** Resolves with the first warning that contains the text. */
  warned(text: string): Promise<string>;
}

const label = { loop: 'ours' };

export async function setStage(t: Test, kind: LoopKind, options: Partial<LoopOptions> = {}): Promise<Stage> {
  const kubeconfig = kubeconfigOfTests();
  const client = connect(kubeconfig);
  t.teardown(() => client.close());
  const parentResource = await installParentKind(client, t);
  const namespace = await freeNamespace(client, 'loop', t);
  const behaviours = new Map<string, Behaviour>();
  const hook = await startScriptedHook((call, number) => {
    const behave = behaviours.get(nameOf(call.parent));
    return behave === undefined ? { code: 500, body: 'no such parent' } : behave(call, number);
  });
  t.teardown(() => hook.stop());
  const name = `janus-${namespace}`;
  const loop = await startLoop({ kubeconfig, hookUrl: hook.url, name, kind, parentResource, matchLabels: label, ...options });
  t.teardown(() => loop.stop());

  return {
    client,
    finalizer: `metacontroller.io/compositecontroller-${name}`,
    async parent(name, behave, metadata = {}) {
      behaviours.set(name, behave);
      const collection = `/apis/${parentResource.apiVersion}/namespaces/${namespace}/transactions`;
      const object = { apiVersion: parentResource.apiVersion, kind: 'Transaction', spec: {} };
      must(await client.create(collection, { ...object, metadata: { name, labels: label, ...metadata } }));
      const calls = (): readonly Received[] => hook.received.filter((call) => nameOf(call.parent) === name);
      return { ...watching(client, `${collection}/${name}`, namespace), calls, called: (count) => called(calls, count) };
    },
  };
}

function nameOf(object: JsonObject): string {
  return textAt(object, 'metadata', 'name') ?? '';
}

function called(calls: () => readonly Received[], count: number): Promise<readonly Received[]> {
  return waitFor(() => calls().length >= count && calls(), `${count} calls of the hook`, { everyMs: 5 });
}

function watching(client: Client, path: string, namespace: string): Omit<Staged, 'calls' | 'called'> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const live = async (): Promise<JsonObject> => must(await client.get(path));
  const warnings = async (): Promise<readonly string[]> => {
    const { items } = await client.list(`/api/v1/namespaces/${namespace}/events`, {
      fieldSelector: `involvedObject.name=${name},reason=SyncError,type=Warning`,
    });
    return items.map((event) => textAt(event, 'message') ?? '');
  };
  return {
    path,
    live,
    warnings,
    becomes: (what, condition) =>
      waitFor(
        async () => {
          const object = await live();
          return condition(object) && object;
        },
        `${name} ${what}`,
        { everyMs: 10 },
      ),
    gone: () => waitFor(async () => (await client.get(path)).code === 404, `${name} to be gone`),
    warned: (text) => waitFor(async () => (await warnings()).find((one) => one.includes(text)), `a warning with ${text}`),
  };
}

/** A valid answer with a status. */
export function status(phase: string, version: number, more: JsonObject = {}): Scripted {
  return { body: { status: { phase, version }, children: [], ...more } };
}

/** The status of the call, without observedGeneration: nothing to store. */
export function asItWas({ parent }: Received, more: JsonObject = {}): Scripted {
  const found = isObject(parent.status) ? parent.status : {};
  return { body: { status: withKey(found, 'observedGeneration', undefined), children: [], ...more } };
}
