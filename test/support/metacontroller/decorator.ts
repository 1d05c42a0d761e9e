// The real Metacontroller with a DecoratorController as it is shipped, with the address and the token of a hook of the test.
import { randomBytes } from 'node:crypto';
import { at, type JsonObject, objectAt, objectsAt, withPath } from '../../../hooks/objects/json.ts';
import { type Client, must } from '../client.ts';
import { hookToken } from '../hook-token.ts';
import { readManifest } from '../install.ts';
import { findMetacontroller, loopLabel, startBinary } from './binary.ts';
import { installDefinitions } from './loop.ts';

interface DecoratorOptions {
  readonly client: Client;
  readonly kubeconfig: string;
  readonly hookUrl: string;
  /** Of the DecoratorController, under manifests/. */
  readonly manifest: string;
  /** It selects objects by no annotation, as manifests/packages/own/all says. */
  readonly isForAll?: boolean;
}

interface Decorator {
  /** Another process takes over: it lists all objects, and calls about each of them. */
  restart(): Promise<void>;
  /** Leaves the DecoratorController and all finalizers in place. */
  stop(): Promise<void>;
}

/** Throws if no Metacontroller is installed. */
export async function startDecorator(options: DecoratorOptions): Promise<Decorator> {
  const { client, kubeconfig } = options;
  const program = findMetacontroller() ?? '';
  const loop = `loop-${randomBytes(4).toString('hex')}`;
  await installDefinitions(client);
  const start = () => startBinary({ program, kubeconfig, selector: `${loopLabel}=${loop}`, workers: 50, qps: 1000, burst: 2000 });
  let binary = await start();
  must(await client.create('/apis/metacontroller.k8s.io/v1alpha1/decoratorcontrollers', await controllerOf(options, loop)));
  return {
    restart: async () => {
      await binary.stop();
      binary = await start();
    },
    stop: () => binary.stop(),
  };
}

async function controllerOf({ client, hookUrl, manifest, isForAll }: DecoratorOptions, loop: string): Promise<JsonObject> {
  const [shipped = {}] = await readManifest(manifest);
  const secret = { metadata: { name: loop }, stringData: { token: hookToken } };
  must(await client.create('/api/v1/namespaces/default/secrets', secret));
  const authorization = { type: 'Bearer', secretRef: { name: loop, namespace: 'default', key: 'token' } };
  const hooks = Object.fromEntries(
    Object.entries(objectAt(shipped, 'spec', 'hooks')).map(([name, one]) => {
      const { pathname } = new URL(String(at(one, 'webhook', 'url')));
      const timeout = at(one, 'webhook', 'timeout') ?? '';
      return [name, { version: 'v2', webhook: { url: `${hookUrl}${pathname}`, timeout, authorization } }];
    }),
  );
  const resources = objectsAt(shipped, 'spec', 'resources').map(({ annotationSelector, ...one }) =>
    isForAll === true || annotationSelector === undefined ? one : { ...one, annotationSelector },
  );
  return withPath({ ...shipped, spec: { resources, hooks } }, ['metadata', 'labels', loopLabel], loop);
}
