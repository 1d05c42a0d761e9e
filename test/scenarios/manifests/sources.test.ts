// Contents from ConfigMaps and Secrets: how they may be stored, what is sent, what an undo restores after their sources are deleted.
import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { at, isList, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { inAllOnly } from '../../support/selection.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { step, stepUntil } from '../../support/stepping.ts';
import { asJson, asYaml, contentFrom, holderOf, type Manifest, pluralOf } from '../../support/stored-manifests.ts';
import { change, createConfigMaps, portraits, type TargetParts } from '../../support/targets.ts';

async function store({ client, path }: Stage, manifests: readonly Manifest[]): Promise<void> {
  for (const one of manifests) must(await client.create(path(pluralOf(one)), holderOf(one)));
}

async function discard({ client, path }: Stage, manifests: readonly Manifest[]): Promise<void> {
  for (const one of manifests) must(await client.delete(path(`${pluralOf(one)}/${one.name}`)));
}

function from(type: string, name: string, source: JsonObject, parts: TargetParts = {}): JsonObject {
  return { ...change(type, name, undefined, parts), contentFrom: source };
}

async function undo(stage: Stage, name: string): Promise<void> {
  await stage.annotate(name, { 'tx.janus.io/request-rollback': 'yes' });
  await stage.phase(name, 'RolledBack');
  await stage.finished(name);
}

const green = { data: { color: 'green' } };

t.test('the engine reads contents from sources', async (t) => {
  const stage = await startStage(t);
  await t.test('the engine applies each form for each type of change, and undoes it without the sources', (t) =>
    eachForm(t, stage),
  );
  await t.test('the engine creates an instance after its CRD from a source is served, and the instance keeps all digits', (t) =>
    definition(t, stage),
  );
  await t.test('the engine applies sources of 10 MiB', inAllOnly, (t) => large(t, stage));
  t.same(await stage.leases(), [], 'no lock is left');
});

async function eachForm(t: Test, stage: Stage): Promise<void> {
  const { client, path } = stage;
  const whole = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'updated' }, ...green };
  const manifests: readonly Manifest[] = [
    { kind: 'ConfigMap', name: 'one', key: 'created.json', bytes: asJson(green) },
    { kind: 'ConfigMap', name: 'two', key: 'updated.yaml.gz', bytes: asYaml(whole), gzip: true },
    { kind: 'ConfigMap', name: 'three', key: 'patched.yaml', bytes: asYaml(green), binary: true },
    { kind: 'Secret', name: 'four', key: 'applied', bytes: asYaml(green), gzip: true },
    { kind: 'Secret', name: 'five', key: 'made', bytes: asJson(green) },
  ];
  const targets = ['created', 'updated', 'patched', 'applied', 'made'];
  await store(stage, manifests);
  await createConfigMaps(stage, ['updated', 'patched', 'applied']);
  const paths = targets.map((name) => path(`configmaps/${name}`));
  const before = await portraits(client, paths);
  const types = ['Create', 'Update', 'Patch', 'Apply', 'Apply'];
  const digests = [undefined, undefined, undefined, undefined, null] as const;
  const changes = manifests.map((one, index) => from(types[index] ?? '', targets[index] ?? '', contentFrom(one, digests[index])));
  await stage.transaction('forms', changes);
  t.match(await stage.finished('forms'), { phase: 'Committed' });
  for (const one of paths) t.match(must(await client.get(one)), green, one);
  const [first] = manifests;
  must(await client.patch(path('configmaps/one'), { data: { [first?.key ?? '']: 'edited' } }));
  await discard(stage, manifests.slice(1));
  await undo(stage, 'forms');
  t.same(await portraits(client, paths), before);
}

async function definition(t: Test, stage: Stage): Promise<void> {
  const { client, namespace } = stage;
  const group = `${namespace}.example.org`;
  const schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { count: { type: 'integer', format: 'int64' } } } },
  };
  const crd = {
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
  const gear = `spec: { count: 9007199254740993 }`;
  const manifests: readonly Manifest[] = [
    { kind: 'ConfigMap', name: 'crd', key: 'crd.yaml', bytes: asYaml(crd), gzip: true },
    { kind: 'ConfigMap', name: 'gear', key: 'gear.yaml', bytes: Buffer.from(gear) },
  ];
  await store(stage, manifests);
  const [first, second] = manifests.map((one) => contentFrom(one)) as [JsonObject, JsonObject];
  const name = `gears.${group}`;
  const at = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
  t.teardown(() => client.delete(at));
  await stage.transaction('definition', [
    from('Apply', name, first, { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }),
    from('Apply', 'gear', second, { apiVersion: `${group}/v1`, kind: 'Gear' }),
  ]);
  t.match(await stage.finished('definition'), { phase: 'Committed' });
  const made = await client.get(`/apis/${group}/v1/namespaces/${namespace}/gears/gear`);
  t.match(made.text, /"count":9007199254740993[,}]/, 'with all digits');
  await discard(stage, manifests);
  await undo(stage, 'definition');
  t.equal((await client.get(at)).code, 404);
}

/** 873 kB that no compression makes smaller than 655 kB. */
const noise = (): JsonObject => ({ data: { noise: randomBytes(655_000).toString('base64') } });

async function large(t: Test, stage: Stage): Promise<void> {
  const { client, path } = stage;
  const names = Array.from({ length: 12 }, (_, index) => `large-${index}`);
  const paths = names.map((name) => path(`configmaps/${name}`));
  const manifests = names.map((name): Manifest => ({ kind: 'ConfigMap', name: `of-${name}`, key: 'x', bytes: asJson(noise()) }));
  await store(stage, manifests);
  t.ok(manifests.reduce((sum, { bytes }) => sum + bytes.length, 0) > 10_480_000);
  await stage.transaction(
    'large',
    names.map((name, index) => from('Create', name, contentFrom(manifests[index] as Manifest))),
  );
  t.match(await stage.finished('large'), { phase: 'Committed' });
  const { items } = await client.list(path('configmaps'));
  const parts = items.filter((item) => textAt(item, 'metadata', 'name')?.includes('-rollback') === true);
  t.ok(parts.length > 10, `${parts.length} ConfigMaps`);
  must(await client.patch(path('configmaps/of-large-0'), { data: { x: 'edited' } }));
  await discard(stage, manifests.slice(1));
  await undo(stage, 'large');
  t.same(
    await portraits(client, paths),
    names.map(() => undefined),
  );
}

t.test('the engine sends the content that the dry run tried, even if the source changes', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const manifest: Manifest = { kind: 'Secret', name: 'moving', key: 'x', bytes: asJson(green) };
  await store(stage, [manifest]);
  await stage.transaction('moving', [from('Create', 'made', contentFrom(manifest, null))]);
  await stepUntil(stage, 'moving', 'Prepared');
  const red = holderOf({ ...manifest, bytes: asJson({ data: { color: 'red' } }) });
  must(await client.patch(path('secrets/moving'), { data: at(red, 'data') ?? {} }, 'merge'));
  t.match((await stepUntil(stage, 'moving', 'Committed')).phase, 'Committed');
  t.match(must(await client.get(path('configmaps/made'))), green);
  await discard(stage, [manifest]);
  for (let left = true; left; ) left = (await step(stage, 'moving')).resyncAfterSeconds > 0;
  t.ok(isList(at(await stage.read('moving'), 'status', 'items')));
});
