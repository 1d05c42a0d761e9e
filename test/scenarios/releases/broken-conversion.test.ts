// The conversion webhook of a CRD is broken, and the release itself repairs the conversion. The API server then refuses each read and
// each dry run in the other version until the earlier change is made.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { commit, itemsOf, undoAll } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const away = { service: { name: 'away', namespace: 'default', path: '/convert' } };
const broken = { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: away } };

const stage = await startStage(t, { withoutLoop: true });
const { client, path, namespace } = stage;
const group = `${namespace}.example.org`;

/** A kind of its own for each test, with the object `small`, which is stored as v1. */
async function scene(t: { teardown(handler: () => unknown): void }, plural: string) {
  const kind = `K${plural}`;
  const name = `${plural}.${group}`;
  const spec = { type: 'object', properties: { size: { type: 'integer' } } };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  const versions = ['v1', 'v2'].map((one) => ({ name: one, served: true, storage: one === 'v1', schema }));
  const names = { kind, plural, listKind: `${kind}List`, singular: plural };
  const crd = (conversion: JsonObject): JsonObject => ({ spec: { group, scope: 'Namespaced', names, versions, conversion } });
  must(await client.create(crds, { ...definition, metadata: { name }, ...crd(broken) }));
  t.teardown(() => client.delete(`${crds}/${name}`));
  const where = (version: string): string => path(`${group}/${version}/${plural}`);
  const of = (version: string) => ({ apiVersion: `${group}/${version}`, kind });
  await waitFor(async () => (await client.get(where('v1'))).code === 200, 'the kind to be served');
  must(await client.create(where('v1'), { ...of('v1'), metadata: { name: 'small' }, spec: { size: 2 } }));
  const repair = change('Update', name, crd({ strategy: 'None' }), definition);
  return { of, where, repair, crd: `${crds}/${name}` };
}

t.test('an object is created in the other version', async (t) => {
  const { of, where, repair, crd } = await scene(t, 'made');
  const status = await commit(stage, 'made', [repair, change('Create', 'new', { spec: { size: 3 } }, of('v2'))]);
  t.match(textAt(itemsOf(status)[1], 'note'), /made again in its turn, after spec\.changes\[0\]/);
  t.equal(at(must(await client.get(`${where('v1')}/new`)), 'spec', 'size'), 3);
  await undoAll(stage, 'made');
  t.equal((await client.get(`${where('v1')}/new`)).code, 404);
  t.match(must(await client.get(crd)), { spec: { conversion: { strategy: 'Webhook' } } });
});

t.test(
  'an object that exists cannot be read in the other version: the change is refused before anything is written',
  async (t) => {
    const { of, where, repair } = await scene(t, 'moved');
    for (const [type, content] of [
      ['Patch', { spec: { size: 3 } }],
      ['Apply', { spec: { size: 3 } }],
      ['Delete', undefined],
    ] as const) {
      const name = `moved-${type.toLowerCase()}`;
      await stage.transaction(name, [repair, change(type, 'small', content, of('v2'))]);
      const { status } = await stepToEnd(stage, name);
      t.match(status, {
        phase: 'Failed',
        message: /small cannot be read in v2 before spec\.changes\[0\] changes its CRD.*before this one/,
      });
      if (content === undefined) continue;
      await commit(stage, `${name}-v1`, [change(type, 'small', content, of('v1'))]);
      await undoAll(stage, `${name}-v1`);
    }
    t.equal(at(must(await client.get(`${where('v1')}/small`)), 'spec', 'size'), 2);
  },
);

t.test('no change repairs the conversion: the Transaction ends within a minute, and names the cause', async (t) => {
  const { of } = await scene(t, 'waiting');
  await stage.transaction('waiting', [change('Patch', 'small', { spec: { size: 3 } }, of('v2'))]);
  const begun = performance.now();
  const { status } = await stepToEnd(stage, 'waiting');
  t.ok(performance.now() - begun < 120_000, 'long before spec.timeout');
  t.match(status, { phase: 'Failed', message: /for a minute: .*conversion webhook .*repair or delete the webhook or server/ });
});
