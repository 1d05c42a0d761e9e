// Work on many items, a few at a time: results in order, and no new work after one that throws.
import t from 'tap';
import { inTurn } from '../../../../hooks/objects/requests/in-turn.ts';

const items = [0, 1, 2, 3, 4, 5];

t.test('results have the order of the items, and at most so many are under way', async (t) => {
  let [running, most] = [0, 0];
  const work = async (item: number): Promise<number> => {
    running += 1;
    most = Math.max(most, running);
    for (let turn = item; turn < items.length; turn += 1) await Promise.resolve();
    running -= 1;
    return item * 2;
  };
  t.same(await inTurn(items, work, 2), [0, 2, 4, 6, 8, 10]);
  t.equal(most, 2);
});

t.test('after one that throws, no other is begun', async (t) => {
  const begun: number[] = [];
  const open = Promise.withResolvers<void>();
  const work = async (item: number): Promise<void> => {
    begun.push(item);
    if (item === 1) throw new Error('refused');
    await open.promise;
  };
  await t.rejects(inTurn(items, work, 2), { message: 'refused' });
  open.resolve();
  await new Promise(setImmediate);
  t.same(begun, [0, 1]);
});
