// The cluster of generated runs: the objects by path, and a kind of our own with lists of all types.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { type Answer, type Client, must, type Teardown, waitFor } from '../support/client.ts';
import type { Stage } from '../support/stage.ts';
import { type Kind, releases, type Write } from './arbitraries.ts';

/** Its own in each process: test files that share a control plane do not meet. */
const group = `generated-${process.pid}.test.janus.io`;
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const text = { type: 'string' };
const number = { type: 'integer' };
const map = { type: 'object', additionalProperties: text };

const part = { type: 'object', required: ['name'], properties: { name: text, count: number, options: map } };

const spec = {
  type: 'object',
  properties: {
    size: { ...number, default: 1 },
    color: text,
    fixed: { ...text, 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'it is immutable' }] },
    parts: { type: 'array', items: part, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
    tags: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    notes: { type: 'array', items: text },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
};

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets' },
    versions: [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } },
    ],
  },
};

/** Installs the kind; resolves once its objects can be written, server-side apply included. */
export async function installWidgets({ client, path }: Pick<Stage, 'client' | 'path'>, t: Teardown): Promise<void> {
  t.teardown(() => client.delete(`${definitions}/widgets.${group}`));
  must(await client.create(definitions, definition));
  const probe = path(`${group}/v1/widgets/probe`);
  const object = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'probe' } };
  await waitFor(async () => (await client.apply(probe, object)).code === 201, 'Widgets to be served');
  must(await client.delete(probe));
}

const places: Readonly<Record<Kind, { readonly apiVersion: string; readonly plural: string }>> = {
  ConfigMap: { apiVersion: 'v1', plural: 'configmaps' },
  Secret: { apiVersion: 'v1', plural: 'secrets' },
  Service: { apiVersion: 'v1', plural: 'services' },
  Widget: { apiVersion: `${group}/v1`, plural: `${group}/v1/widgets` },
};

export function apiVersionOf(kind: Kind): string {
  return places[kind].apiVersion;
}

export function pathOf(stage: Stage, kind: Kind, name: string): string {
  return stage.path(`${places[kind].plural}/${name}`);
}

export function collectionOf(stage: Stage, kind: Kind): string {
  return stage.path(places[kind].plural);
}

/** The stage, with that namespace in the place of its own. */
export function within(stage: Stage, namespace: string): Stage {
  const path = (suffix: string): string =>
    stage.path(suffix).replace(`/namespaces/${stage.namespace}/`, `/namespaces/${namespace}/`);
  return { ...stage, namespace, path };
}

export interface Named {
  /** Where it is another than that of the stage. */
  readonly namespace?: string;
  readonly path: string;
  readonly kind: Kind;
  readonly name: string;
}

/** Somebody's write. Where it is refused (a conflict of types, an object that is gone), it has not happened. */
export function writeAs(client: Client, { path, kind, name }: Named, write: Write, fieldManager: string): Promise<Answer> {
  const object: JsonObject = { apiVersion: apiVersionOf(kind), kind, ...write.content, metadata: { ...metadataOf(write), name } };
  return write.how === 'merge'
    ? client.patch(path, write.content, 'merge', { fieldManager })
    : client.apply(path, object, { fieldManager: write.isRelease === true ? releases : fieldManager });
}

function metadataOf({ content }: Write): JsonObject {
  return (content.metadata ?? {}) as JsonObject;
}
