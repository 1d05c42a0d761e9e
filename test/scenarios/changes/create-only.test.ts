// What creating by server-side apply rests on, and no document of Kubernetes says: with resourceVersion 1 the API server creates an
// object that is absent, and refuses one that is there or is being deleted, with force or without, whichever kind it is.
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { groupOf, versionOf } from '../../../hooks/objects/reference.ts';
import { requestOfWrite } from '../../../server/kubernetes/requests.ts';
import { type Answer, must } from '../../support/client.ts';
import { serveGadgets } from '../../support/gadgets.ts';
import { kinds } from '../../support/kinds.ts';
import { type Stage, startStage } from '../../support/stage.ts';

interface Sort {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly clusterScoped?: boolean;
  readonly object: JsonObject;
  /** The name of an object where it must be a certain one. */
  readonly name?: string;
}

const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }];
const rbac = 'rbac.authorization.k8s.io/v1';
const pod = { containers: [{ name: 'app', image: 'registry.example/app:1' }] };

/** Beside those of test/support/kinds.ts. */
const more: readonly Sort[] = [
  { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', object: { data: { a: '1' } } },
  { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', object: { stringData: { a: '1' } } },
  { apiVersion: 'v1', kind: 'Pod', plural: 'pods', object: { spec: pod } },
  // Not of Pods: the kinds are tried side by side in one namespace.
  {
    apiVersion: 'v1',
    kind: 'LimitRange',
    plural: 'limitranges',
    object: { spec: { limits: [{ type: 'PersistentVolumeClaim', max: { storage: '9Ti' } }] } },
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    plural: 'persistentvolumeclaims',
    object: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    plural: 'deployments',
    object: {
      spec: { replicas: 0, selector: { matchLabels: { app: 'a' } }, template: { metadata: { labels: { app: 'a' } }, spec: pod } },
    },
  },
  { apiVersion: rbac, kind: 'Role', plural: 'roles', object: { rules } },
  { apiVersion: rbac, kind: 'ClusterRole', plural: 'clusterroles', clusterScoped: true, object: { rules } },
  {
    apiVersion: rbac,
    kind: 'ClusterRoleBinding',
    plural: 'clusterrolebindings',
    clusterScoped: true,
    object: { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' } },
  },
  { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', clusterScoped: true, object: {} },
];

function crdOf(group: string): Sort {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const names = { plural: 'trinkets', singular: 'trinket', kind: 'Trinket', listKind: 'TrinketList' };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    clusterScoped: true,
    name: `trinkets.${group}`,
    object: { spec: { group, scope: 'Namespaced', names, versions } },
  };
}

function create(
  stage: Stage,
  sort: Sort,
  name: string,
  options: { readonly force: boolean; readonly dryRun?: boolean },
): Promise<Answer> {
  const { apiVersion, kind, plural, clusterScoped, object } = sort;
  const resource = {
    group: groupOf(apiVersion),
    version: versionOf(apiVersion),
    plural,
    kind,
    namespaced: clusterScoped !== true,
    verbs: [],
    statusSubresource: false,
  };
  const { method, path, query, contentType, body } = requestOfWrite(
    {
      verb: 'apply',
      identity: { kind: 'engine' },
      location: { resource, name, ...(clusterScoped === true ? {} : { namespace: stage.namespace }) },
      object: { apiVersion, kind, metadata: { name, labels: { made: 'once' } }, ...object },
      precondition: 'absent',
      fieldManager: 'app',
      ...(options.force ? {} : { failOnConflict: true as const }),
    },
    { timeout: 10_000, dryRun: options.dryRun === true },
  );
  const headers = { 'content-type': contentType ?? '' };
  return stage.client.request(method, path ?? '', { query: query ?? {}, headers, body: body ?? {} });
}

async function showOnce(t: Test, stage: Stage, sort: Sort): Promise<void> {
  const name = sort.name ?? `${stage.namespace}-${sort.kind}-once`.toLowerCase();
  const dry = await create(stage, sort, name, { force: true, dryRun: true });
  t.equal(dry.code, 201, `a dry run on an absent one passes: ${dry.text}`);
  const made = await create(stage, sort, name, { force: true });
  t.equal(made.code, 201, `an absent one is created: ${made.text}`);
  const path = pathOf(stage, sort, name);
  t.teardown(() => release(stage, path));
  for (const force of [true, false]) {
    const again = await create(stage, sort, name, { force });
    t.match([again.code, textAt(again.body, 'reason')], [409, 'Conflict'], `one that is there is refused, force: ${force}`);
  }
  const found = must(await stage.client.patch(path, { metadata: { finalizers: ['test.janus.io/hold'] } }));
  t.equal(at(found, 'metadata', 'uid'), at(made.body, 'metadata', 'uid'));
  must(await stage.client.delete(path, { propagationPolicy: 'Background' }));
  t.equal((await create(stage, sort, name, { force: true })).code, 409, 'one that is being deleted is refused');
}

async function release({ client }: Stage, path: string): Promise<void> {
  await client.delete(path, { gracePeriodSeconds: 0 });
  await client.patch(path, { metadata: { finalizers: null } });
}

function pathOf({ namespace }: Stage, { apiVersion, plural, clusterScoped }: Sort, name: string): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${root}/${clusterScoped === true ? '' : `namespaces/${namespace}/`}${plural}/${name}`;
}

t.test('an apply with resourceVersion 1 creates, and does nothing else', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const gadgets = await serveGadgets(t, stage);
  const { apiVersion, kind } = gadgets.change('Create', 'a').target as { readonly apiVersion: string; readonly kind: string };
  const custom: Sort = { apiVersion, kind, plural: 'gadgets', object: { spec: { size: 1 } } };
  const all: readonly Sort[] = [...kinds, ...more, custom, crdOf(`${stage.namespace}.trinkets.example.org`)];
  t.jobs = 4;
  await Promise.all(all.map((sort) => t.test(sort.kind, (t) => showOnce(t, stage, sort))));
});
