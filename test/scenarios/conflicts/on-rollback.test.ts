// An applied path that another writer has taken since is a rollback conflict: it names object, path and manager, nothing of that
// object is written, everything else is still undone, and the Transaction is Failed and at rest.
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { commit, itemsOf, partial, portrait, showAtRest, undo } from '../../support/round-trip.ts';
import { everyNth } from '../../support/selection.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

const podTemplate = { apiVersion: 'v1', kind: 'PodTemplate' };

const blue: JsonObject = { color: 'blue', size: 'small' };
const green = { data: { color: 'green', size: 'large' } };

interface Trap {
  readonly reason: string;
  /** The change of the object that a user touches; the other changes of this Transaction are ConfigMaps. */
  readonly type: 'Update' | 'Patch' | 'Create' | 'Delete';
  readonly content?: JsonObject;
  /** What somebody does to the object at that path meanwhile. */
  readonly meanwhile: (stage: Stage, path: string) => Promise<unknown>;
  /** What the conflict says, the name of the object aside. */
  readonly told: RegExp;
}

const theirs = { fieldManager: 'their-tool' };

const configMap = (name: string, data: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});

function nameIn(path: string): string {
  return path.split('/').at(-1) ?? '';
}

const traps: readonly Trap[] = [
  ...(['Update', 'Patch'] as const).flatMap((type): readonly Trap[] => [
    {
      reason: `another writer overwrites an applied path after ${type}`,
      type,
      content: green,
      meanwhile: ({ client }, path) => client.patch(path, { data: { color: 'red' } }, 'merge', theirs),
      told: /data\.color \(by their-tool\)/,
    },
    {
      reason: `another manager takes an applied path by server-side apply after ${type}`,
      type,
      content: green,
      meanwhile: ({ client }, path) => client.apply(path, configMap(nameIn(path), { color: 'red' }), theirs),
      told: /data\.color \(by their-tool\)/,
    },
    {
      reason: `another manager becomes co-owner of an applied path, with our value, after ${type}`,
      type,
      content: green,
      meanwhile: ({ client }, path) => client.apply(path, configMap(nameIn(path), { color: 'green' }), theirs),
      told: /data\.color \(by their-tool\)/,
    },
    {
      reason: `deleted and made again by somebody else after ${type}`,
      type,
      content: green,
      meanwhile: async ({ client, path: place }, path) => {
        must(await client.delete(path));
        return client.create(place('configmaps'), configMap(nameIn(path), { color: 'green' }), theirs);
      },
      told: /was deleted and recreated by someone else/,
    },
  ]),
  {
    reason: 'what Update removed is back with another value',
    type: 'Update',
    content: { data: { color: 'blue' } },
    meanwhile: ({ client }, path) => client.patch(path, { data: { size: 'medium' } }, 'merge', theirs),
    told: /data\.size \(by their-tool\)/,
  },
  {
    reason: 'another writer adds keys to a created ConfigMap',
    type: 'Create',
    content: green,
    meanwhile: ({ client }, path) => client.patch(path, { data: { note: 'theirs' } }, 'merge', theirs),
    told: /was created by this Transaction and changed by others since: data\.note \(by their-tool\)/,
  },
  {
    reason: 'another writer adds keys to a created empty ConfigMap',
    type: 'Create',
    content: {},
    meanwhile: ({ client }, path) => client.patch(path, { data: { note: 'theirs' } }, 'merge', theirs),
    told: /was created by this Transaction and changed by others since: data(\.note)? \(by their-tool\)/,
  },
  {
    reason: 'another writer adds a label to a created ConfigMap',
    type: 'Create',
    content: green,
    meanwhile: ({ client }, path) => client.patch(path, { metadata: { labels: { keep: 'me' } } }, 'merge', theirs),
    told: /was created by this Transaction and changed by others since: metadata\.labels(\.keep)? \(by their-tool\)/,
  },
  {
    reason: 'made again by somebody else, with other content, after Delete',
    type: 'Delete',
    meanwhile: ({ client, path: place }, path) =>
      client.create(place('configmaps'), configMap(nameIn(path), { color: 'red' }), theirs),
    told: /was recreated by someone else with different content: .*data\.color \(by their-tool\)/,
  },
];

/** The change in the middle of three meets the trap. */
async function runTrap(t: Test, stage: Stage, name: string, { type, content, meanwhile, told }: Trap): Promise<void> {
  const { client, path } = stage;
  const [before, middle, after] = ['before', 'middle', 'after'].map((suffix) => `${name}-${suffix}`);
  const where = (one: string | undefined): string => path(`configmaps/${one}`);
  await createConfigMaps(stage, [before ?? '', after ?? '', ...(type === 'Create' ? [] : [middle ?? ''])], blue);
  const shown = [await portrait(stage, where(before)), await portrait(stage, where(after))];
  await commit(stage, name, [
    change('Patch', before ?? '', green),
    change(type, middle ?? '', content),
    change('Update', after ?? '', green),
  ]);
  must((await meanwhile(stage, where(middle))) as Awaited<ReturnType<typeof client.get>>);
  const left = (await client.get(where(middle))).text;
  const status = await undo(stage, name, partial);
  t.equal(textAt(status, 'phase'), 'Failed');
  const error = textAt(itemsOf(status)[1], 'error', 'message') ?? '';
  t.match(error, told);
  t.ok(error.startsWith(`ConfigMap ${stage.namespace}/${middle} `), 'the object is named');
  t.ok(textAt(status, 'message')?.includes(error), 'in the message of the whole too');
  t.equal((await client.get(where(middle))).text, left, 'nothing of it is written');
  t.same([await portrait(stage, where(before)), await portrait(stage, where(after))], shown, 'all else is undone');
  t.same(
    itemsOf(status).map((item) => at(item, 'rolledBack') === true),
    [true, false, true],
  );
  t.same(await stage.leases(), []);
  await showAtRest(t, stage, name);
}

t.test('the engine reports rollback conflicts', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  for (const [index, trap] of everyNth(2, [...traps.entries()]))
    await t.test(trap.reason, (t) => runTrap(t, stage, `trap-${index}`, trap));
});

t.test('an env var that another writer added to a created container is a conflict', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const containers = (...list: readonly JsonObject[]): JsonObject => ({ template: { spec: { containers: list } } });
  const object = { ...podTemplate, metadata: { name: 'web' }, ...containers({ name: 'app', image: 'example.org/app' }) };
  must(await client.create(path('podtemplates'), object));
  const ours = containers({ name: 'ours', image: 'example.org/ours' });
  await commit(stage, 'env', [change('Patch', 'web', ours, podTemplate), change('Create', 'beside', green)]);
  const env = containers({ name: 'ours', env: [{ name: 'THEIRS', value: 'yes' }] });
  must(await client.patch(path('podtemplates/web'), env, 'strategic', theirs));
  const status = await undo(stage, 'env', partial);
  t.match(status, { phase: 'Failed', message: /containers\[name=ours\].* \(by .*their-tool/ });
  t.equal((await client.get(path('configmaps/beside'))).code, 404, 'the rest is undone');

  must(
    await client.patch(
      path('podtemplates/web'),
      containers({ name: 'ours', env: [{ name: 'THEIRS', $patch: 'delete' }] }),
      'strategic',
      theirs,
    ),
  );
  await stage.annotate('env', { 'tx.janus.io/retry-rollback': 'yes' });
  t.match(await undo(stage, 'env'), { phase: 'RolledBack' });
  t.match(must(await client.get(path('podtemplates/web'))), { template: { spec: { containers: { length: 1 } } } });
});
