// One interface for the hook's loop: the real Metacontroller if it is installed, otherwise the double.
import { randomBytes } from 'node:crypto';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { type Client, connect, must, waitFor } from '../client.ts';
import { findMetacontroller, loopLabel, startBinary } from './binary.ts';
import { controllerDefinitions } from './controller-crds.ts';
import { controllerSpec } from './controller-object.ts';
import { type MetacontrollerOptions, startMetacontroller, transactions } from './double.ts';

export type LoopKind = 'double' | 'metacontroller';

/** The double's options, without those that the real one cannot have. */
export interface LoopOptions extends Omit<MetacontrollerOptions, 'fetchHook' | 'cacheLagMilliseconds' | 'decorates'> {
  /** Default: the real one if METACONTROLLER names it or it is on PATH, otherwise the double. */
  readonly kind?: LoopKind;
  /** For the double only. */
  readonly cacheLagMilliseconds?: number;
}

export interface Loop {
  readonly kind: LoopKind;
  stop(): Promise<void>;
}

/** The recommended flags, for both: `--workers=50 --client-go-qps=1000 --client-go-burst=2000`. */
const tuned: Tuned = { workers: 50, qps: 1000, burst: 2000 };

type Tuned = Readonly<Record<'workers' | 'qps' | 'burst', number>>;

export async function startLoop(options: LoopOptions): Promise<Loop> {
  const kind = options.kind ?? (findMetacontroller() === undefined ? 'double' : 'metacontroller');
  if (kind === 'metacontroller') return startReal({ ...tuned, ...options });
  const double = await startMetacontroller({ ...tuned, ...options });
  return { kind, stop: double.stop };
}

const controllers = '/apis/metacontroller.k8s.io/v1alpha1/compositecontrollers';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

type RealOptions = LoopOptions & Tuned;

async function startReal(options: RealOptions): Promise<Loop> {
  const program = findMetacontroller();
  if (program === undefined)
    throw new Error('expected a Metacontroller, found none; let METACONTROLLER name its program, or put it on PATH');
  const client = connect(options.kubeconfig);
  const undo: (() => Promise<unknown>)[] = [() => client.close()];
  const stop = async (): Promise<void> => {
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step();
  };
  try {
    await installDefinitions(client);
    const loop = `loop-${randomBytes(4).toString('hex')}`;
    const binary = await startBinary({ ...options, program, selector: `${loopLabel}=${loop}` });
    undo.push(binary.stop);
    await createController(client, options, { loop, undo });
  } catch (error) {
    await stop();
    throw error;
  }
  return { kind: 'metacontroller', stop };
}

/** Leaves existing CRDs unchanged, and never removes one: other loops may use them. */
export async function installDefinitions(client: Client): Promise<void> {
  for (const definition of controllerDefinitions) {
    const answer = await client.create(definitions, definition);
    if (answer.code !== 409) must(answer);
  }
  await waitFor(async () => (await client.get(controllers)).code === 200, 'the CompositeController kind to be served');
}

interface Making {
  readonly loop: string;
  /** Functions that remove what was created, run from the last to the first. */
  readonly undo: (() => Promise<unknown>)[];
}

async function createController(client: Client, options: RealOptions, { loop, undo }: Making): Promise<void> {
  const name = options.name ?? 'janus';
  const resource = options.parentResource ?? transactions;
  const authorization = options.token === undefined ? {} : await createToken(client, options.token, { loop, undo });
  const webhook = { timeout: `${options.timeoutMilliseconds ?? 30_000}ms`, ...authorization };
  const object: JsonObject = {
    apiVersion: 'metacontroller.k8s.io/v1alpha1',
    kind: 'CompositeController',
    metadata: { name, labels: { [loopLabel]: loop } },
    spec: controllerSpec({ ...options, name, resource, matchLabels: options.matchLabels ?? {} }, webhook),
  };
  must(await client.create(controllers, object));
  undo.push(() => client.delete(`${controllers}/${name}`));
}

async function createToken(client: Client, token: string, { loop, undo }: Making): Promise<JsonObject> {
  const secrets = '/api/v1/namespaces/default/secrets';
  const name = `metacontroller-${loop}`;
  must(await client.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { token } }));
  undo.push(() => client.delete(`${secrets}/${name}`));
  return { authorization: { type: 'Bearer', secretRef: { name, namespace: 'default', key: 'token' } } };
}
