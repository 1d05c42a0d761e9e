// Fields that other managers own with other values: taken over, or a reason to change nothing.
import t from 'tap';
import { at, type JsonObject } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { itemsOf } from '../../support/round-trip.ts';
import { conditionOf, startStage } from '../../support/stage.ts';
import { stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, portraits } from '../../support/targets.ts';

const fail = { fieldConflicts: 'Fail' };
const manifest = (kind: string, name: string, data: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name },
  data,
});
const secret = Buffer.from('hidden').toString('base64');

t.test('the engine obeys fieldConflicts', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const theirs = async (kind: string, name: string, data: JsonObject): Promise<string> => {
    const at = path(`${kind.toLowerCase()}s/${name}`);
    must(await client.apply(at, manifest(kind, name, data), { fieldManager: 'their-tool' }));
    return at;
  };

  await t.test('Fail: one message names all conflicts of all changes before the first write', async (t) => {
    const paths = [
      await theirs('ConfigMap', 'a', { color: 'blue', size: 'small' }),
      await theirs('ConfigMap', 'b', { color: 'blue' }),
      await theirs('Secret', 'c', { 'api-token': secret }),
    ];
    const before = await portraits(client, paths);
    await stage.transaction('all', [
      { type: 'Apply', content: manifest('ConfigMap', 'a', { color: 'green', size: 'large' }), ...fail },
      { ...change('Patch', 'b', { data: { color: 'green' } }), ...fail },
      { type: 'Apply', content: manifest('Secret', 'c', { 'api-token': 'b3RoZXI=' }), ...fail },
      { type: 'Apply', content: manifest('ConfigMap', 'd', { color: 'green' }), ...fail },
    ]);
    const { status } = await stepToEnd(stage, 'all');
    t.match(status, { phase: 'Failed' });
    const message = String(at(status, 'message'));
    for (const words of [
      /spec\.changes\[0\].*\.data\.color \(by their-tool\), \.data\.size \(by their-tool\)/,
      /spec\.changes\[1\].*\.data\.color \(by their-tool\)/,
      /spec\.changes\[2\].*data.*\(by their-tool\)/,
      /fieldConflicts: Force/,
    ])
      t.match(message, words);
    t.notMatch(message, /spec\.changes\[3\]/);
    const succeeded = (at(status, 'conditions') as readonly JsonObject[]).find(({ type }) => type === 'Succeeded');
    t.equal(succeeded?.reason, 'FieldConflict');
    t.match(itemsOf(status), [{ error: { reason: 'FieldConflict' } }]);
    t.same(await portraits(client, paths), before, 'nothing is written');
  });

  await t.test('Fail: the managers share equal values', async (t) => {
    await theirs('ConfigMap', 'same', { color: 'blue' });
    await stage.transaction('same', [
      { type: 'Apply', content: manifest('ConfigMap', 'same', { color: 'blue', size: 'x' }), ...fail },
    ]);
    t.match(await stepToEnd(stage, 'same'), { phase: 'Committed' });
  });

  await t.test('Force, the default: the engine takes the fields over, and the undo gives them back', async (t) => {
    const at = await theirs('ConfigMap', 'taken', { color: 'blue' });
    const before = await portraits(client, [at]);
    await stage.transaction('taken', [{ type: 'Apply', content: manifest('ConfigMap', 'taken', { color: 'green' }) }]);
    const { status } = await stepToEnd(stage, 'taken');
    t.match(itemsOf(status), [{ tookFieldsFrom: ['their-tool'] }]);
    await stage.annotate('taken', { 'tx.janus.io/request-rollback': '1' });
    t.match(await stepToEnd(stage, 'taken'), { phase: 'RolledBack' });
    t.same(await portraits(client, [at]), before);
  });

  await t.test('Fail: a conflict that appears after the checks undoes all changes, and is not retried', async (t) => {
    const first = await theirs('ConfigMap', 'first', { color: 'blue' });
    const later = await theirs('ConfigMap', 'later', { color: 'blue' });
    const before = await portraits(client, [first]);
    await stage.transaction('late', [
      change('Patch', 'first', { data: { size: 'large' } }),
      { ...change('Patch', 'later', { data: { size: 'large' } }), ...fail },
    ]);
    await stepUntil(stage, 'late', 'Prepared');
    must(
      await client.apply(later, manifest('ConfigMap', 'later', { color: 'blue', size: 'large' }), { fieldManager: 'their-tool' }),
    );
    must(
      await client.apply(later, manifest('ConfigMap', 'later', { color: 'blue', size: 'tiny' }), { fieldManager: 'their-tool' }),
    );
    const { status, phase } = await stepToEnd(stage, 'late');
    t.equal(phase, 'RolledBack');
    t.equal(conditionOf(status, 'Succeeded'), 'False');
    t.same(await portraits(client, [first]), before);
    t.match(must(await client.get(later)), { data: { size: 'tiny' } });
  });
});
