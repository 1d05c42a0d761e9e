// What stands in the way of a rollback: edits of others, other applications, ends of others, and what is refused before a lock.
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { config, createRollback, release, rollBack, takeBack } from '../../support/releases.ts';
import { conditionOf, type Stage, startStage } from '../../support/stage.ts';
import { portraits } from '../../support/targets.ts';

async function edit(stage: Stage, name: string, data: JsonObject): Promise<void> {
  must(await stage.client.patch(stage.path(`configmaps/${name}`), { data }, 'merge', { fieldManager: 'kubectl-edit' }));
}

const dataOf = async (stage: Stage, name: string): Promise<unknown> =>
  at(must(await stage.client.get(stage.path(`configmaps/${name}`))), 'data');

t.test('what is refused before a lock', async (t: Test) => {
  const stage = await startStage(t);
  await release(stage, 'v1', [config('a', { v: '1' })]);
  await release(stage, 'v2', [config('a', { v: '2' })]);
  await release(stage, 'other', [config('o', { v: '1' })], { spec: { fieldManager: 'billing' } });
  must(await stage.client.create(stage.path('configmaps'), { metadata: { name: 'taken' } }));
  const failing = { type: 'Create', target: { apiVersion: 'v1', kind: 'ConfigMap', name: 'taken' }, content: {} };
  await stage.transaction('failed', [failing], { spec: { fieldManager: 'shop' } });
  t.equal(textAt(await stage.finished('failed'), 'phase'), 'Failed');
  const cases = [
    [{ to: 'failed' }, {}, /failed is Failed, not Committed; a rollback can go to v2, v1/],
    [{ to: 'v0' }, {}, /does not exist; a rollback can go to v2, v1/],
    [{ to: 'other' }, {}, /has another spec\.fieldManager than shop; a rollback can go to v2, v1/],
    [{ to: 'v2' }, {}, /v2 is the newest Transaction/],
    [{ to: 'v1', keep: ['ConfigMap/nope'] }, {}, /ConfigMap\/nope, which is no object/],
    [{ to: 'v1', digest: '0'.repeat(64) }, {}, /the plan is another one now/],
    [{ to: 'v1' }, { fieldManager: undefined as never }, /needs spec\.fieldManager/],
    [{ to: 'v1' }, { serviceAccountName: 'default' }, /Transaction .*\/v2 acted as deployer/],
  ] as const;
  for (const [index, [rollback, spec, message]] of cases.entries()) {
    const status = await rollBack(stage, `bad-${index}`, rollback as unknown as JsonObject, {
      spec: spec as unknown as JsonObject,
    });
    t.equal(textAt(status, 'phase'), 'Failed');
    t.match(textAt(status, 'message') ?? '', message);
    t.same(await stage.leases(), []);
  }
  t.same(await dataOf(stage, 'a'), { v: '2' });
});

t.test('both, or neither, of changes and rollback', async (t: Test) => {
  const stage = await startStage(t);
  const both = stage.transaction('both', [config('a', {})], { spec: { fieldManager: 'shop', rollback: { to: '' } } });
  await t.rejects(both, /spec.*must validate one and only one schema \(oneOf\)/);
  const neither = stage.transaction('neither', [], { spec: { fieldManager: 'shop', changes: undefined as never } });
  await t.rejects(neither, /spec.*must validate one and only one schema \(oneOf\)/);
});

t.test('edits of others', async (t: Test) => {
  const stage = await startStage(t);
  await release(stage, 'v1', [config('a', { v: '1' }), config('b', { v: '1' })]);
  await release(stage, 'v2', [config('a', { v: '2' }), config('b', { v: '2' })]);
  await release(stage, 'v3', [config('a', { v: '3' }), config('b', { v: '3' })]);
  await edit(stage, 'a', { free: 'mine' });
  await edit(stage, 'b', { v: 'hotfix' });
  const before = await portraits(
    stage.client,
    ['a', 'b'].map((name) => stage.path(`configmaps/${name}`)),
  );

  await t.test('a hotfix is in the way, and named', async (t) => {
    const status = await rollBack(stage, 'blocked', { to: 'v1' });
    t.equal(textAt(status, 'phase'), 'Failed');
    t.match(textAt(status, 'message') ?? '', /ConfigMap .*b.*data\.v.*kubectl-edit.*spec\.rollback\.keep/);
  });

  await t.test('kept', async (t) => {
    const status = await rollBack(stage, 'keeping', { to: 'v1', keep: ['ConfigMap/b'] });
    t.equal(textAt(status, 'phase'), 'Committed', String(textAt(status, 'message')));
    t.same(await dataOf(stage, 'a'), { v: '1', free: 'mine' });
    t.same(await dataOf(stage, 'b'), { v: 'hotfix' });
    await takeBack(stage, 'keeping');
    t.same(
      await portraits(
        stage.client,
        ['a', 'b'].map((name) => stage.path(`configmaps/${name}`)),
      ),
      before,
    );
  });

  await t.test('overwritten', async (t) => {
    const status = await rollBack(stage, 'overwriting', { to: 'v1', overwrite: ['ConfigMap/b'] });
    t.equal(textAt(status, 'phase'), 'Committed', String(textAt(status, 'message')));
    t.same(await dataOf(stage, 'b'), { v: '1' });
    t.same(await dataOf(stage, 'a'), { v: '1', free: 'mine' });
  });

  await t.test('a release after a rollback, and back over both', async (t) => {
    await release(stage, 'v4', [config('a', { v: '4' }), config('b', { v: '4' })]);
    const status = await rollBack(stage, 'again', { to: 'v1' });
    t.equal(textAt(status, 'phase'), 'Committed', String(textAt(status, 'message')));
    t.same(await dataOf(stage, 'a'), { v: '1', free: 'mine' });
    t.same(await dataOf(stage, 'b'), { v: '1' });
  });
});

