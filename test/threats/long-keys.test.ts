// Who may write an object decides how long its keys are, and may write its managedFields alone. The path of a field repeats all keys above
// it: a few hundred kB can be many GB of paths. Such an object stops neither the engine nor another Transaction.
import t from 'tap';
import { at, isList, type JsonObject, withPath } from '../../hooks/objects/json.ts';
import { must } from '../support/client.ts';
import { commit, partial } from '../support/round-trip.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { stepToEnd } from '../support/stepping.ts';
import { change, createConfigMaps } from '../support/targets.ts';

/** ms; without a bound one reading of such fields takes 50 s. */
const patience = 20_000;

const below = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`f:k${index}`, {}]));
const key = `f:${'x'.repeat(20_000)}`;
const forged: Readonly<Record<string, JsonObject>> = {
  'under one long key': { 'f:metadata': { 'f:annotations': { [key]: below } } },
  'in many levels': Array.from({ length: 200 }).reduce<JsonObject>((inner) => ({ 'f:longer': inner }), below),
};

async function forge({ client, path }: Stage, name: string, fieldsV1: JsonObject): Promise<void> {
  const live = must(await client.get(path(`configmaps/${name}`)));
  const found = at(live, 'metadata', 'managedFields');
  const entry = { manager: 'forged', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 };
  const all = [...(isList(found) ? found : []), entry];
  must(await client.update(path(`configmaps/${name}`), withPath(live, ['metadata', 'managedFields'], all)));
}

const green = { data: { color: 'green' } };

t.test('the engine bounds field paths that exceed its memory', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  let count = 0;
  for (const [what, fieldsV1] of Object.entries(forged)) {
    count += 1;
    const name = (of: string): string => `${of}-${count}`;

    await t.test(`${what}: pre-flight refuses such a target`, async (t) => {
      await createConfigMaps(stage, [name('target')]);
      await forge(stage, name('target'), fieldsV1);
      const began = performance.now();
      await stage.transaction(name('refused'), [change('Patch', name('target'), green)]);
      const { status } = await stepToEnd(stage, name('refused'));
      t.match(status, { phase: 'Failed', items: [{ error: { reason: 'SnapshotTooLarge' } }] });
      t.match(status.message, /keys that are too long: it cannot be compared/);
      t.ok(performance.now() - began < patience);
    });

    await t.test(`${what}: an undo leaves the object, names it, and restores the others`, async (t) => {
      await createConfigMaps(stage, [name('first'), name('second')]);
      await commit(stage, name('undone'), [change('Patch', name('first'), green), change('Patch', name('second'), green)]);
      await forge(stage, name('second'), fieldsV1);
      const began = performance.now();
      await stage.annotate(name('undone'), { 'tx.janus.io/request-rollback': 'yes', ...partial });
      const { status } = await stepToEnd(stage, name('undone'));
      t.match(status, {
        phase: 'Failed',
        items: [{ rolledBack: true }, { left: true, error: { message: /keys that are too long/ } }],
      });
      t.match(must(await stage.client.get(stage.path(`configmaps/${name('first')}`))), { data: { color: 'blue' } });
      t.ok(performance.now() - began < patience);
    });
  }
});
