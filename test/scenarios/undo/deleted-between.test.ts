// Somebody deletes the object of a change before its undo: the undo leaves it deleted and says so, or creates it again on request.
import t from 'tap';
import { codeOfEnd, endLines } from '../../../cli/show/end.ts';
import { viewOf } from '../../../cli/show/view.ts';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { commit, failAfter, itemsOf, managerNames, undo } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { stepTo, stepToEnd } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

const blue: JsonObject = { color: 'blue' };
const red = { data: { color: 'red' } };
const plain = { unicode: true, colors: false };

/** What a user of the command line reads at the end, and its exit code. */
async function ended(stage: Stage, name: string): Promise<{ readonly code: number; readonly text: string }> {
  const view = viewOf(await stage.read(name));
  const ending = { program: 'janus', isEnd: true, wanted: 'RolledBack', columns: 10_000 } as const;
  return { code: codeOfEnd(view, 'RolledBack'), text: endLines(view, '0:01', ending, plain).join('\n') };
}

t.test('an object that somebody deleted', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const released = async (name: string, type: 'Update' | 'Patch' | 'Apply' = 'Patch'): Promise<readonly [string, string]> => {
    const names = [`${name}-gone`, `${name}-there`] as const;
    await createConfigMaps(stage, names, blue);
    await commit(
      stage,
      name,
      names.map((one) => change(type, one, red)),
    );
    must(await client.delete(path(`configmaps/${names[0]}`)));
    return names;
  };
  const colorOf = async (name: string): Promise<unknown> =>
    textAt(must(await client.get(path(`configmaps/${name}`))), 'data', 'color');

  for (const type of ['Update', 'Patch', 'Apply'] as const)
    await t.test(`stays deleted after an undo of ${type}, and the end names it`, async (t) => {
      const [gone, there] = await released(`left-${type.toLowerCase()}`, type);
      const status = await undo(stage, `left-${type.toLowerCase()}`);
      t.match(status, {
        phase: 'Failed',
        message: /^rolled back 1 change, 1 not restored: ConfigMap \S*-gone was deleted by someone else/,
      });
      t.match(itemsOf(status), [
        { left: true, error: { reason: 'Gone' } },
        { rolledBack: true, undone: true, state: 'Restored' },
      ]);
      t.equal((await client.get(path(`configmaps/${gone}`))).code, 404);
      t.equal(await colorOf(there), 'blue');
      const { code, text } = await ended(stage, `left-${type.toLowerCase()}`);
      t.equal(code, 4);
      t.match(text, /1 object is not restored.*-gone was deleted by someone else/s);
      t.match(text, /1 object is as before\./);
      t.match(text, /with --overwrite ConfigMap\/\S+-gone it creates it again/);
    });

  await t.test('is created again by an undo that may overwrite it', async (t) => {
    const [gone] = await released('back');
    const status = await undo(stage, 'back', { 'tx.janus.io/undo-overwrite': `ConfigMap/${gone}` });
    t.match(status, { phase: 'RolledBack', message: /^rolled back 2 changes/ });
    t.equal(await colorOf(gone), 'blue');
    t.strictSame(
      managerNames(must(await client.get(path(`configmaps/${gone}`)))).filter((one) => /janus/.test(one)),
      [],
    );
    t.match(await ended(stage, 'back'), { code: 0, text: /2 objects are as before\./ });
  });

  await t.test('is created again by a retry that may overwrite it', async (t) => {
    const [gone] = await released('retried');
    t.match(await undo(stage, 'retried'), { phase: 'Failed' });
    await stage.annotate('retried', { 'tx.janus.io/retry-rollback': 'yes', 'tx.janus.io/undo-overwrite': `ConfigMap/${gone}` });
    t.match((await stepToEnd(stage, 'retried')).status, { phase: 'RolledBack' });
    t.equal(await colorOf(gone), 'blue');
  });

  await t.test('is left on request', async (t) => {
    const [gone] = await released('kept');
    t.match(await undo(stage, 'kept', { 'tx.janus.io/undo-keep': `ConfigMap/${gone}` }), { phase: 'RolledBack' });
    t.match(await ended(stage, 'kept'), { code: 0, text: /1 object is as before\. 1 object is kept: ConfigMap kept-gone/ });
  });

  await t.test('is named by the plan of the undo', async (t) => {
    await released('planned');
    await stage.annotate('planned', { 'tx.janus.io/plan-undo': 'yes' });
    const { status } = await stepToEnd(stage, 'planned');
    t.match(status, {
      phase: 'Committed',
      undo: { reason: 'Planned', message: /changes 1 object back, leaves 1 object deleted that somebody deleted$/ },
    });
  });

  await t.test('is left by a rollback, too', async (t) => {
    await createConfigMaps(stage, ['rolled'], blue);
    const status = await failAfter(stage, 'rolled', change('Patch', 'rolled', red), async () => {
      must(await client.delete(path('configmaps/rolled')));
    });
    t.match(status, { phase: 'Failed', message: /^rolled back 0 changes, 1 not restored: ConfigMap \S*rolled was deleted/ });
  });

  await t.test('needs nothing any more: what it needed is undone', async (t) => {
    const pod = { spec: { containers: [{ name: 'c', image: 'x', envFrom: [{ configMapRef: { name: 'needed' } }] }] } };
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment' };
    const spec = (template: JsonObject): JsonObject => ({
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: 'd' } },
        template: { metadata: { labels: { app: 'd' } }, ...template },
      },
    });
    const bare = { spec: { containers: [{ name: 'c', image: 'x' }] } };
    must(
      await client.create(`/apis/apps/v1/namespaces/${stage.namespace}/deployments`, {
        metadata: { name: 'user' },
        ...spec(bare),
      }),
    );
    await commit(stage, 'needing', [change('Create', 'needed', red), change('Update', 'user', spec(pod), deployment)]);
    must(await client.delete(`/apis/apps/v1/namespaces/${stage.namespace}/deployments/user`));
    t.match(itemsOf(await undo(stage, 'needing')), [{ rolledBack: true }, { left: true, error: { reason: 'Gone' } }]);
    t.equal((await client.get(path('configmaps/needed'))).code, 404);
  });
});

