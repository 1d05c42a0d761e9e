// The undo of a change puts back what the change did, and leaves what others have done since: a three-way merge over the state
// that the change was expected to make. Lists with keys are merged item by item. The traps are those in which managedFields say
// nothing, or say it late.
import t from 'tap';
import { at, isList, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { commit, managerNames, portrait, undoAll } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { change } from '../../support/targets.ts';

const deployment = { apiVersion: 'apps/v1', kind: 'Deployment' };
// Has the containers of a Pod and no controller that would write to it.
const podTemplate = { apiVersion: 'v1', kind: 'PodTemplate' };

// A paused Deployment: its controller writes status and nothing else.
function deploymentWith(strategy: JsonObject): JsonObject {
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'example.org/web:1' }] } };
  return { spec: { replicas: 1, paused: true, strategy, selector: { matchLabels: { app: 'web' } }, template } };
}

function containers(...list: readonly JsonObject[]): JsonObject {
  return { template: { spec: { containers: list } } };
}

const app = { name: 'app', image: 'example.org/app:1', args: ['--one', '--two'], env: [{ name: 'MODE', value: 'blue' }] };
const proxy = { name: 'proxy', image: 'example.org/proxy:1' };

function containersOf(object: JsonObject): readonly JsonObject[] {
  const list = at(object, 'template', 'spec', 'containers');
  return isList(list) ? (list as readonly JsonObject[]) : [];
}

async function createPodTemplate({ client, path }: Stage, name: string, content: JsonObject): Promise<string> {
  const object = { ...podTemplate, metadata: { name }, ...content };
  must(await client.create(path('podtemplates'), object, { fieldManager: 'kubectl-create' }));
  return path(`podtemplates/${name}`);
}

