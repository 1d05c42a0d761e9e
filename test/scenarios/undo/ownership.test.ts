// Who owned what before a change owns it again after its undo, however it came to own it: through server-side apply, an update, a
// subresource, another version of the API. What others came to own in between stays theirs.
import t from 'tap';
import { at, type JsonObject } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { commit, itemsOf, managerNames, partial, portrait, undo, undoAll } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

const paused = {
  replicas: 1,
  paused: true,
  selector: { matchLabels: { app: 'web' } },
  template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'example.org/web:1' }] } },
};

t.test('an undo restores the owners of fields', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;

  for (const type of ['Update', 'Patch'] as const)
    await t.test(`the undo of ${type} gives fields back to a manager that applied and to one that updated`, async (t) => {
      const name = `taken-${type}`.toLowerCase();
      await createConfigMaps(stage, [name]);
      const before = await portrait(stage, path(`configmaps/${name}`));
      const content = { metadata: { labels: { team: 'ours' } }, data: { color: 'green', applied: 'no' } };
      const status = await commit(stage, name, [change(type, name, content)]);
      if (type === 'Patch') t.same(at(itemsOf(status)[0], 'tookFieldsFrom'), ['gitops', 'kubectl-create']);
      await undoAll(stage, name);
      t.same(await portrait(stage, path(`configmaps/${name}`)), before);
    });

  await t.test('an undo gives no field back to a manager that lost it to another writer', async (t) => {
    await createConfigMaps(stage, ['passed-on']);
    await commit(stage, 'passed-on', [change('Patch', 'passed-on', { data: { extra: 'ours' } })]);
    const theirs = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'passed-on' }, data: { applied: 'theirs' } };
    must(await client.apply(path('configmaps/passed-on'), theirs, { fieldManager: 'successor' }));
    await undoAll(stage, 'passed-on');
    const found = must(await client.get(path('configmaps/passed-on')));
    t.same(managerNames(found).toSorted(), ['kubectl-create', 'successor']);
    t.same(found.data, { applied: 'theirs', color: 'blue' });
  });

  await t.test('a manager that wrote between change and undo keeps its entry, with every field that it set', async (t) => {
    await createConfigMaps(stage, ['joined']);
    await commit(stage, 'joined', [change('Patch', 'joined', { data: { color: 'green', extra: 'ours' } })]);
    const theirs = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'joined' }, data: { theirs: 'yes', applied: 'yes' } };
    must(await client.apply(path('configmaps/joined'), theirs, { fieldManager: 'joiner' }));
    await undoAll(stage, 'joined');
    const found = must(await client.get(path('configmaps/joined')));
    t.same(managerNames(found).toSorted(), ['gitops', 'joiner', 'kubectl-create']);
    // Applying less removes the fields that have no other owner: so the API server shows which fields it counts as theirs.
    must(await client.apply(path('configmaps/joined'), { ...theirs, data: {} }, { fieldManager: 'joiner' }));
    t.same(must(await client.get(path('configmaps/joined'))).data, { applied: 'yes', color: 'blue' });
  });

  await t.test('the undo restores replicas that were set through the scale subresource', async (t) => {
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment' };
    const where = path('apps/v1/deployments/scaled');
    must(await client.create(path('apps/v1/deployments'), { ...deployment, metadata: { name: 'scaled' }, spec: paused }));
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'scaled' }, spec: { replicas: 3 } };
    must(await client.update(`${where}/scale`, scale, { fieldManager: 'scaler' }));
    await waitFor(async () => at(must(await client.get(where)), 'status', 'observedGeneration') === 2, 'its controller');
    const before = await portrait(stage, where);
    t.match(JSON.stringify(before), /scaler.*subresource.*scale/, 'it is the subresource that owns them');
    const status = await commit(stage, 'scaled', [change('Patch', 'scaled', { spec: { replicas: 2 } }, deployment)]);
    t.same(at(itemsOf(status)[0], 'tookFieldsFrom'), ['scaler']);
    await undoAll(stage, 'scaled');
    t.same(await portrait(stage, where), before);
  });

  for (const type of ['Update', 'Patch'] as const)
    await t.test(`the undo of ${type} restores fields that were set through another version of the API`, async (t) => {
      const name = `versions-${type}`.toLowerCase();
      const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'none' };
      const spec = { scaleTargetRef, maxReplicas: 5, targetCPUUtilizationPercentage: 50 };
      const [first, second] = ['autoscaling/v1', 'autoscaling/v2'].map((version) => `${version}/horizontalpodautoscalers`);
      const kind = { kind: 'HorizontalPodAutoscaler', apiVersion: 'autoscaling/v2' };
      const object = { ...kind, apiVersion: 'autoscaling/v1', metadata: { name }, spec };
      must(await client.create(path(first ?? ''), object, { fieldManager: 'kubectl-create' }));
      await waitFor(
        async () => at(must(await client.get(path(`${first}/${name}`))), 'status', 'desiredReplicas') !== undefined,
        'status',
      );
      const show = (): Promise<unknown> => portrait(stage, path(`${second}/${name}`));
      const before = await show();
      const metric: JsonObject = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } };
      const content = { spec: { scaleTargetRef, maxReplicas: 9, metrics: [{ type: 'Resource', resource: metric }] } };
      await commit(stage, name, [change(type, name, content, kind)]);
      t.match(must(await client.get(path(`${first}/${name}`))), { spec: { maxReplicas: 9, targetCPUUtilizationPercentage: 70 } });
      await undoAll(stage, name);
      t.same(await show(), before);
    });

  await t.test('the undo sees a writer that overwrites an applied field through another version of the API', async (t) => {
    const kind = { kind: 'HorizontalPodAutoscaler', apiVersion: 'autoscaling/v2' };
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'none' };
    const cpu = (averageUtilization: number): JsonObject => ({
      type: 'Resource',
      resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
    });
    const content = (value: number): JsonObject => ({ spec: { scaleTargetRef, maxReplicas: 5, metrics: [cpu(value)] } });
    const object = { ...kind, metadata: { name: 'seen' }, ...content(50) };
    must(await client.create(path('autoscaling/v2/horizontalpodautoscalers'), object));
    await commit(stage, 'seen', [change('Patch', 'seen', content(70), kind)]);
    const theirs = { spec: { targetCPUUtilizationPercentage: 30 } };
    const where = path('autoscaling/v1/horizontalpodautoscalers/seen');
    must(await client.patch(where, theirs, 'merge', { fieldManager: 'their-tool' }));
    t.match(await undo(stage, 'seen', partial), { phase: 'Failed', message: /spec\.metrics/ });
    t.match(must(await client.get(where)), theirs, 'theirs stays');
  });
});
