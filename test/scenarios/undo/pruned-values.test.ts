// Values that objects hold in fields which a schema of their CustomResourceDefinition no longer has: the API server drops them.
import t, { type Test } from 'tap';
import { at, type JsonObject } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { causeOf } from '../../support/owned.ts';
import { allowIrreversible, commit, itemsOf, partial, undo } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const text = { type: 'string' };

/** A kind of the stage whose `spec` has the fields. */
async function serve(t: Test, { client, namespace }: Stage, plural: string, ...fields: readonly string[]) {
  const group = `${namespace}.example.org`;
  const kind = plural.slice(0, -1);
  const name = `${plural}.${group}`;
  const all = `/apis/${group}/v1/namespaces/${namespace}/${plural}`;
  const content = (...own: readonly string[]): JsonObject => having(Object.fromEntries(own.map((field) => [field, text])));
  const having = (properties: JsonObject): JsonObject => {
    const spec = { type: 'object', properties };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
    const names = { plural, singular: kind, kind: `K${kind}` };
    return { spec: { group, scope: 'Namespaced', names, versions: [{ name: 'v1', served: true, storage: true, schema }] } };
  };
  must(await client.create(definitions, { metadata: { name }, ...content(...fields) }));
  t.teardown(() => client.delete(`${definitions}/${name}`));
  await waitFor(async () => (await client.list(all)).code === 200, `${plural} to be served`);
  const one = { apiVersion: `${group}/v1`, kind: `K${kind}`, metadata: { name: 'one' } };
  // While the API server gets to know a schema, it may answer that the kind is not there.
  const make = (): Promise<unknown> =>
    waitFor(async () => [201, 409].includes((await client.create(all, { ...one, spec: { size: '1' } })).code), 'the object');
  const parts = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
  return {
    name,
    content,
    changed: (type: string, ...own: readonly string[]) => change(type, name, content(...own), parts),
    reshaped: (type: string, properties: JsonObject) => change(type, name, having(properties), parts),
    make,
    labelled: () => change('Patch', name, { metadata: { labels: { seen: 'yes' } } }, parts),
    path: `${all}/one`,
    parts: { apiVersion: one.apiVersion, kind: one.kind },
    color: async () => at(must(await client.get(`${all}/one`)), 'spec', 'color'),
    /** Until the API server knows the schema. */
    paint: async () => {
      await make();
      const isPainted = async (): Promise<boolean> =>
        at(must(await client.patch(`${all}/one`, { spec: { size: '1', color: 'red' } }, 'merge')), 'spec', 'color') === 'red';
      await waitFor(isPainted, 'the color');
    },
  };
}

