// Finalizers, deletion, and the order of calls: rules that hold for the double and for the real Metacontroller alike.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../client.ts';
import { finalizersOf } from './parents.ts';
import { loopKinds } from './scripted-hook.ts';
import { asItWas, setStage, status } from './stage.ts';

for (const kind of loopKinds) {
  t.test(`the life of a parent, through the ${kind}`, { timeout: 180_000 }, async (t) => {
    const stage = await setStage(t, kind);
    const { client, finalizer } = stage;
    const hasFinalizer = (object: JsonObject): boolean => finalizersOf(object).includes(finalizer);

    await t.test('the loop leaves a foreign parent, and finalizes one that no longer matches', async (t) => {
      const other = await stage.parent('other', (call) => asItWas(call), { labels: { loop: 'theirs' } });
      const leaving = await stage.parent('leaving', ({ path }) =>
        path === '/sync' ? status('Ours', 1) : status('Left', 2, { finalized: true }),
      );
      await leaving.becomes('synced', (object) => at(object, 'status', 'phase') === 'Ours');
      must(await client.patch(leaving.path, { metadata: { labels: { loop: null } } }));
      const left = await leaving.becomes('left', (object) => at(object, 'status', 'phase') === 'Left');
      t.notOk(hasFinalizer(left), 'its finalizer is taken away');
      t.match(leaving.calls().at(-1)?.request, { finalizing: true, parent: { metadata: { deletionTimestamp: undefined } } });
      t.same(finalizersOf(await other.live()), []);
      t.equal(other.calls().length, 0);
    });

    await t.test('finalized takes the finalizer away, also from a parent that lives; the next turn puts it back', async (t) => {
      const parent = await stage.parent('premature', (call, number) =>
        number === 1 ? status('First', 1, { finalized: true }) : asItWas(call),
      );
      await parent.called(2);
      const found = await parent.becomes('with its finalizer again', hasFinalizer);
      t.equal(at(found, 'status', 'phase'), 'First', 'and the loop still stores the status');
    });

    await t.test('the loop finalizes a parent that a foreign finalizer keeps on each event, and stores its status', async (t) => {
      const parent = await stage.parent(
        'kept',
        ({ path }) => (path === '/sync' ? status('Live', 1) : status('Deleted', 2, { finalized: true })),
        { finalizers: ['example.com/kept'] },
      );
      await parent.becomes('synced', (object) => at(object, 'status', 'phase') === 'Live');
      must(await client.delete(parent.path));
      const found = await parent.becomes(
        'finalized',
        (object) => !hasFinalizer(object) && at(object, 'status', 'phase') === 'Deleted',
      );
      t.same(finalizersOf(found), ['example.com/kept']);
      const before = parent.calls().length;
      must(await client.patch(parent.path, { metadata: { annotations: { again: 'yes' } } }));
      await parent.called(before + 1);
      must(await client.patch(parent.path, { metadata: { finalizers: null } }));
      t.ok(await parent.gone());
    });

    await t.test('the parent vanishes during the call: finalized fails, not finalized is quiet', async (t) => {
      for (const finalized of [true, false]) {
        const parent = await stage.parent(`vanishing-${finalized}`, async ({ path }) => {
          if (path === '/sync') return status('Live', 1);
          must(await client.patch(parent.path, { metadata: { finalizers: null } }));
          return status('Deleted', 2, { finalized });
        });
        await parent.becomes('synced', (object) => at(object, 'status', 'phase') === 'Live');
        must(await client.delete(parent.path));
        await parent.gone();
        if (finalized) t.match(await parent.warned("can't remove finalizer"), /not found$/);
        else t.same(await parent.warnings(), []);
      }
    });

    await t.test('an answer for a parent that was replaced meanwhile is not stored in its successor', async (t) => {
      const phases: (string | undefined)[] = [];
      const parent = await stage.parent('replaced', async (call) => {
        phases.push(textAt(call.parent, 'status', 'phase'));
        if (phases.length > 1) return status('New', 1);
        must(await client.patch(parent.path, { metadata: { finalizers: null } }));
        must(await client.delete(parent.path));
        const { metadata, ...rest } = call.parent;
        const fresh = { name: 'replaced', labels: at(metadata, 'labels') ?? {} };
        must(await client.create(parent.path.slice(0, parent.path.lastIndexOf('/')), { ...rest, metadata: fresh }));
        return status('Old', 1);
      });
      await waitFor(
        async () => textAt(await parent.live().catch(() => ({})), 'status', 'phase') === 'New',
        'the successor to be synced',
      );
      t.notOk(phases.includes('Old'));
    });

    await t.test('one call at a time for a parent, however often it changes; others are not held up', async (t) => {
      const gate = Promise.withResolvers<void>();
      let under = 0;
      let most = 0;
      const parent = await stage.parent('busy', async (call, number) => {
        under += 1;
        most = Math.max(most, under);
        if (number === 2) await gate.promise;
        under -= 1;
        return asItWas(call);
      });
      must(await client.patch(parent.path, { metadata: { annotations: { change: '0' } } }));
      await parent.called(2);
      for (let change = 1; change <= 20; change += 1)
        must(await client.patch(parent.path, { metadata: { annotations: { change: `${change}` } } }));
      const neighbour = await stage.parent('neighbour', () => status('Served', 1));
      await neighbour.becomes('served', (object) => at(object, 'status', 'phase') === 'Served');
      gate.resolve();
      await waitFor(
        () => at(parent.calls().at(-1)?.parent, 'metadata', 'annotations', 'change') === '20',
        'the last change to be seen',
      );
      t.equal(most, 1);
      t.ok(parent.calls().length < 10, `20 changes during a call are few calls after it, found ${parent.calls().length}`);
    });
  });
}
