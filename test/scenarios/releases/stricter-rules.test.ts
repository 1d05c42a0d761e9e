// A Delete, or a change, whose prior state the API server would not take back is refused before the first change: the rules have become
// stricter since the object was written. Where the undo would be admitted, the change is made, and undone exactly.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { allowIrreversible, commit, itemsOf, partial, portrait, undo, undoAll } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };

t.test('a CRD that became stricter than its objects', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path, namespace } = stage;
  const group = `${namespace}.example.org`;
  const name = `crates.${group}`;
  const part = { type: 'object', required: ['name'], properties: { name: { type: 'string' }, size: { type: 'integer' } } };
  const parts = { type: 'array', items: part, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] };
  const loose = { count: { type: 'integer' }, owner: { type: 'string' }, color: { type: 'string' }, parts };
  const small = { type: 'integer', maximum: 8 };
  const strictParts = { ...parts, items: { ...part, properties: { ...part.properties, size: small } } };
  const strict = { ...loose, count: small, parts: strictParts };
  const crd = (properties: JsonObject, rules: JsonObject = {}): JsonObject => {
    const spec = { type: 'object', properties, ...rules };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
    const names = { kind: 'Crate', plural: 'crates' };
    return { spec: { group, scope: 'Namespaced', names, versions: [{ name: 'v1', served: true, storage: true, schema }] } };
  };
  const crate = { apiVersion: `${group}/v1`, kind: 'Crate' };
  const crates = path(`${group}/v1/crates`);
  must(await client.create(crds, { ...definition, metadata: { name }, ...crd(loose) }));
  t.teardown(() => client.delete(`${crds}/${name}`));
  await waitFor(async () => (await client.get(crates)).code === 200, 'the kind to be served');
  const large = { count: 40, color: 'red' };
  const before: Readonly<Record<string, JsonObject>> = {
    deleted: large,
    cured: large,
    put: large,
    kept: large,
    listed: {
      parts: [
        { name: 'a', size: 40 },
        { name: 'b', size: 1 },
      ],
    },
    unowned: { color: 'red' },
    allowed: large,
    looser: large,
    again: large,
    again2: large,
    valid: { count: 4 },
  };
  for (const [name, spec] of Object.entries(before)) must(await client.create(crates, { ...crate, metadata: { name }, spec }));
  const rule = {
    rule: '!has(self.color) || has(self.owner)',
    message: 'a color needs an owner',
    fieldPath: '.owner',
    reason: 'FieldValueRequired',
  };
  const stricter = { ...crd(strict, { 'x-kubernetes-validations': [rule] }) };
  must(await client.patch(`${crds}/${name}`, stricter));
  await waitFor(
    async () => (await client.create(crates, { ...crate, metadata: { name: 'x' }, spec: large }, { dryRun: 'All' })).code === 422,
    'the API server to hear of it',
  );
  const refusal = async (changed: JsonObject): Promise<string> => {
    const id = `no-${textAt(changed, 'target', 'name')}`;
    await stage.transaction(id, [change('Create', `${id}-first`, {}), changed]);
    const { status, phase } = await stepToEnd(stage, id);
    const message = textAt(status, 'message') ?? '';
    if (phase !== 'Failed') throw new Error(`expected ${id} to be Failed, it is ${phase}: ${message}`);
    if ((await client.get(path(`configmaps/${id}-first`))).code !== 404) throw new Error(`${id} has written`);
    return message;
  };

  await t.test('a Delete is refused, with the path', async (t) => {
    const message = await refusal(change('Delete', 'deleted', undefined, crate));
    t.match(message, /^nothing was applied: spec\.changes\[1\]: Delete of Crate\S+ \S+\/deleted cannot be undone: /);
    t.match(message, /spec\.count: Invalid value.*; annotate .*allow-irreversible/);
    t.equal((await client.get(`${crates}/deleted`)).code, 200);
  });

  await t.test('a change in place that replaces an invalid value is refused', async (t) => {
    for (const [name, type] of [
      ['cured', 'Patch'],
      ['put', 'Update'],
    ] as const)
      t.match(
        await refusal(change(type, name, { spec: { count: 4, color: 'red', owner: 'me' } }, crate)),
        /cannot be undone: .*spec\.count/,
      );
    const healed = {
      spec: {
        parts: [
          { name: 'b', size: 1 },
          { name: 'a', size: 4 },
        ],
      },
    };
    t.match(await refusal(change('Update', 'listed', healed, crate)), /cannot be undone: .*spec\.parts\[0\]\.size/);
    t.match(await refusal(change('Patch', 'unowned', { spec: { owner: 'me' } }, crate)), /cannot be undone: .*spec\.owner/);
  });

  await t.test('the API server forgives what a change leaves as it is: the change is made, and undone exactly', async () => {
    for (const [name, content] of [
      ['kept', { metadata: { labels: { a: 'b' } } }],
      [
        'listed',
        {
          spec: {
            parts: [
              { name: 'b', size: 2 },
              { name: 'a', size: 40 },
            ],
          },
        },
      ],
      ['valid', { spec: { count: 5 } }],
    ] as const) {
      const [type, was] = [name === 'listed' ? 'Update' : 'Patch', await portrait(stage, `${crates}/${name}`)];
      await commit(stage, `yes-${name}`, [change(type, name, content, crate)]);
      await undoAll(stage, `yes-${name}`);
      t.same(await portrait(stage, `${crates}/${name}`), was);
    }
  });

  await t.test('the annotation allows it, and the undo is refused', async (t) => {
    await commit(stage, 'allowed', [change('Delete', 'allowed', undefined, crate)], allowIrreversible);
    t.match(await undo(stage, 'allowed', partial), { phase: 'Failed', message: /spec\.count/ });
  });

  await t.test('an earlier change of the CRD may remove the reason, and the engine tries again in its turn', async (t) => {
    const loosen = change('Patch', name, crd(loose), definition);
    const was = await portrait(stage, `${crates}/looser`, true);
    const status = await commit(stage, 'looser', [loosen, change('Delete', 'looser', undefined, crate)]);
    t.match(itemsOf(status), { length: 2 });
    await undoAll(stage, 'looser');
    t.same(await portrait(stage, `${crates}/looser`, true), was);

    const label = change('Patch', name, { metadata: { labels: { touched: 'yes' } }, ...stricter }, definition);
    for (const [id, changed] of [
      ['again', change('Delete', 'again', undefined, crate)],
      ['again2', change('Patch', 'again2', { spec: { count: 4, owner: 'me' } }, crate)],
    ] as const) {
      await stage.transaction(`${id}-same`, [label, changed]);
      const { status, phase } = await stepToEnd(stage, `${id}-same`);
      t.equal(phase, 'RolledBack');
      t.match(textAt(status, 'message'), /cannot be undone: .*spec\.count/);
      t.equal(at(must(await client.get(`${crates}/${id}`)), 'spec', 'count'), 40);
    }
  });
});