t.test('a CRD loses fields that hold values', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client } = stage;

  await t.test('pre-flight refuses the change', async (t) => {
    const kind = await serve(t, stage, 'gears', 'size', 'color');
    await commit(stage, 'unused', [kind.changed('Update', 'size', 'color', 'shape')]);
    await kind.paint();
    await commit(stage, 'other', [kind.changed('Update', 'size', 'color')]);
    for (const type of ['Patch', 'Update']) {
      const name = `no-${type.toLowerCase()}`;
      await stage.transaction(name, [kind.changed(type, 'size')]);
      const { status } = await stepToEnd(stage, name);
      t.match(status, { phase: 'Failed', message: /fields that the new schema drops: Kgear one; .*allow-irreversible/ });
      t.equal(causeOf(status), 'Irreversible');
    }
    await commit(stage, 'allowed', [kind.changed('Update', 'size')], allowIrreversible);
    await waitFor(async () => (await kind.color()) === undefined, 'the API server to drop the value');
  });

  await t.test('an undo leaves the CRD until the values are removed', async (t) => {
    const kind = await serve(t, stage, 'wheels', 'size');
    await commit(stage, 'adds', [kind.changed('Patch', 'size', 'color')]);
    await kind.paint();
    const left = await undo(stage, 'adds', partial);
    t.match(left, { phase: 'Failed' });
    t.match(itemsOf(left)[0], {
      left: true,
      error: { reason: 'NotEmpty', message: /would be lost: Kwheel \S*one; remove the values, then retry the rollback/ },
    });
    t.equal(await kind.color(), 'red');
    must(await client.patch(kind.path, { spec: { color: null } }, 'merge'));
    await stage.annotate('adds', { 'tx.janus.io/retry-rollback': 'yes' });
    const message = 'rolled back 1 change: a rollback was requested';
    t.match((await stepToEnd(stage, 'adds')).status, { phase: 'RolledBack', message });
  });

  await t.test('the values block the whole undo, even if their object is a target of this Transaction', async (t) => {
    const kind = await serve(t, stage, 'cogs', 'size');
    await kind.make();
    const labels = (seen: string) => change('Patch', 'one', { metadata: { labels: { seen } } }, kind.parts);
    await commit(stage, 'both', [kind.changed('Patch', 'size', 'color'), labels('yes')]);
    await kind.paint();
    const items = [{ reason: 'NotEmpty', message: /would be lost: Kcog \S*one; remove the values/ }];
    t.match(await undo(stage, 'both'), { phase: 'Committed', undo: { reason: 'UndoRefused', counts: { restore: 1 }, items } });
    t.match(must(await client.get(kind.path)), { metadata: { labels: { seen: 'yes' } }, spec: { color: 'red' } });
    must(await client.patch(kind.path, { spec: { color: null } }, 'merge'));
    await stage.annotate('both', { 'tx.janus.io/request-rollback': 'again' });
    t.match((await stepToEnd(stage, 'both')).status, { phase: 'RolledBack' });
  });

  await t.test('default values do not block the undo', async (t) => {
    const kind = await serve(t, stage, 'nuts', 'size');
    await kind.make();
    const plain = { size: text };
    const color = { ...text, default: 'blue' };
    const paint = { type: 'object', default: { coats: 'two' }, properties: { coats: text, color } };
    await commit(stage, 'defaults', [kind.reshaped('Patch', { ...plain, color, paint })]);
    const shown = async (field: string): Promise<unknown> => at(must(await client.get(kind.path)), 'spec', field);
    await waitFor(async () => (await shown('color')) === 'blue', 'the default');
    t.same(await shown('paint'), { coats: 'two', color: 'blue' });
    await commit(stage, 'no-defaults', [kind.reshaped('Update', plain)]);
    await undo(stage, 'no-defaults');
    must(await client.patch(kind.path, { spec: { paint: { coats: 'three' } } }, 'merge'));
    t.match(itemsOf(await undo(stage, 'defaults', partial))[0], {
      error: { message: /would be lost: Knut \S*one; remove the values/ },
    });
    must(await client.patch(kind.path, { spec: { paint: null } }, 'merge'));
    await stage.annotate('defaults', { 'tx.janus.io/retry-rollback': 'yes' });
    t.match((await stepToEnd(stage, 'defaults')).status, { phase: 'RolledBack' });
  });

  await t.test('an undo that closes a map leaves the CRD', async (t) => {
    const kind = await serve(t, stage, 'screws', 'size');
    await kind.make();
    const env = (schema: JsonObject): JsonObject => ({ size: text, env: { type: 'object', ...schema } });
    await commit(stage, 'typed', [kind.reshaped('Patch', env({ properties: { A: text } }))]);
    await commit(stage, 'opened', [kind.reshaped('Update', env({ additionalProperties: text }))]);
    const put = async (): Promise<boolean> =>
      at(must(await client.patch(kind.path, { spec: { env: { A: '1', B: '2' } } }, 'merge')), 'spec', 'env', 'B') === '2';
    await waitFor(put, 'the value');
    const left = await undo(stage, 'opened', partial);
    t.match(itemsOf(left)[0], { left: true, error: { reason: 'NotEmpty', message: /would be lost: Kscrew \S*one; / } });
  });

  await t.test('the values do not block an undo that removes no field', async (t) => {
    const kind = await serve(t, stage, 'bolts', 'size');
    await commit(stage, 'label', [kind.labelled()]);
    must(await client.patch(`${definitions}/${kind.name}`, kind.content('size', 'color')));
    await kind.paint();
    t.match(await undo(stage, 'label'), { phase: 'RolledBack' });
    t.equal(await kind.color(), 'red');
  });
});
