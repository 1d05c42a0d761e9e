// What blocks a requested undo before its first write, beside changes by other writers: rights, the ServiceAccount, locks; and what an answer
// may show of a sealed object.
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { account, type Stage, startStage } from '../../support/stage.ts';
import { change, portraits } from '../../support/targets.ts';

const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
const green = { data: { color: 'green' } };

async function commit(stage: Stage, name: string, changes: readonly JsonObject[], spec: JsonObject = {}): Promise<void> {
  await stage.transaction(name, changes, { spec });
  const status = await stage.finished(name);
  if (textAt(status, 'phase') !== 'Committed') throw new Error(`${name}: ${textAt(status, 'message')}`);
}

async function painted(stage: Stage, name: string): Promise<void> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { color: 'blue' } };
  must(await stage.client.create(stage.path('configmaps'), object));
}

function undoOf(stage: Stage, name: string, value: string): Promise<JsonObject> {
  return waitFor(async () => {
    const undo = at(await stage.read(name), 'status', 'undo');
    return textAt(undo, 'request', 'value') === value ? (undo as JsonObject) : undefined;
  }, `the answer to ${value}`);
}

async function mayNot(t: Test, stage: Stage, verb: string): Promise<void> {
  const path = `/apis/rbac.authorization.k8s.io/v1/clusterroles/${stage.namespace}`;
  const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'].filter((one) => one !== verb);
  must(await stage.client.patch(path, { rules: [{ ...everything, verbs }] }));
  t.teardown(() => stage.client.patch(path, { rules: [everything] }));
}

t.test('a missing right blocks the undo, and nothing is written', async (t) => {
  const stage = await startStage(t);
  await painted(stage, 'one');
  await commit(stage, 'tx', [change('Patch', 'one', green), change('Create', 'two', green)]);
  const places = ['configmaps/one', 'configmaps/two'].map(stage.path);
  const before = await portraits(stage.client, places);

  await t.test('to delete: by a review', async (t) => {
    await mayNot(t, stage, 'delete');
    await stage.annotate('tx', { 'tx.janus.io/request-rollback': '1' });
    const undo = await undoOf(stage, 'tx', '1');
    t.match(undo, { reason: 'UndoRefused', counts: { blocked: 1, restore: 1 } });
    t.match(at(undo, 'items'), [
      { index: 1, reason: 'Forbidden', message: new RegExp(`${account} may not delete configmaps "two"`) },
    ]);
    t.same(await portraits(stage.client, places), before);
  });

  await t.test('to restore: by the dry run', async (t) => {
    await mayNot(t, stage, 'update');
    await stage.annotate('tx', { 'tx.janus.io/request-rollback': '2' });
    const undo = await undoOf(stage, 'tx', '2');
    t.match(undo, { reason: 'UndoRefused', counts: { blocked: 1, delete: 1 } });
    t.match(at(undo, 'items'), [{ index: 0, reason: 'Forbidden' }]);
    t.same(await portraits(stage.client, places), before);
  });

  await t.test('without the ServiceAccount', async (t) => {
    const path = stage.path(`serviceaccounts/${account}`);
    must(await stage.client.delete(path));
    await stage.annotate('tx', { 'tx.janus.io/request-rollback': '3' });
    const undo = await undoOf(stage, 'tx', '3');
    t.match(undo, { reason: 'UndoRefused', counts: { blocked: 2 }, items: [{ reason: 'ServiceAccountMissing' }] });
    must(await stage.client.create(stage.path('serviceaccounts'), { metadata: { name: account } }));
    t.same(await portraits(stage.client, places), before);
  });

  await t.test('with it the undo is whole', async (t) => {
    await stage.annotate('tx', { 'tx.janus.io/request-rollback': '4' });
    await stage.phase('tx', 'RolledBack');
    await stage.finished('tx');
    t.equal((await stage.client.get(stage.path('configmaps/two'))).code, 404);
    t.equal(textAt(must(await stage.client.get(stage.path('configmaps/one'))), 'data', 'color'), 'blue');
  });
});

t.test('a target that others recreated blocks the undo of its Namespace, and nothing is written', async (t) => {
  const stage = await startStage(t);
  const { client, namespace } = stage;
  const name = `${namespace}-own`;
  const inside = `/api/v1/namespaces/${name}/configmaps`;
  t.teardown(() => client.delete(`/api/v1/namespaces/${name}`));
  await commit(stage, 'tx', [
    change('Create', name, {}, { kind: 'Namespace' }),
    ...['one', 'two'].map((own) => change('Create', own, green, { namespace: name })),
  ]);
  must(await client.delete(`${inside}/one`));
  must(await client.create(inside, { metadata: { name: 'one' }, data: { color: 'theirs' } }));
  await stage.annotate('tx', { 'tx.janus.io/request-rollback': '1' });
  t.match(await undoOf(stage, 'tx', '1'), {
    reason: 'UndoRefused',
    counts: { blocked: 1, delete: 1, nothing: 1 },
    items: [{ target: `Namespace ${name}`, reason: 'NotEmpty', message: /deleted with it: ConfigMap one$/ }],
  });
  t.match(await client.get(`${inside}/two`), { code: 200 });

  must(await client.delete(`${inside}/one`));
  // A list counts for a moment: the next request may still find the object in it, and is refused.
  let request = 1;
  const isUndone = async (): Promise<boolean> => {
    request += 1;
    await stage.annotate('tx', { 'tx.janus.io/request-rollback': `${request}` });
    const answered = async (): Promise<string | undefined> => {
      const status = at(await stage.read('tx'), 'status');
      const isRefused =
        textAt(status, 'undo', 'request', 'value') === `${request}` && textAt(status, 'undo', 'reason') !== undefined;
      return textAt(status, 'phase') === 'RolledBack' ? 'undone' : isRefused ? 'refused' : undefined;
    };
    return (await waitFor(answered, `the answer to ${request}`)) === 'undone';
  };
  await waitFor(isUndone, 'the undo of the empty Namespace');
});

