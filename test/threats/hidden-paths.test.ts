// The refusal of an object whose values messages must not show names the path and what is wrong there, and no value: in another
// namespace and in the cluster, for each way to write it. Of content from a Secret it names no path.
import t, { type Test } from 'tap';
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must } from '../support/client.ts';
import { stepToEnd } from '../support/stepping.ts';
import { asJson, contentFrom, holderOf, type Manifest } from '../support/stored-manifests.ts';
import { formsOf, openWorld, type World } from './canaries.ts';

interface Kind {
  readonly kind: string;
  readonly apiVersion: string;
  readonly plural: string;
  readonly isInCluster?: true;
  readonly good: JsonObject;
}

const service: Kind = {
  kind: 'Service',
  apiVersion: 'v1',
  plural: 'services',
  good: { spec: { ports: [{ port: 80, protocol: 'TCP' }] } },
};
const storage: Kind = {
  kind: 'StorageClass',
  apiVersion: 'storage.k8s.io/v1',
  plural: 'storageclasses',
  isInCluster: true,
  good: { provisioner: 'example.org/none' },
};

interface Wrong {
  readonly what: string;
  readonly of: Kind;
  readonly content: (value: string) => JsonObject;
  /** What the message says in brackets. Go's decoder, which reads a Create, names no key of a map. */
  readonly path: RegExp;
}

const wrongs: readonly Wrong[] = [
  {
    what: 'an unknown field',
    of: service,
    content: (value) => ({ spec: { sessionAfinity: value, ports: [{ port: 80, protocol: 'TCP', foo: value }] } }),
    path: /\.spec\.sessionAfinity: unknown field/,
  },
  {
    what: 'an unknown field in a list',
    of: service,
    content: (value) => ({ spec: { ports: [{ port: 80, protocol: 'TCP', foo: { [value]: value } }] } }),
    path: /\.spec\.ports\[0\]\.foo: unknown field/,
  },
  {
    what: 'a wrong type',
    of: service,
    content: (value) => ({ spec: { sessionAffinity: { x: value }, ports: [{ port: 80, protocol: 'TCP' }] } }),
    path: /\.spec\.sessionAffinity: wrong type/,
  },
  {
    what: 'a value that is not allowed',
    of: service,
    content: (value) => ({ spec: { sessionAffinity: value, ports: [{ port: 80, protocol: 'TCP' }] } }),
    path: /\.spec\.sessionAffinity: unsupported value/,
  },
  {
    what: 'an unknown field in the cluster',
    of: storage,
    content: (value) => ({ provisioner: 'example.org/none', provisionerr: value }),
    path: /\(\.provisionerr: unknown field/,
  },
  {
    what: 'a wrong type in the cluster',
    of: storage,
    content: (value) => ({ provisioner: 'example.org/none', parameters: { 'a.b/c': [value] } }),
    path: /\.parameters(\[a\.b\/c\])?: wrong type/,
  },
  {
    what: 'a value that is not allowed in the cluster',
    of: storage,
    content: (value) => ({ provisioner: 'example.org/none', volumeBindingMode: value }),
    path: /\.volumeBindingMode: (unsupported|invalid) value/,
  },
];

const types = ['Create', 'Apply', 'Patch', 'Update'] as const;

function placeOf({ elsewhere }: World, { apiVersion, plural, isInCluster }: Kind): string {
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  return isInCluster === true ? `${root}/${plural}` : `${root}/namespaces/${elsewhere}/${plural}`;
}

function referenceOf({ elsewhere }: World, { apiVersion, kind, isInCluster }: Kind, name: string): JsonObject {
  return { apiVersion, kind, name, ...(isInCluster === true ? {} : { namespace: elsewhere }) };
}

async function made(t: Test, world: World, kind: Kind, name: string): Promise<void> {
  const { client } = world.stage;
  const path = placeOf(world, kind);
  must(await client.create(path, { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name }, ...kind.good }));
  t.teardown(() => client.delete(`${path}/${name}`));
}

function hasNoValue(t: Test, world: World, text: string): void {
  t.notOk(
    world.values.flatMap(formsOf).some((form) => text.includes(form)),
    text,
  );
}

async function refused(world: World, name: string, change: JsonObject): Promise<{ phase: string; message: string; all: string }> {
  await world.stage.transaction(name, [change]);
  const { status } = await stepToEnd(world.stage, name);
  return { phase: textAt(status, 'phase') ?? '', message: textAt(status, 'message') ?? '', all: JSON.stringify(status) };
}

t.test('the message names the path and what is wrong, and no value', async (t) => {
  const world = await openWorld(t);
  for (const [index, { what, of, content, path }] of wrongs.entries())
    for (const type of types) {
      const name = `${world.elsewhere}-${index}-${type.toLowerCase()}`;
      if (type === 'Patch' || type === 'Update') await made(t, world, of, name);
      const target = referenceOf(world, of, name);
      const { phase, message, all } = await refused(world, name, { type, target, content: content(world.fresh()) });
      t.equal(phase, 'Failed', `${what}: ${type}`);
      t.match(message, path, `${what}: ${type}`);
      hasNoValue(t, world, all);
    }
  t.ok(world.values.length >= wrongs.length * types.length);
});

t.test('of content from a Secret the message names no path', async (t) => {
  const world = await openWorld(t);
  for (const [index, { what, of, content }] of wrongs.entries()) {
    const name = `${world.elsewhere}-secret-${index}`;
    const target = referenceOf(world, of, name);
    const object = { apiVersion: of.apiVersion, kind: of.kind, metadata: { name }, ...content(world.fresh()) };
    const source: Manifest = { kind: 'Secret', name: `source-${index}`, key: 'x', bytes: asJson(object), gzip: false };
    must(await world.stage.client.create(world.stage.path('secrets'), holderOf(source)));
    const { phase, message, all } = await refused(world, name, { type: 'Apply', target, contentFrom: contentFrom(source) });
    t.match([phase, message], ['Failed', /was refused by a dry run: (InvalidContent|Invalid|BadRequest)$/], what);
    hasNoValue(t, world, all);
  }
});