t.test('a Transaction of another application', async (t: Test) => {
  const stage = await startStage(t);
  await release(stage, 'v1', [config('a', { v: '1' })]);
  await release(stage, 'v2', [config('a', { v: '2' })]);
  await release(stage, 'bill', [config('a', { v: 'billing' })], { spec: { fieldManager: 'billing', takeOver: ['shop'] } });
  const status = await rollBack(stage, 'blocked', { to: 'v1' });
  t.equal(textAt(status, 'phase'), 'Failed');
  t.match(textAt(status, 'message') ?? '', /ConfigMap .*a.*Transaction .*\/bill/);
  const over = await rollBack(stage, 'over', { to: 'v1', overwrite: ['ConfigMap/a'] });
  t.equal(textAt(over, 'phase'), 'Committed', String(textAt(over, 'message')));
  t.same(await dataOf(stage, 'a'), { v: '1' });
});

t.test('a plan writes nothing', async (t: Test) => {
  const stage = await startStage(t);
  await release(stage, 'v1', [config('a', { v: '1' })]);
  await release(stage, 'v2', [config('a', { v: '2' })]);
  await createRollback(stage, 'plan', { to: 'v1' }, { annotations: { 'tx.janus.io/plan-undo': '1' } });
  const status = await waitFor(async () => {
    const found = at(await stage.read('plan'), 'status') as JsonObject;
    return at(found, 'undo') === undefined ? undefined : found;
  }, 'the plan');
  t.equal(textAt(status, 'phase'), 'Pending');
  t.not(conditionOf(status, 'Finished'), 'True');
  t.match(at(status, 'undo', 'items'), [{ verdict: 'Restore', fields: [{ path: 'data.v', before: '"1"', now: '"2"' }] }]);
  t.same(await dataOf(stage, 'a'), { v: '2' });
  t.match(at(status, 'rollback'), { undone: [{ name: 'v2' }], objects: [{ kind: 'ConfigMap', name: 'a', way: 'Update' }] });
  const done = await rollBack(stage, 'back', { to: 'v1', digest: textAt(status, 'undo', 'digest') ?? '' });
  t.equal(textAt(done, 'phase'), 'Committed', String(textAt(done, 'message')));
});

t.test('a plan of a blocked rollback shows what is in the way, and stays a plan without its annotation', async (t: Test) => {
  const stage = await startStage(t);
  await release(stage, 'v1', [config('a', { v: '1' }), config('b', { v: '1' })]);
  await release(stage, 'v2', [config('a', { v: '2' }), config('b', { v: '2' })]);
  await edit(stage, 'b', { v: 'hotfix' });
  await createRollback(stage, 'plan', { to: 'v1' }, { annotations: { 'tx.janus.io/plan-undo': '1' } });
  const answered = (value: string) =>
    waitFor(async () => {
      const found = at(await stage.read('plan'), 'status') as JsonObject;
      return textAt(found, 'undo', 'request', 'value') === value ? found : undefined;
    }, `the answer to ${value}`);
  const status = await answered('1');
  t.match(status, { phase: 'Pending', undo: { counts: { blocked: 1, restore: 1 } } });
  const shown = { before: '"1"', released: '"2"', now: '"hotfix"', manager: 'kubectl-edit' };
  t.match(at(status, 'undo', 'items'), [
    { verdict: 'Blocked', reason: 'RollbackConflict', fields: [shown] },
    { verdict: 'Restore' },
  ]);
  const without = { metadata: { annotations: { 'tx.janus.io/plan-undo': null } } };
  const place = `/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/plan`;
  must(await stage.client.patch(place, without as never, 'merge'));
  await stage.annotate('plan', { 'tx.janus.io/plan-undo': '2' });
  t.match(await answered('2'), { phase: 'Pending', undo: { counts: { blocked: 1, restore: 1 } } });
  t.same([await dataOf(stage, 'a'), await dataOf(stage, 'b')], [{ v: '2' }, { v: 'hotfix' }]);
  t.same(await stage.leases(), []);
});
