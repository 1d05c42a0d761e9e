// The API server keeps ten entries of managers that update; the oldest of more are folded into one named ancient-changes. Our
// own writes may push others over that limit, and theirs may push us: neither may take a field from anyone.
import t, { type Test } from 'tap';
import { managersOf } from '../../../hooks/objects/content/fields.ts';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { commit, managerNames, portrait, undoAll } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

/** So many others, one after the other, each with a key of its own. */
async function writeAs(stage: Stage, name: string, who: string, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, index) => index);
  for (const number of numbers) {
    const data = { [`${who}${number}`]: 'theirs' };
    must(await stage.client.patch(stage.path(`configmaps/${name}`), { data }, 'merge', { fieldManager: `${who}${number}` }));
  }
}

function owners(object: JsonObject, key: string): readonly string[] {
  const text = JSON.stringify(['f:data', `f:${key}`]);
  return managersOf(object)
    .filter(({ fields }) => fields.has(text))
    .map(({ name }) => name);
}

/** The name of the entry that the API server folds the oldest ones into. */
const folded = 'ancient-changes';

/** Every key has one owner: the one of before or, of those that were written later, the one named like it, unless that was folded. None is ours. */
function showOwned(t: Test, object: JsonObject, before: JsonObject): void {
  for (const key of Object.keys((object.data ?? {}) as JsonObject)) {
    const [owner = 'nobody', ...more] = owners(object, key);
    const [earlier = key] = owners(before, key);
    t.same(more, [], `${key} belongs to one`);
    t.ok([earlier, folded].includes(owner), `${key} belongs to ${owner}, and did to ${earlier}`);
  }
  t.notOk(
    managerNames(object).some((name) => name.startsWith('janus')),
    `no manager of ours among ${managerNames(object)}`,
  );
}

// Entries whose times differ are folded in another order than those of one second, and times are whole seconds.
async function nextSecond({ client }: Stage): Promise<void> {
  const now = async (): Promise<string> => String((await client.get('/version')).headers.date);
  const began = await now();
  await waitFor(async () => (await now()) !== began, 'the next second of the API server');
}

const ours = { data: { color: 'green', extra: 'ours' } };

t.test('the engine undoes changes although the API server merges managers', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;

  for (const type of ['Update', 'Patch', 'Delete'] as const)
    for (const count of [8, 9, 10, 14])
      await t.test(`${count} others before a ${type}`, async (t) => {
        const name = `before-${count}-${type}`.toLowerCase();
        await createConfigMaps(stage, [name]);
        await writeAs(stage, name, 'early', count);
        const before = await portrait(stage, path(`configmaps/${name}`), true);
        await commit(stage, name, [change(type, name, type === 'Delete' ? undefined : ours)]);
        await undoAll(stage, name);
        t.same(await portrait(stage, path(`configmaps/${name}`), true), before, 'as before, to the last entry');
      });

  for (const type of ['Update', 'Patch'] as const)
    for (const [early, late] of [
      [0, 9],
      [0, 10],
      [0, 14],
      [9, 3],
      [10, 10],
    ] as const)
      await t.test(`${early} others before a ${type}, and ${late} between it and its undo`, async (t) => {
        const name = `between-${early}-${late}-${type}`.toLowerCase();
        await createConfigMaps(stage, [name]);
        await writeAs(stage, name, 'early', early);
        const before = must(await client.get(path(`configmaps/${name}`)));
        const content = type === 'Patch' ? ours : { ...ours, data: { ...(before.data as JsonObject), ...ours.data } };
        await nextSecond(stage);
        await commit(stage, name, [change(type, name, content)]);
        await nextSecond(stage);
        await writeAs(stage, name, 'late', late);
        await nextSecond(stage);
        await undoAll(stage, name);
        const found = must(await client.get(path(`configmaps/${name}`)));
        const theirs = Object.fromEntries(Array.from({ length: late }, (_, index) => [`late${index}`, 'theirs']));
        t.same(found.data, { ...(before.data as JsonObject), ...theirs });
        showOwned(t, found, before);
      });
});
