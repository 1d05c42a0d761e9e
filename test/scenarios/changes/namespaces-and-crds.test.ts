// Changes that later changes of their Transaction need: a Namespace with its contents, a CustomResourceDefinition with an
// instance. No dry run is possible inside them before they are there.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { partial } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { change } from '../../support/targets.ts';

const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' };

function tenantChanges(tenant: string, lastData: JsonObject): readonly JsonObject[] {
  const namespace = tenant;
  return [
    change('Create', tenant, { metadata: { labels: { tenant: 'yes' } } }, { kind: 'Namespace' }),
    change('Create', 'settings', { data: { color: 'green' } }, { namespace }),
    change('Create', 'key', { stringData: { key: 'hush' } }, { kind: 'Secret', namespace }),
    change(
      'Create',
      'reader',
      { rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }] },
      { ...rbac, kind: 'Role', namespace },
    ),
    change('Create', 'web', { spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } }, { kind: 'Service', namespace }),
    change('Create', 'last', { data: lastData }, { namespace }),
  ];
}

function widgetsOf(stage: Stage): { readonly definition: JsonObject; readonly path: string; readonly group: string } {
  const group = `${stage.namespace}.example.org`;
  const schema = {
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } },
  };
  const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' };
  const definition = {
    spec: { group, scope: 'Namespaced', names, versions: [{ name: 'v1', served: true, storage: true, schema }] },
  };
  return { definition, group, path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.${group}` };
}

function widgetChanges(stage: Stage, size: unknown): readonly JsonObject[] {
  const { definition, group } = widgetsOf(stage);
  return [
    change('Create', `widgets.${group}`, definition, { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }),
    change('Create', 'first', { spec: { size: 1 } }, { apiVersion: `${group}/v1`, kind: 'Widget' }),
    change('Create', 'second', { spec: { size } } as JsonObject, { apiVersion: `${group}/v1`, kind: 'Widget' }),
  ];
}

/** Namespaces and definitions go slowly. */
const patience = { timeoutMs: 180_000 };

t.test('a Transaction creates a Namespace and its contents', async (t) => {
  const stage = await startStage(t);
  const { client, namespace } = stage;

  await t.test('the Transaction commits, and a request undoes it', async (t) => {
    const tenant = `${namespace}-one`;
    t.teardown(() => client.delete(`/api/v1/namespaces/${tenant}`));
    await stage.transaction('tenant', tenantChanges(tenant, { color: 'green' }));
    t.match(await stage.finished('tenant', patience), { phase: 'Committed', progress: '6/6' });
    t.match(must(await client.get(`/api/v1/namespaces/${tenant}/configmaps/settings`)), { data: { color: 'green' } });
    t.equal((await client.get(`/api/v1/namespaces/${tenant}/services/web`)).code, 200);

    await stage.annotate('tenant', { 'tx.janus.io/request-rollback': 'yes' });
    const status = await stage.phase('tenant', 'RolledBack', patience);
    t.match(textAt(status, 'message'), /^rolled back 6 changes: /);
    t.equal((await client.get(`/api/v1/namespaces/${tenant}`)).code, 404);
  });

  await t.test('the engine undoes the Namespace when the API server refuses the last of its contents', async (t) => {
    const tenant = `${namespace}-two`;
    t.teardown(() => client.delete(`/api/v1/namespaces/${tenant}`));
    await stage.transaction('bad-tenant', tenantChanges(tenant, { 'not a key': 'refused' }));
    const status = await stage.finished('bad-tenant', patience);
    t.equal(textAt(status, 'phase'), 'RolledBack');
    t.match(textAt(status, 'message'), new RegExp(`Create of ConfigMap ${tenant}/last was refused`));
    t.equal((await client.get(`/api/v1/namespaces/${tenant}`)).code, 404);
  });

  await t.test('the undo keeps a Namespace that has an object of another writer', async (t) => {
    const tenant = `${namespace}-three`;
    t.teardown(() => client.delete(`/api/v1/namespaces/${tenant}`));
    await stage.transaction('shared-tenant', tenantChanges(tenant, { color: 'green' }));
    await stage.finished('shared-tenant', patience);
    must(await client.create(`/api/v1/namespaces/${tenant}/configmaps`, { metadata: { name: 'theirs' }, data: { a: 'b' } }));
    await stage.annotate('shared-tenant', { 'tx.janus.io/request-rollback': 'yes', ...partial });
    const status = await stage.phase('shared-tenant', 'Failed', patience);
    t.match(textAt(status, 'message'), /others' objects would be deleted with it: ConfigMap theirs/);
    t.equal((await client.get(`/api/v1/namespaces/${tenant}/configmaps/theirs`)).code, 200, 'theirs is still there');
    t.equal((await client.get(`/api/v1/namespaces/${tenant}/configmaps/settings`)).code, 404, 'ours is not');
  });
  await waitFor(async () => (await stage.leases()).length === 0, 'all locks to be given back');
});

t.test('a Transaction creates a CustomResourceDefinition and instances of it', async (t) => {
  const stage = await startStage(t);
  const { client } = stage;
  const { path, group } = widgetsOf(stage);
  const widget = `/apis/${group}/v1/namespaces/${stage.namespace}/widgets/first`;
  t.teardown(() => client.delete(path));

  await t.test('the engine undoes the CustomResourceDefinition when the API server refuses an instance', async (t) => {
    await stage.transaction('bad-widgets', widgetChanges(stage, 'large'));
    const status = await stage.finished('bad-widgets', patience);
    t.equal(textAt(status, 'phase'), 'RolledBack');
    t.match(textAt(status, 'message'), /Create of Widget\.\S+ \S+\/second was refused/);
    t.equal((await client.get(path)).code, 404);
  });

  await t.test('the Transaction commits, and a request undoes it', async (t) => {
    await stage.transaction('widgets', widgetChanges(stage, 2));
    t.match(await stage.finished('widgets', patience), { phase: 'Committed', progress: '3/3' });
    t.equal(at(must(await client.get(widget)), 'spec', 'size'), 1);

    await stage.annotate('widgets', { 'tx.janus.io/request-rollback': 'yes' });
    await stage.phase('widgets', 'RolledBack', patience);
    t.equal((await client.get(path)).code, 404);
    t.equal((await client.get(widget)).code, 404);
  });
});