t.test('the end counts what the undo has written', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;

  await t.test('not what others have deleted or put back', async (t) => {
    await createConfigMaps(stage, ['put-back', 'changed'], blue);
    await commit(stage, 'counted', [
      change('Create', 'made', red),
      change('Patch', 'put-back', red),
      change('Patch', 'changed', red),
    ]);
    must(await client.delete(path('configmaps/made')));
    must(await client.patch(path('configmaps/put-back'), { data: blue }, 'merge', { fieldManager: 'their-tool' }));
    t.match(await undo(stage, 'counted'), { phase: 'RolledBack', message: /^rolled back 1 change:/ });
    t.match(await ended(stage, 'counted'), { code: 0, text: /3 objects are as before\./ });
  });

  await t.test('a deletion that takes its time', async (t) => {
    await commit(stage, 'slow', [change('Create', 'slow', { ...red, metadata: { finalizers: ['example.com/slow'] } })]);
    await stage.annotate('slow', { 'tx.janus.io/request-rollback': 'yes' });
    const isLeaving = async (): Promise<boolean> =>
      at(must(await client.get(path('configmaps/slow'))), 'metadata', 'deletionTimestamp') !== undefined;
    await stepTo(stage, 'slow', 'the deletion', isLeaving);
    must(await client.patch(path('configmaps/slow'), { metadata: { finalizers: null } }));
    t.match((await stepToEnd(stage, 'slow')).status, { phase: 'RolledBack', message: /^rolled back 1 change:/ });
  });

  await t.test('and names a policy only if one changed it', async (t) => {
    const theirs = { fieldManager: 'their-tool' };
    const former = { metadata: { labels: { former: 'yes' } }, data: { former: 'yes' } };
    const ours = { metadata: { labels: { ours: 'yes' } }, data: { ours: 'yes' } };
    must(await client.create(path('configmaps'), { ...former, metadata: { ...former.metadata, name: 'emptied' } }));
    await commit(stage, 'emptied', [change('Patch', 'emptied', ours)]);
    const removed = { metadata: { labels: { former: null } }, data: { former: null } };
    must(await client.patch(path('configmaps/emptied'), removed, 'merge', theirs));
    const status = await undo(stage, 'emptied');
    t.match(status, { phase: 'RolledBack' });
    t.equal(textAt(itemsOf(status)[0] ?? {}, 'note'), undefined);
    const { metadata, data } = must(await client.get(path('configmaps/emptied')));
    t.strictSame([at(metadata, 'labels'), data], [undefined, undefined]);
  });
});
