// spec.rollback: back to any earlier release in one Transaction, with one write for each object, and its undo brings back what was there.
import t, { type Test } from 'tap';
import { at, textAt } from '../../../hooks/objects/json.ts';
import { config, release, removal, rollBack, takeBack } from '../../support/releases.ts';
import { startStage } from '../../support/stage.ts';
import { portraits } from '../../support/targets.ts';

t.test('four releases', async (t: Test) => {
  const stage = await startStage(t);
  const places = ['a', 'b', 'c', 'd'].map((name) => stage.path(`configmaps/${name}`));
  const show = () => portraits(stage.client, places, true);
  const states = [await show()];
  await release(stage, 'v1', [config('a', { v: '1', only: 'one' }), config('b', { v: '1' })]);
  states.push(await show());
  await release(stage, 'v2', [config('a', { v: '2' }), config('b', { v: '2' }), config('c', { v: '2' })]);
  states.push(await show());
  await release(stage, 'v3', [config('a', { v: '3', more: 'x' }), removal('b'), config('d', { v: '3' })]);
  states.push(await show());
  await release(stage, 'v4', [config('a', { v: '4' }), config('c', { v: '4' })]);
  states.push(await show());

  await t.test('back to the second', async (t) => {
    const status = await rollBack(stage, 'back', { to: 'v2' });
    t.equal(textAt(status, 'phase'), 'Committed', String(textAt(status, 'message')));
    t.same(await show(), states[2]);
    t.same(at(status, 'rollback', 'undone'), [
      { name: 'v4', uid: textAt(await stage.read('v4'), 'metadata', 'uid') },
      { name: 'v3', uid: textAt(await stage.read('v3'), 'metadata', 'uid') },
    ]);
  });

  await t.test('the undo of the rollback', async (t) => {
    await takeBack(stage, 'back');
    t.same(await show(), states[4]);
  });

  await t.test('before the first', async (t) => {
    const status = await rollBack(stage, 'gone', { to: '' });
    t.equal(textAt(status, 'phase'), 'Committed', String(textAt(status, 'message')));
    t.same(await show(), states[0]);
  });
});
