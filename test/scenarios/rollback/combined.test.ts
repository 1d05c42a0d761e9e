// Rollbacks among other ends of releases: what a rolled-back release has left or kept, records that were deleted, rollbacks over rollbacks,
// undos of what a rollback has undone, and a release that ends while a rollback waits for its locks.
import t, { type Test } from 'tap';
import { at, type JsonObject, listAt, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { config, createRollback, release, rollBack, takeBack } from '../../support/releases.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { step, stepToEnd } from '../../support/stepping.ts';
import { portraits } from '../../support/targets.ts';

const namesUndone = (status: JsonObject): readonly unknown[] =>
  listAt(status, 'rollback', 'undone').map((one) => textAt(one, 'name'));

const show = (stage: Stage): Promise<readonly unknown[]> =>
  portraits(
    stage.client,
    ['a', 'b'].map((name) => stage.path(`configmaps/${name}`)),
    true,
  );

const dataOf = async (stage: Stage, name: string): Promise<unknown> => {
  const answer = await stage.client.get(stage.path(`configmaps/${name}`));
  return answer.code === 404 ? undefined : at(must(answer), 'data', 'v');
};

async function committed(t: Test, stage: Stage, name: string, rollback: JsonObject): Promise<JsonObject> {
  const status = await rollBack(stage, name, rollback);
  t.equal(textAt(status, 'phase'), 'Committed', `${name}: ${textAt(status, 'message')}`);
  return status;
}

async function refused(t: Test, stage: Stage, name: string, rollback: JsonObject): Promise<string> {
  const status = await rollBack(stage, name, rollback);
  t.equal(textAt(status, 'phase'), 'Failed', name);
  return textAt(status, 'message') ?? '';
}

const both = (v: string): readonly JsonObject[] => [config('a', { v }), config('b', { v })];

async function edit(stage: Stage, name: string, data: JsonObject): Promise<void> {
  must(await stage.client.patch(stage.path(`configmaps/${name}`), { data }, 'merge', { fieldManager: 'kubectl-edit' }));
}

t.test('rollbacks over rollbacks', async (t: Test) => {
  const stage = await startStage(t);
  const states: (readonly unknown[])[] = [await show(stage)];
  for (const v of ['1', '2', '3', '4']) {
    await release(stage, `v${v}`, both(v));
    states.push(await show(stage));
  }
  await t.test('a rollback is taken back, and made again', async (t) => {
    await committed(t, stage, 'first', { to: 'v2' });
    await takeBack(stage, 'first');
    t.same(await show(stage), states[4]);
    t.same(namesUndone(await committed(t, stage, 'again', { to: 'v2' })), ['v4', 'v3']);
    t.same(await show(stage), states[2]);
  });
  await t.test('a further rollback on top of it', async (t) => {
    t.same(namesUndone(await committed(t, stage, 'further', { to: 'v1' })), ['again', 'v4', 'v3', 'v2']);
    t.same(await show(stage), states[1]);
  });
  await t.test('to a release that a rollback has undone', async (t) => {
    await committed(t, stage, 'forth', { to: 'v3' });
    t.same(await show(stage), states[3]);
  });
  await t.test('each is taken back, the newest first', async (t) => {
    await takeBack(stage, 'forth');
    t.same(await show(stage), states[1]);
    await takeBack(stage, 'further');
    t.same(await show(stage), states[2]);
    await takeBack(stage, 'again');
    t.same(await show(stage), states[4]);
  });
});

t.test('the undo of a release that a rollback has undone names the rollback', async (t: Test) => {
  const stage = await startStage(t);
  for (const v of ['1', '2', '3']) await release(stage, `v${v}`, both(v));
  await committed(t, stage, 'back', { to: 'v1' });
  await stage.annotate('v3', { 'tx.janus.io/request-rollback': 'yes' });
  const answer = await waitFor(async () => textAt(await stage.read('v3'), 'status', 'undo', 'message'), 'the answer');
  t.match(answer, /restored by Transaction \S+\/back/);
  t.notMatch(answer, /\/v1/);
  t.match(await stage.read('v3'), { status: { phase: 'Committed' } });
  await takeBack(stage, 'back');
  await takeBack(stage, 'v3', 'again');
  t.equal(await dataOf(stage, 'a'), '2');
});

t.test('the undo of a release before those that a rollback has undone', async (t: Test) => {
  const stage = await startStage(t);
  await release(stage, 'v1', [config('a', { v: '1' })]);
  const before = await show(stage);
  for (const v of ['2', '3', '4']) await release(stage, `v${v}`, both(v));
  await committed(t, stage, 'back', { to: 'v2' });
  await takeBack(stage, 'v2');
  t.same(await show(stage), before);
});

t.test('what a release that was rolled back has kept is an edit', async (t: Test) => {
  const stage = await startStage(t);
  await release(stage, 'v1', both('1'));
  await release(stage, 'v2', both('2'));
  await stage.annotate('v2', { 'tx.janus.io/undo-keep': 'ConfigMap/b' });
  await takeBack(stage, 'v2');
  t.same([await dataOf(stage, 'a'), await dataOf(stage, 'b')], ['1', '2']);
  await release(stage, 'v3', [config('a', { v: '3' })]);
  const message = await refused(t, stage, 'refused', { to: '' });
  t.match(message, /ConfigMap \S+\/b.*data\.v.*spec\.rollback\.keep or in spec\.rollback\.overwrite/);
  t.notMatch(message, /roll back that Transaction first/);
  await committed(t, stage, 'keeping', { to: '', keep: ['ConfigMap/b'] });
  t.same([await dataOf(stage, 'a'), await dataOf(stage, 'b')], [undefined, '2']);
  await takeBack(stage, 'keeping');
  await committed(t, stage, 'overwriting', { to: '', overwrite: ['ConfigMap/b'] });
  t.same([await dataOf(stage, 'a'), await dataOf(stage, 'b')], [undefined, undefined]);
});

t.test('what the undo of a release has left is an edit', async (t: Test) => {
  const stage = await startStage(t);
  await release(stage, 'v1', both('1'));
  await release(stage, 'v2', both('2'));
  await edit(stage, 'b', { v: 'hotfix' });
  await stage.annotate('v2', { 'tx.janus.io/undo-partial': 'true', 'tx.janus.io/request-rollback': 'yes' });
  await stage.phase('v2', 'Failed');
  await release(stage, 'v3', [config('a', { v: '3' })]);
  const message = await refused(t, stage, 'refused', { to: 'v1' });
  t.match(message, /ConfigMap \S+\/b.*data\.v.*kubectl-edit/);
  const partial = await committed(t, stage, 'partial', { to: 'v1', partial: true });
  t.same(namesUndone(partial), ['v3', 'v2']);
  t.same([await dataOf(stage, 'a'), await dataOf(stage, 'b')], ['1', 'hotfix']);
  await takeBack(stage, 'partial');
  await committed(t, stage, 'overwriting', { to: 'v1', overwrite: ['ConfigMap/b'] });
  t.same([await dataOf(stage, 'a'), await dataOf(stage, 'b')], ['1', '1']);
});

t.test('a record that was deleted is named in the plan', async (t: Test) => {
  const stage = await startStage(t);
  const forget = async (name: string): Promise<void> => {
    const path = `/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/${name}`;
    must(await stage.client.delete(path));
    await waitFor(async () => (await stage.client.get(path)).code === 404, `${name} to go`);
  };
  const planned = async (name: string, to: string): Promise<readonly unknown[]> => {
    await createRollback(stage, name, { to }, { annotations: { 'tx.janus.io/plan-undo': '1' } });
    const items = () => stage.read(name).then((found) => at(found, 'status', 'undo', 'items'));
    return (await waitFor(items, 'the plan')) as readonly JsonObject[];
  };
  for (const v of ['1', '2', '3', '4']) await release(stage, `v${v}`, [config('a', { v })]);
  await forget('v4');
  t.match(await planned('over', 'v1'), [{ message: /Transaction \S+\/v4 was deleted: its values are overwritten/ }]);
  await committed(t, stage, 'back', { to: 'v2' });
  t.equal(await dataOf(stage, 'a'), '2');
  await takeBack(stage, 'back');
  await forget('v2');
  t.match(await planned('on', 'v1'), [{ message: /Transaction \S+\/v2 was deleted: its values stay/ }]);
  await committed(t, stage, 'beyond', { to: 'v1' });
  t.equal(await dataOf(stage, 'a'), '2');
});

t.test('a release ends while the rollback waits', async (t: Test) => {
  const stage = await startStage(t, { withoutLoop: true });
  const commits = async (name: string, changes: readonly JsonObject[]): Promise<void> => {
    await stage.transaction(name, changes, { spec: { fieldManager: 'shop' } });
    const { phase, status } = await stepToEnd(stage, name);
    if (phase !== 'Committed') throw new Error(`${name}: ${textAt(status, 'message')}`);
  };
  await commits('v1', both('1'));
  const wanted = await show(stage);
  await commits('v2', both('2'));
  await createRollback(stage, 'back', { to: 'v1' });
  const composed = await waitFor(async () => {
    const { status } = await step(stage, 'back');
    return at(status, 'rollback') === undefined ? undefined : status;
  }, 'the rollback to be composed');
  t.same(namesUndone(composed), ['v2']);
  await commits('v3', [...both('3'), config('c', { v: '3' })]);
  const { status, phase } = await stepToEnd(stage, 'back');
  t.equal(phase, 'Committed', String(textAt(status, 'message')));
  t.same(namesUndone(status), ['v3', 'v2']);
  t.same(await show(stage), wanted);
  t.equal((await stage.client.get(stage.path('configmaps/c'))).code, 404);
  t.same(await stage.leases(), []);
});

t.test('an object that one release has sealed is sealed', async (t: Test) => {
  const stage = await startStage(t);
  const { client, path } = stage;
  const [one, two] = ['first-password', 'second-password'];
  const secret = (value: string): JsonObject => ({
    type: 'Apply',
    content: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { key: value } },
  });
  await release(stage, 'v1', [secret(one)]);
  await release(stage, 'v2', [secret(two)]);
  await release(stage, 'v3', [secret('third-password')]);
  must(
    await client.patch(path('secrets/s'), { stringData: { key: 'hotfix-password' } }, 'merge', { fieldManager: 'kubectl-edit' }),
  );
  const message = await refused(t, stage, 'refused', { to: 'v1' });
  t.match(message, /Secret \S+\/s.*kubectl-edit/);
  await committed(t, stage, 'back', { to: 'v1', overwrite: ['Secret/s'] });
  const stored = must(await client.get(path('secrets/s')));
  t.equal(Buffer.from(textAt(stored, 'data', 'key') ?? '', 'base64').toString(), one);
  const texts = [await stage.read('refused'), await stage.read('back'), await client.list(path('configmaps'))].map((text) =>
    JSON.stringify(text),
  );
  for (const value of [one, two, 'third-password', 'hotfix-password'])
    for (const text of texts) t.notOk(text.includes(value) || text.includes(Buffer.from(value).toString('base64')), 'no value');
});
