// Every position of every kind of list in which a value may lie that a path could name: in kinds of our own and in those of Kubernetes.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { type Client, must, waitFor } from '../support/client.ts';

const holder = { apiVersion: 'lists.threats.test/v1', kind: 'Holder', plural: 'holders' } as const;

const text = { type: 'string' };
const number = { type: 'integer', format: 'int64' };
const object = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required,
});
const list = (type: string, items: JsonObject, keys?: readonly string[]): JsonObject => ({
  type: 'array',
  items,
  'x-kubernetes-list-type': type,
  ...(keys === undefined ? {} : { 'x-kubernetes-list-map-keys': keys }),
});
const keyed = (properties: JsonObject): JsonObject => list('map', object({ name: text, ...properties }, ['name']), ['name']);

const spec = object({
  set: list('set', text),
  numbers: list('set', number),
  one: keyed({ value: text }),
  two: list('map', object({ name: text, number, value: text }, ['name', 'number']), ['name', 'number']),
  atomic: list('atomic', object({ name: text })),
  texts: list('atomic', text),
  nested: keyed({
    set: list('set', text),
    inner: keyed({ set: list('set', text) }),
    map: { type: 'object', additionalProperties: list('set', text) },
  }),
  map: { type: 'object', additionalProperties: object({ set: list('set', text), one: keyed({ value: text }) }) },
  scalar: text,
});

export async function installHolders(client: Client): Promise<void> {
  const [group = '', version = ''] = holder.apiVersion.split('/');
  const schema = { openAPIV3Schema: object({ spec }) };
  const names = { kind: holder.kind, plural: holder.plural };
  const versions = [{ name: version, served: true, storage: true, schema }];
  const definition = { metadata: { name: `${holder.plural}.${group}` }, spec: { group, scope: 'Namespaced', names, versions } };
  const created = await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  if (created.code !== 409) must(created);
  const probe = `/apis/${holder.apiVersion}/namespaces/default/${holder.plural}/probe`;
  await waitFor(
    async () => (await client.apply(probe, { ...typeOf(holder), metadata: { name: 'probe' } })).code < 300,
    'Holders to be served',
  );
  must(await client.delete(probe));
}

interface Place {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
}

export function typeOf({ apiVersion, kind }: Place): JsonObject {
  return { apiVersion, kind };
}

/** One position. `content` holds the values where a path would name them; `more` is what our change, or a person, writes beside. */
export interface Position extends Place {
  readonly what: string;
  readonly content: (value: string, number: number, more: string) => JsonObject;
  /** No path goes into it: the engine shows it as a whole. */
  readonly isWhole?: true;
}

const held = (
  what: string,
  content: (value: string, number: number, more: string) => JsonObject,
  more: Partial<Position> = {},
): Position => ({
  ...holder,
  what,
  content: (value, number, beside) => ({ spec: content(value, number, beside) }),
  ...more,
});

const built = (what: string, kind: string, content: Position['content']): Position => ({
  what,
  apiVersion: 'v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  content,
});

export const positions: readonly Position[] = [
  held('a member of a set', (value) => ({ set: [value] })),
  held('a number in a set', (_, number) => ({ numbers: [number] })),
  held('the key of an item', (value, _, more) => ({ one: [{ name: value, value: more }] })),
  held('two keys of an item', (value, number, more) => ({ two: [{ name: value, number, value: more }] })),
  held('an atomic list of objects', (value) => ({ atomic: [{ name: value }] }), { isWhole: true }),
  held('an atomic list of texts', (value) => ({ texts: [value] }), { isWhole: true }),
  held('a set in an item', (value) => ({ nested: [{ name: value, set: [value] }] })),
  held('a set in an item of an item', (value) => ({ nested: [{ name: value, inner: [{ name: value, set: [value] }] }] })),
  held('a set in a map in an item', (value) => ({ nested: [{ name: value, map: { entry: [value] } }] })),
  held('a set and an item in a map', (value, _, more) => ({
    map: { entry: { set: [value], one: [{ name: value, value: more }] } },
  })),
  held('a scalar', (value) => ({ scalar: value }), { isWhole: true }),
  built('a finalizer of a Secret', 'Secret', (value) => ({
    metadata: { finalizers: [`example.org/${value}`] },
  })),
  built('the uid of an owner', 'ConfigMap', (value) => ({
    metadata: { ownerReferences: [{ apiVersion: 'example.org/v1', kind: 'Unserved', name: value, uid: value }] },
  })),
  built('the port of a Service', 'Service', (value, number, more) => ({
    spec: { ports: [{ name: value.slice(0, 15), port: 1 + (number % 60_000), targetPort: more.slice(0, 8) }] },
  })),
  built('the environment of a container', 'PodTemplate', (value, _, more) => ({
    template: { spec: { containers: [{ name: value, image: 'example.org/one:1', env: [{ name: value, value: more }] }] } },
  })),
];