t.test('no value of a Secret is in an answer', async (t) => {
  const stage = await startStage(t);
  const secret = (value: string): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'keys' },
    data: { key: Buffer.from(value).toString('base64') },
  });
  must(await stage.client.create(stage.path('secrets'), secret('canary-before')));
  await commit(stage, 'tx', [{ type: 'Apply', content: secret('canary-released') }]);
  await stage.annotate('tx', { 'tx.janus.io/plan-undo': '1' });
  const plan = await undoOf(stage, 'tx', '1');
  t.match(plan, { counts: { restore: 1 }, items: [{ fields: [{ before: '‹sealed›', now: '‹sealed›' }] }] });
  must(
    await stage.client.patch(stage.path('secrets/keys'), { data: { key: 'Y2FuYXJ5LW5vdw==' } }, 'merge', {
      fieldManager: 'kubectl-edit',
    }),
  );
  await stage.annotate('tx', { 'tx.janus.io/request-rollback': '2' });
  const refusal = await undoOf(stage, 'tx', '2');
  t.match(refusal, { reason: 'UndoRefused', items: [{ fields: [{ manager: 'kubectl-edit', now: '‹sealed›' }] }] });
  t.not(textAt(plan, 'digest'), textAt(refusal, 'digest'));
  const status = JSON.stringify(at(await stage.read('tx'), 'status'));
  for (const word of ['canary', 'Y2FuYXJ5']) t.notMatch(status, word);
});

t.test('an undo that waits for a lock is refused after spec.lockWait, and nothing is written', async (t) => {
  const stage = await startStage(t);
  await painted(stage, 'one');
  await commit(stage, 'first', [change('Patch', 'one', green)], { lockWait: '1s' });
  const gate = { ready: { field: { path: '.data.ready', value: 'yes' } }, timeout: '60s' };
  await stage.transaction('holder', [{ ...change('Patch', 'one', { data: { size: 'large' } }), gate }]);
  await stage.phase('holder', 'Committing');
  await stage.annotate('first', { 'tx.janus.io/request-rollback': '1' });
  await waitFor(async () => {
    const status = at(await stage.read('first'), 'status');
    return textAt(status, 'handledAnnotations', 'tx.janus.io/request-rollback') === '1' ? true : undefined;
  }, 'the answer');
  const status = at(await stage.read('first'), 'status');
  t.match(status, { phase: 'Committed', message: /has no effect.*locked by Transaction.*holder/ });
  t.equal(textAt(must(await stage.client.get(stage.path('configmaps/one'))), 'data', 'color'), 'green');
});

t.test('two undos at once: the later one is undone, the earlier one is whole or refused', async (t) => {
  const stage = await startStage(t);
  await painted(stage, 'one');
  await commit(stage, 'first', [change('Patch', 'one', green)]);
  await commit(stage, 'second', [change('Patch', 'one', { data: { color: 'red' } })]);
  const request = { 'tx.janus.io/request-rollback': '1' };
  await Promise.all(['first', 'second'].map((name) => stage.annotate(name, request)));
  await stage.phase('second', 'RolledBack');
  await stage.finished('second');
  const status = await waitFor(async () => {
    const found = at(await stage.read('first'), 'status');
    const isOver = textAt(found, 'phase') === 'RolledBack' || textAt(found, 'undo', 'reason') === 'UndoRefused';
    return isOver ? (found as JsonObject) : undefined;
  }, 'the end of the first');
  const color = textAt(must(await stage.client.get(stage.path('configmaps/one'))), 'data', 'color');
  t.equal(color, textAt(status, 'phase') === 'RolledBack' ? 'blue' : 'green');
});

t.test('an object that a Transaction deleted is there again, exactly', async (t) => {
  const stage = await startStage(t);
  await painted(stage, 'one');
  const [before] = await portraits(stage.client, [stage.path('configmaps/one')], true);
  await commit(stage, 'tx', [change('Delete', 'one')]);
  await stage.annotate('tx', { 'tx.janus.io/plan-undo': '1' });
  t.match(await undoOf(stage, 'tx', '1'), { counts: { recreate: 1 }, items: [{ verdict: 'Recreate', target: 'ConfigMap one' }] });
  await stage.annotate('tx', { 'tx.janus.io/request-rollback': '1' });
  await stage.phase('tx', 'RolledBack');
  await stage.finished('tx');
  t.same(await portraits(stage.client, [stage.path('configmaps/one')], true), [before]);
});
