// A list with keys may hold one key twice: environment variables of a container, and lists from before their schema declared keys. A
// change removes the duplicates, and its undo leaves the owners of all items as they were. (The API server refuses a change that adds
// duplicates.)
import fc from 'fast-check';
import t from 'tap';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { commit, portrait, undoAll } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { change } from '../../support/targets.ts';

const deployment = { apiVersion: 'apps/v1', kind: 'Deployment' };

/** `A1 M1 M2`: items by their names, each with its value. */
function withItems(items: string): JsonObject {
  const env = items.split(' ').map(([name = '', value = '']) => ({ name, value }));
  return {
    replicas: 0,
    paused: true,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'example.org/web:1', env }] } },
  };
}

const item = fc.constantFrom('A1', 'A2', 'B1', 'M1', 'M2');
const list = fc.array(item, { minLength: 1, maxLength: 4 }).map((items) => items.join(' '));
const keyed = fc.uniqueArray(item, { minLength: 1, maxLength: 3, selector: ([name]) => name }).map((items) => items.join(' '));
const found = ['A1 M1 M2|A1 M1', 'A1 M1 M1|A1 M1', 'A1 M1 M2|A1', 'M1 M2 A1|A2 M2 B1'];
const generated = fc
  .sample(fc.tuple(list, keyed), { seed: 7, numRuns: 8 })
  .filter(([before, after]) => before !== after)
  .map((pair) => pair.join('|'));

t.test('an undo restores the owners of the items of a list with duplicates', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  for (const [index, states] of [...new Set([...found, ...generated])].entries())
    await t.test(states, async (t) => {
      const [before = '', after = ''] = states.split('|');
      const name = `web-${index}`;
      const where = path(`apps/v1/deployments/${name}`);
      // Two owners: the first wrote the first item, the second all else.
      const [first = ''] = before.split(' ');
      const object = (items: string): JsonObject => ({ ...deployment, metadata: { name }, spec: withItems(items) });
      must(await client.create(path('apps/v1/deployments'), object(first), { fieldManager: 'first' }));
      must(await client.patch(where, { spec: withItems(before) }, 'merge', { fieldManager: 'second' }));
      const whole = await portrait(stage, where);
      await commit(stage, name, [change('Patch', name, { spec: withItems(after) }, deployment)]);
      await undoAll(stage, name);
      t.same(await portrait(stage, where), whole);
    });
});
