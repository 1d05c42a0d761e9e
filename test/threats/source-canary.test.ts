// Nothing repeats what a Secret holds from which contents come, even if the target is no Secret and anybody may read it: in the search of
// test/threats/canary.test.ts it may be found in the Secret and in the target, and nowhere else.
import t from 'tap';
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { partial } from '../support/round-trip.ts';
import { step, stepToEnd, stepUntil } from '../support/stepping.ts';
import { asJson, contentFrom, holderOf, type Manifest } from '../support/stored-manifests.ts';
import { change } from '../support/targets.ts';
import { everything, findings, openWorld, type World } from './canaries.ts';

/** A change whose content is in a Secret. */
async function sourced(
  { stage }: World,
  [type, target, name]: readonly [type: string, target: string, source: string],
  held: JsonObject | string,
): Promise<JsonObject> {
  const bytes = typeof held === 'string' ? Buffer.from(held) : asJson(held);
  const source: Manifest = { kind: 'Secret', name, key: 'x', bytes, gzip: true };
  must(await stage.client.create(stage.path('secrets'), holderOf(source)));
  return { ...change(type, target), contentFrom: contentFrom(source, null) };
}

const targets = ['fed', 'fixed', 'owned'];

async function make({ stage: { client, path } }: World): Promise<void> {
  for (const name of targets)
    must(await client.create(path('configmaps'), { metadata: { name }, data: { key: 'before' }, immutable: name === 'fixed' }));
}

/** Refused by the engine, or by the API server, which quotes what it refuses. */
async function refusals(world: World): Promise<void> {
  const { stage, fresh } = world;
  const data = (): JsonObject => ({ data: { key: fresh() } });
  const owner = (): JsonObject => ({ apiVersion: 'v1', kind: 'ConfigMap', name: fresh(), uid: fresh() });
  const tried: readonly (readonly [string, string, string, JsonObject | string])[] = [
    ['r-text', 'Create', 'new', `a: ${fresh()}\n b: {`],
    ['r-scalar', 'Create', 'new', fresh()],
    ['r-kind', 'Create', 'new', { kind: fresh(), ...data() }],
    ['r-namespace', 'Create', 'new', { metadata: { namespace: fresh() } }],
    ['r-version', 'Update', 'fed', { metadata: { resourceVersion: fresh() }, ...data() }],
    ['r-label', 'Create', 'new', { metadata: { labels: { value: `${fresh()}!` } }, ...data() }],
    ['r-label-key', 'Create', 'new', { metadata: { labels: { [`${fresh()}!`]: 'x' } }, ...data() }],
    ['r-data-key', 'Create', 'new', { data: { [`${fresh()}!`]: 'x' } }],
    ['r-field', 'Create', 'new', { [fresh()]: fresh() }],
    ['r-patched-field', 'Patch', 'fed', { [fresh()]: fresh() }],
    ['r-applied-field', 'Apply', 'new', { [fresh()]: fresh() }],
    ['r-shape', 'Patch', 'fed', { data: fresh() }],
    ['r-binary', 'Apply', 'fed', { binaryData: { key: `${fresh()} is no base64` } }],
    ['r-immutable', 'Patch', 'fixed', data()],
    ['r-owner', 'Patch', 'fed', { metadata: { ownerReferences: [owner()] } }],
  ];
  for (const [name, type, target, held] of tried) {
    await stage.transaction(name, [await sourced(world, [type, target, name], held)]);
    t.match((await stepToEnd(stage, name)).status, { phase: 'Failed', message: /./ }, name);
  }
}

/** Made, waited for in vain, changed by others, and not undone. */
async function troubles(world: World): Promise<void> {
  const { stage, fresh } = world;
  const { client, path } = stage;
  const ready = { field: { path: '.data.key', value: 'never' } };
  const gated = await sourced(world, ['Patch', 'fed', 'gated'], { data: { key: fresh() } });
  await stage.transaction('gated', [{ ...gated, gate: { ready, timeout: '1s' } }]);
  t.match((await stepToEnd(stage, 'gated')).status, { phase: 'RolledBack' });

  const edit = (): JsonObject => ({ data: { key: fresh() } });
  await stage.transaction('raced', [await sourced(world, ['Patch', 'fed', 'raced'], { data: { key: fresh() } })]);
  await stepUntil(stage, 'raced', 'Prepared');
  must(await client.patch(path('configmaps/fed'), edit(), 'merge', { fieldManager: 'a-person' }));
  t.match((await stepToEnd(stage, 'raced')).status, { phase: /RolledBack|Failed/ });

  await stage.transaction('undo', [
    await sourced(world, ['Update', 'owned', 'updated'], {
      metadata: { annotations: { note: fresh() } },
      data: { key: fresh() },
    }),
    await sourced(world, ['Create', 'made', 'created'], { data: { key: fresh() } }),
  ]);
  t.match((await stepToEnd(stage, 'undo')).status, { phase: 'Committed' });
  for (const name of ['owned', 'made'])
    must(await client.patch(path(`configmaps/${name}`), edit(), 'merge', { fieldManager: 'a-person' }));
  await stage.annotate('undo', { 'tx.janus.io/request-rollback': 'whole' });
  t.match((await stepToEnd(stage, 'undo')).status, { phase: 'Committed', undo: { reason: 'UndoRefused' } });
  await stage.annotate('undo', { 'tx.janus.io/request-rollback': 'yes', ...partial });
  await stepUntil(stage, 'undo', 'Failed');
  await step(stage, 'undo');
}

t.test('no output shows a value of a Secret that is the source of contents', async (t) => {
  const world = await openWorld(t);
  const { stage, values, log, answers } = world;
  await make(world);
  await refusals(world);
  await troubles(world);
  t.ok(values.length > 20, `${values.length} canaries`);
  await waitFor(async () => (await stage.client.list(stage.path('events'))).items.length > 10, 'the Events');
  const places = new Map(await everything(stage.client));
  const { items } = await stage.client.list(stage.path('secrets'));
  const belongs = [
    ...items.map((item) => `/api/v1/secrets ${stage.namespace}/${textAt(item, 'metadata', 'name')}`),
    ...[...targets, 'made'].map((name) => `/api/v1/configmaps ${stage.namespace}/${name}`),
  ];
  t.ok(findings(places, values, []).length >= 3, 'the search finds them in targets');
  places.set('log', log.join(''));
  places.set('answers', answers.join('\n'));
  places.set('figures', await (await fetch(`${stage.hookUrl}/metrics`)).text());
  t.ok(log.length > 50 && answers.length > 20 && places.size > 100, `${places.size} places`);
  t.same(findings(places, values, belongs), [], 'and nowhere else');
});
