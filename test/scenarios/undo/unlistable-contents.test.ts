// What lies inside a Namespace or a CustomResourceDefinition must be listed before either is deleted: no exception covers it, and no
// rollback goes on without it. A requested undo of an object that cannot be read itself is refused within a minute, too.
import t from 'tap';
import { type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { deadConversion, makeSomeKind } from '../../support/broken-kind.ts';
import { must, waitFor } from '../../support/client.ts';
import { ownControlPlane } from '../../support/own-control-plane.ts';
import { isThere } from '../../support/owned.ts';
import { commit, itemsOf, undo } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { stepTo, stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

// A kind that cannot be listed is in the way of others' undos.
await ownControlPlane(t);

/** An object that a Transaction creates, and others put something into. */
interface Container {
  readonly made: JsonObject;
  readonly path: string;
  /** The kind of what is put into it. */
  readonly kind: string;
  /** Puts an object of somebody else into it. */
  fill(): Promise<void>;
}

function namespaceOf({ client, namespace }: Stage, apiVersion: string, suffix: string): Container {
  const name = `${namespace}-${suffix}`;
  const thing = { apiVersion, kind: 'Thing', metadata: { name: 'theirs' } };
  return {
    made: change('Create', name, {}, { kind: 'Namespace' }),
    path: `/api/v1/namespaces/${name}`,
    kind: `things.${namespace}.example.org`,
    fill: async () => {
      must(await client.create(`/apis/${apiVersion}/namespaces/${name}/things`, thing));
    },
  };
}

/** Somebody moves its storage version, and gives it a webhook for conversions that does not exist. */
function definitionOf({ client, namespace }: Stage, plural: string): Container {
  const group = `${plural}.${namespace}.example.org`;
  const schema = { openAPIV3Schema: { type: 'object' } };
  const versions = (stored: string) =>
    ['v1', 'v2'].map((version) => ({ name: version, served: true, storage: version === stored, schema }));
  const kind = plural.slice(0, 1).toUpperCase() + plural.slice(1);
  const spec = { group, scope: 'Namespaced', names: { plural, kind }, versions: versions('v1') };
  const instance = { apiVersion: `${group}/v1`, kind, metadata: { name: 'theirs' } };
  const type = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${group}`;
  const listed = async (): Promise<number> => (await client.list(`/apis/${group}/v2/namespaces/${namespace}/${plural}`)).code;
  return {
    made: change('Create', `${plural}.${group}`, { spec }, type),
    path,
    kind: `${plural}.${group}`,
    fill: async () => {
      const where = `/apis/${group}/v1/namespaces/${namespace}/${plural}`;
      await waitFor(async () => (await client.create(where, instance)).code === 201, 'the instance to be created');
      must(await client.patch(path, { spec: { versions: versions('v2'), conversion: deadConversion } }));
      await waitFor(async () => ![200, 404].includes(await listed()), 'the kind to be broken');
    },
  };
}

t.test('a kind that cannot be listed, inside of what would be deleted', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client } = stage;
  const things = await makeSomeKind(stage);
  t.teardown(things.remove);
  const short = { spec: { timeout: '16s' } };
  const containers = [namespaceOf(stage, things.apiVersion, 'undone'), definitionOf(stage, 'gears')];
  const rolled = namespaceOf(stage, things.apiVersion, 'rolled');
  const own = change('Patch', 'one', { spec: { ours: 1 } }, { apiVersion: things.apiVersion, kind: 'Thing' });
  await commit(stage, 'own', [own, change('Create', 'beside', {})]);
  for (const [index, { made, fill }] of containers.entries()) {
    await stage.transaction(`undone-${index}`, [made], short);
    t.match((await stepToEnd(stage, `undone-${index}`)).status, { phase: 'Committed' });
    await fill();
  }
  const gate = { ready: { field: { path: '.data.ready', value: 'yes' } }, timeout: '10m' };
  await stage.transaction('rolled', [rolled.made, { ...change('Create', 'gated', {}), gate }], short);
  await stepTo(stage, 'rolled', 'its gate to open', ({ status }) => itemsOf(status)[1]?.gate !== undefined);
  await rolled.fill();
  for (const suffix of ['undone', 'rolled']) await things.break(`${stage.namespace}-${suffix}`);
  const exceptions = ({ kind, made }: Container) => ({
    'tx.janus.io/undo-unlisted': kind,
    'tx.janus.io/undo-overwrite': `${textAt(made, 'target', 'kind')}/${textAt(made, 'target', 'name')}`,
  });
  const named = (kind: string): RegExp => new RegExp(`${kind.replaceAll('.', '\\.')} fails`);

  for (const [index, container] of containers.entries())
    await t.test(`is not excepted in a ${textAt(container.made, 'target', 'kind')}`, async (t) => {
      const status = await undo(stage, `undone-${index}`, exceptions(container));
      t.match(status, { phase: 'Committed', undo: { reason: 'UndoRefused', counts: { blocked: 1 } } });
      t.match(textAt(status, 'undo', 'message'), named(container.kind));
      t.notMatch(textAt(status, 'undo', 'message'), /--unlisted/, 'what would be refused is not offered');
      t.ok(await isThere(stage, container.path));
    });

  await t.test('has a rollback leave a Namespace', async (t) => {
    await stage.annotate('rolled', { 'tx.janus.io/request-rollback': 'yes', ...exceptions(rolled) });
    const { status } = await stepToEnd(stage, 'rolled');
    t.match(status, { phase: 'Failed' });
    t.match(itemsOf(status), [{ left: true }, { rolledBack: true }]);
    t.match(textAt(itemsOf(status)[0], 'error', 'message'), named(rolled.kind));
    t.notMatch(textAt(itemsOf(status)[0], 'error', 'message'), /--unlisted/);
    t.ok(await isThere(stage, rolled.path));
  });

  await t.test('is the kind of a target: a requested undo is refused within a minute, and holds no lock', async (t) => {
    await things.break();
    const began = performance.now();
    await stage.annotate('own', { 'tx.janus.io/request-rollback': 'yes' });
    const { status } = await stepToEnd(stage, 'own');
    t.match(status, { phase: 'Committed', undo: { reason: 'UndoRefused' } });
    t.match(textAt(status, 'undo', 'message'), /Thing.* one: .*conversion webhook/);
    t.ok(performance.now() - began < 120_000, 'spec.timeout is 30 minutes');
    t.same(await stage.leases(), []);
    t.equal((await client.get(stage.path('configmaps/beside'))).code, 200, 'nothing was written');
  });
});
