// A null in a Patch removes no map that others fill, and makes a text empty: such a Patch would be Committed and remove nothing.
import t from 'tap';
import { at, type JsonObject } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { causeOf } from '../../support/owned.ts';
import { commit, undoAll } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

t.test('a Patch contains null', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  await createConfigMaps(stage, ['one']);
  const read = async (...keys: readonly string[]): Promise<unknown> =>
    at(must(await client.get(path('configmaps/one'))), ...keys);

  for (const [name, content, where] of [
    ['data', { data: null }, 'data'],
    ['labels', { metadata: { labels: null } }, 'metadata.labels'],
    ['text', { data: { color: null } }, 'data.color'],
  ] as const satisfies readonly (readonly [string, JsonObject, string])[])
    await t.test(`pre-flight refuses null: ${where}`, async (t) => {
      const before = await read();
      await stage.transaction(name, [change('Patch', 'one', content)]);
      const { status } = await stepToEnd(stage, name);
      const message = new RegExp(
        `has null at ${where}, which removes nothing: leave it out, or write an Update without ${where}`,
      );
      t.match(status, { phase: 'Failed', message });
      t.equal(causeOf(status), 'Invalid');
      t.same(await read(), before);
    });

  await t.test('the engine accepts null if the API server sets the default, or removes the whole value', async (t) => {
    const ports = [{ port: 80 }];
    must(await client.create(path('services'), { metadata: { name: 'fed' }, spec: { selector: { app: 'x' }, ports } }));
    const content = { spec: { selector: null, sessionAffinity: null } };
    await commit(stage, 'fed', [change('Patch', 'fed', content, { kind: 'Service' })]);
    const spec = at(must(await client.get(path('services/fed'))), 'spec');
    t.match(spec, { sessionAffinity: 'None', selector: undefined });
    await undoAll(stage, 'fed');
    t.match(at(must(await client.get(path('services/fed'))), 'spec'), { selector: { app: 'x' } });
  });

  await t.test('the engine accepts null in a manifest, because generators leave it there', async (t) => {
    await commit(stage, 'manifest', [change('Apply', 'one', { metadata: { annotations: null, labels: { more: 'yes' } } })]);
    t.match(await read('metadata', 'labels'), { team: 'shop', more: 'yes' });
  });
});