t.test('an undo merges three ways', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const showBack = async (name: string, where: string, before: unknown): Promise<void> => {
    await undoAll(stage, name);
    t.same(await portrait(stage, where), before, `${name}: all is as before`);
  };

  for (const type of ['Patch', 'Update'] as const) {
    await t.test(`strategy Recreate to RollingUpdate and back, by ${type}: no manager owns the defaulted fields`, async (t) => {
      const name = `strategy-${type}`.toLowerCase();
      const where = path(`apps/v1/deployments/${name}`);
      const object = { ...deployment, metadata: { name }, ...deploymentWith({ type: 'Recreate' }) };
      must(await client.create(path('apps/v1/deployments'), object, { fieldManager: 'kubectl-create' }));
      await waitFor(async () => at(must(await client.get(where)), 'status', 'observedGeneration') === 1, 'its controller');
      const before = await portrait(stage, where);
      const strategy = { type: 'RollingUpdate' };
      const content = type === 'Patch' ? { spec: { strategy } } : deploymentWith(strategy);
      await commit(stage, name, [change(type, name, content, deployment)]);
      t.match(must(await client.get(where)), { spec: { strategy: { rollingUpdate: { maxSurge: '25%' } } } });
      await showBack(name, where, before);
    });
  }

  await t.test('strategy RollingUpdate to Recreate and back', async () => {
    const where = path('apps/v1/deployments/recreate');
    const object = { ...deployment, metadata: { name: 'recreate' }, ...deploymentWith({ type: 'RollingUpdate' }) };
    must(await client.create(path('apps/v1/deployments'), object, { fieldManager: 'kubectl-create' }));
    await waitFor(async () => at(must(await client.get(where)), 'status', 'observedGeneration') === 1, 'its controller');
    const before = await portrait(stage, where);
    await commit(stage, 'recreate', [change('Update', 'recreate', deploymentWith({ type: 'Recreate' }), deployment)]);
    await showBack('recreate', where, before);
  });

  await t.test('the undo keeps an env var that another manager added to an existing container', async (t) => {
    const where = await createPodTemplate(stage, 'env-kept', containers(app));
    const image = containers({ name: 'app', image: 'example.org/app:2' });
    await commit(stage, 'env-kept', [change('Patch', 'env-kept', image, podTemplate)]);
    const theirs = containers({ name: 'app', env: [{ name: 'THEIRS', value: 'yes' }] });
    must(await client.patch(where, theirs, 'strategic', { fieldManager: 'injector' }));
    await undoAll(stage, 'env-kept');
    const found = must(await client.get(where));
    t.match(containersOf(found)[0], { image: 'example.org/app:1', env: [{ name: 'THEIRS' }, { name: 'MODE', value: 'blue' }] });
    t.same(managerNames(found).toSorted(), ['injector', 'kubectl-create']);
  });

  await t.test('the undo keeps a container that another manager added', async (t) => {
    const where = await createPodTemplate(stage, 'beside', containers(app));
    await commit(stage, 'beside', [
      change('Patch', 'beside', containers({ name: 'ours', image: 'example.org/ours' }), podTemplate),
    ]);
    const theirs = containers({ name: 'theirs', image: 'example.org/theirs' });
    must(await client.patch(where, theirs, 'strategic', { fieldManager: 'injector' }));
    await undoAll(stage, 'beside');
    const found = must(await client.get(where));
    t.same(
      containersOf(found)
        .map(({ name }) => name)
        .sort(),
      ['app', 'theirs'],
    );
    t.same(managerNames(found).toSorted(), ['injector', 'kubectl-create']);
  });

  await t.test('the undo merges list items that are keyed by two fields, one of them defaulted', async (t) => {
    const ports = (...list: readonly JsonObject[]): JsonObject => ({ ports: list, selector: { app: 'web' } });
    const service = { apiVersion: 'v1', kind: 'Service' };
    const dns = { name: 'dns', port: 53 };
    must(await client.create(path('services'), { ...service, metadata: { name: 'ports' }, spec: ports(dns) }));
    const ours = { spec: { ports: [{ name: 'dns-udp', port: 53, protocol: 'UDP' }] } };
    await commit(stage, 'ports', [change('Patch', 'ports', ours, service)]);
    const theirs = { spec: { ports: [{ name: 'metrics', port: 9153 }] } };
    must(await client.patch(path('services/ports'), theirs, 'strategic', { fieldManager: 'their-tool' }));
    await undoAll(stage, 'ports');
    const found = at(must(await client.get(path('services/ports'))), 'spec', 'ports') as readonly JsonObject[];
    t.same(found.map((port) => textAt(port, 'name')).sort(), ['dns', 'metrics']);
  });

  await t.test('lists that a CustomResourceDefinition declares as a map, as a set, as one value', async (t) => {
    const group = `${stage.namespace}.example.org`;
    const text = { type: 'string' };
    const item = { type: 'object', required: ['zone'], properties: { zone: text, size: { type: 'integer', default: 3 } } };
    const properties = {
      zones: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['zone'], items: item },
      tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
      steps: { type: 'array', items: text },
    };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } };
    const names = { plural: 'plans', singular: 'plan', kind: 'Plan', listKind: 'PlanList' };
    const versions = [{ name: 'v1', served: true, storage: true, schema }];
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const metadata = { name: `plans.${group}` };
    must(await client.create(definitions, { metadata, spec: { group, scope: 'Namespaced', names, versions } }));
    t.teardown(() => client.delete(`${definitions}/plans.${group}`));
    const plans = path(`${group}/v1/plans`);
    await waitFor(async () => (await client.get(plans)).code === 200, 'Plans to be served');
    const kind = { apiVersion: `${group}/v1`, kind: 'Plan' };
    const before = { zones: [{ zone: 'a' }], tags: ['x'], steps: ['one'] };
    must(await client.create(plans, { ...kind, metadata: { name: 'plan' }, spec: before }, { fieldManager: 'kubectl-create' }));
    const ours = { spec: { zones: [{ zone: 'b', size: 9 }], tags: ['y'], steps: ['two'] } };
    await commit(stage, 'plan', [change('Patch', 'plan', ours, kind)]);
    const theirs = { ...kind, metadata: { name: 'plan' }, spec: { zones: [{ zone: 'c' }], tags: ['z'] } };
    must(await client.apply(`${plans}/plan`, theirs, { fieldManager: 'their-tool', force: false }));
    await undoAll(stage, 'plan');
    const found = must(await client.get(`${plans}/plan`));
    t.same(at(found, 'spec', 'zones'), [
      { zone: 'a', size: 3 },
      { zone: 'c', size: 3 },
    ]);
    t.same([at(found, 'spec', 'tags'), at(found, 'spec', 'steps')], [['x', 'z'], ['one']]);
    t.same(managerNames(found).toSorted(), ['kubectl-create', 'their-tool']);
  });

  await t.test('a PUT that only removes fields leaves no entry in managedFields', async (t) => {
    const object = { metadata: { name: 'less', labels: { team: 'shop', tier: 'two' } }, data: { one: '1', two: '2' } };
    must(await client.create(path('configmaps'), object, { fieldManager: 'kubectl-create' }));
    const before = await portrait(stage, path('configmaps/less'));
    const less = { metadata: { labels: { team: 'shop' } }, data: { one: '1' } };
    await commit(stage, 'less', [change('Update', 'less', less)]);
    const found = must(await client.get(path('configmaps/less')));
    t.same(found.data, { one: '1' });
    t.same(managerNames(found), ['kubectl-create'], 'no managed field shows which manager did it');
    await showBack('less', path('configmaps/less'), before);
  });

  await t.test('a PUT that only reorders lists leaves no entry in managedFields', async (t) => {
    const where = await createPodTemplate(stage, 'order', containers(app, proxy));
    const before = await portrait(stage, where);
    const turned = containers(proxy, { ...app, args: ['--two', '--one'] });
    await commit(stage, 'order', [change('Update', 'order', turned, podTemplate)]);
    const found = containersOf(must(await client.get(where)));
    t.match(found, [{ name: 'proxy' }, { name: 'app', args: ['--two', '--one'] }]);
    await showBack('order', where, before);
  });

  await t.test('the undo restores the former order around items that other managers have added', async (t) => {
    const where = await createPodTemplate(stage, 'woven', containers(app, proxy));
    await commit(stage, 'woven', [change('Update', 'woven', containers(proxy, app), podTemplate)]);
    const theirs = containers({ name: 'theirs', image: 'example.org/theirs' });
    must(await client.patch(where, theirs, 'strategic', { fieldManager: 'injector' }));
    await undoAll(stage, 'woven');
    const names = containersOf(must(await client.get(where))).map(({ name }) => name);
    t.same(
      names.filter((name) => name !== 'theirs'),
      ['app', 'proxy'],
    );
    t.ok(names.includes('theirs'));
  });

  await t.test('the engine recognizes an empty ConfigMap that it created, although no managed field names it', async (t) => {
    await commit(stage, 'empty', [change('Create', 'empty', {}), change('Create', 'bare', { metadata: { labels: {} } })]);
    const status = await undoAll(stage, 'empty');
    t.match(textAt(status, 'message'), /^rolled back 2 changes/);
    t.same([(await client.get(path('configmaps/empty'))).code, (await client.get(path('configmaps/bare'))).code], [404, 404]);
  });
});
