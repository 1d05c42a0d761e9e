// The table of what controllers write (hooks/objects/content/controller-writes.ts) against the controllers themselves: each row is seen in the
// managedFields of an object, and they write nothing else into it. On a control plane of its own, where all of them run.
import t from 'tap';
import { type ControllerWrite, controllerWrites } from '../../hooks/objects/content/controller-writes.ts';
import { isWithin, type Manager, managersOf } from '../../hooks/objects/content/fields.ts';
import { field, type Path, pathOf } from '../../hooks/objects/content/path.ts';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { kindOfObject } from '../../hooks/objects/reference.ts';
import { connect, freeNamespace, must, waitFor } from '../support/client.ts';
import { pathIn } from '../support/stage.ts';
import { startControlPlane } from './start.ts';

const plane = await startControlPlane({ report: () => undefined, allControllers: true });
t.teardown(() => plane.stop());
const client = connect(plane.kubeconfig);
t.teardown(() => client.close());
const namespace = await freeNamespace(client, 'controllers', t);
const path = (suffix: string): string => pathIn(namespace, suffix);
const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const volumes = '/api/v1/persistentvolumes';

/** Rows, or fields of rows, that nothing here makes a controller write: by manager, kind and field. */
const notShown: Readonly<Record<string, string>> = {
  'kube-scheduler': 'there is no scheduler, as there are no nodes that run Pods',
  'cloud-controller-manager': 'there is no cloud',
  'kube-controller-manager /Secret metadata.labels.kubernetes.io/legacy-token-invalid-since':
    'the token of a ServiceAccount that was unused for a year',
  'kube-controller-manager apps/ReplicaSet metadata.annotations.deployment.kubernetes.io/revision-history':
    'a Deployment that goes back to an earlier revision',
  'kube-controller-manager /Endpoints metadata.annotations.endpoints.kubernetes.io/over-capacity': 'more than 1000 addresses',
};

function isNotShown({ manager, kind }: ControllerWrite, names: readonly string[]): boolean {
  return manager in notShown || `${manager} ${kind} ${names.join('.')}` in notShown;
}

const labels = { app: 'web' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'c' }] } };
const workload = (replicas: number, more: JsonObject = {}): JsonObject => ({
  replicas,
  selector: { matchLabels: labels },
  template,
  ...more,
});
const scaled = {
  selector: { matchLabels: { app: 'scaled' } },
  template: { ...template, metadata: { labels: { app: 'scaled' } } },
};
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

/** Creates each object, under its path. */
async function create(collection: string, object: JsonObject): Promise<string> {
  must(await client.create(collection, object, { fieldManager: 'somebody' }));
  return `${collection}/${textAt(object, 'metadata', 'name')}`;
}

async function aggregate(): Promise<readonly string[]> {
  const [name, part] = [`${namespace}-whole`, `${namespace}-part`];
  for (const role of [name, part]) t.teardown(() => client.delete(`${roles}/${role}`));
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { [namespace]: 'true' } }] };
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
  await create(roles, { metadata: { name: part, labels: { [namespace]: 'true' } }, rules });
  return [await create(roles, { metadata: { name }, aggregationRule })];
}

async function deploy(): Promise<readonly string[]> {
  const set = await create(path('apps/v1/replicasets'), { metadata: { name: 'web', labels }, spec: workload(2) });
  const own = workload(1, { minReadySeconds: 1 });
  const deployment = await create(path('apps/v1/deployments'), { metadata: { name: 'web' }, spec: own });
  const target = await create(path('apps/v1/deployments'), { metadata: { name: 'scaled' }, spec: { replicas: 1, ...scaled } });
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'scaled' };
  const autoscaler = { minReplicas: 2, maxReplicas: 3, scaleTargetRef };
  await create(path('autoscaling/v2/horizontalpodautoscalers'), { metadata: { name: 'scaled' }, spec: autoscaler });
  return [set, deployment, target];
}

async function serve(): Promise<readonly string[]> {
  const pod = await create(path('pods'), { metadata: { name: 'alone', labels: { app: 'alone' } }, spec: template.spec });
  const target = { apiVersion: 'v1', kind: 'Node', name: namespace };
  must(await client.create(`${pod}/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'alone' }, target }));
  const conditions = [{ type: 'Ready', status: 'True' }];
  const status = { phase: 'Running', podIP: '10.1.1.1', podIPs: [{ ip: '10.1.1.1' }], conditions };
  must(await client.patch(`${pod}/status`, { status }));
  // The API server begins to track owners when it creates an object, and only if there is a field to own.
  const endpoints = await create(path('endpoints'), { metadata: { name: 'alone', labels: { own: 'yes' } } });
  const spec = { selector: { app: 'alone' }, ports: [{ port: 80 }] };
  await create(path('services'), { metadata: { name: 'alone', labels }, spec });
  return [endpoints];
}

async function store(): Promise<readonly string[]> {
  // Too large for the volume: a claim that is bound gets no class.
  const large = { ...claim, resources: { requests: { storage: '2Gi' } } };
  const without = await create(path('persistentvolumeclaims'), { metadata: { name: 'classless' }, spec: large });
  const capacity = { storage: '1Gi' };
  const spec = {
    capacity,
    accessModes: claim.accessModes,
    hostPath: { path: '/nowhere' },
    persistentVolumeReclaimPolicy: 'Retain',
  };
  const volume = await create(volumes, { metadata: { name: namespace }, spec });
  t.teardown(() => client.delete(volume));
  const bound = { metadata: { name: 'bound' }, spec: { ...claim, storageClassName: '' } };
  const made = [without, volume, await create(path('persistentvolumeclaims'), bound)];
  const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  const classes = '/apis/storage.k8s.io/v1/storageclasses';
  const chosen = await create(classes, { metadata: { name: namespace, annotations }, provisioner: 'example.com/none' });
  t.teardown(() => client.delete(chosen));
  return made;
}

async function identify(): Promise<readonly string[]> {
  await create(path('serviceaccounts'), { metadata: { name: 'somebody' } });
  const annotations = { 'kubernetes.io/service-account.name': 'somebody' };
  const type = 'kubernetes.io/service-account-token';
  const secret = await create(path('secrets'), { metadata: { name: 'token', annotations }, type });
  const token = await waitFor(async () => textAt(must(await client.get(secret)), 'data', 'token'), 'the token');
  const authorization = `Bearer ${Buffer.from(token ?? '', 'base64').toString()}`;
  await client.request('GET', '/api', { headers: { authorization } });
  const authority = path('configmaps/kube-root-ca.crt');
  await waitFor(async () => (await client.get(authority)).code === 200, 'the authority to be published');
  must(await client.patch(authority, { data: { 'ca.crt': 'none' }, metadata: { annotations: null } }));
  return [secret, authority];
}

async function register(): Promise<readonly string[]> {
  const node = await create('/api/v1/nodes', { metadata: { name: namespace }, spec: { unschedulable: true } });
  t.teardown(() => client.delete(node));
  return [node];
}

const made = (await Promise.all([aggregate(), deploy(), serve(), store(), identify(), register()])).flat();
const read = (): Promise<readonly JsonObject[]> => Promise.all(made.map(async (one) => must(await client.get(one))));

function isOf(row: ControllerWrite, object: JsonObject, { name, subresource }: Manager): boolean {
  const isKind = row.kind === '*' || row.kind === kindOfObject(object);
  return isKind && ['*', name].includes(row.manager) && subresource === row.subresource;
}

function fieldsOf({ fields }: Manager): readonly Path[] {
  return [...fields].map(pathOf);
}

for (const row of controllerWrites)
  for (const names of row.fields.filter((one) => !isNotShown(row, one)))
    t.test(`${row.manager} writes ${names.join('.') || row.subresource} of ${row.kind}`, async (t) => {
      const prefix = names.map(field);
      const found = await waitFor(
        async () =>
          (await read()).find((object) =>
            managersOf(object).some((one) => isOf(row, object, one) && fieldsOf(one).some((path) => isWithin(path, prefix))),
          ),
        `${row.manager} to write ${names.join('.')} of ${row.kind}`,
        { timeoutMs: 25_000 },
      );
      t.ok(found !== undefined && (row.when?.(found) ?? true), 'the object meets the condition of the row');
      t.match(row.source, /^https:\/\/github\.com\/kubernetes\/kubernetes\/blob\/v[\d.]+\/.*\.go#L\d+$/);
    });

t.test('the controllers write no other relevant field', async (t) => {
  const uncounted = [['status'], ['metadata', 'finalizers'], ['metadata', 'ownerReferences']].map((names) => names.map(field));
  const names = new Set(controllerWrites.map(({ manager }) => manager));
  for (const object of await read())
    for (const one of managersOf(object).filter(({ name }) => names.has(name))) {
      const rows = controllerWrites.filter((row) => isOf(row, object, one)).flatMap(({ fields }) => fields);
      const known = [...uncounted, ...rows.map((names) => names.map(field))];
      const unknown = fieldsOf(one).filter((path) => !known.some((known) => isWithin(path, known) || isWithin(known, path)));
      t.same(unknown, [], `${one.name} in ${kindOfObject(object)} ${textAt(object, 'metadata', 'name')}`);
    }
});

t.test('the binding of a Pod records no owner of its node', async (t) => {
  const found = must(await client.get(path('pods/alone')));
  t.equal(at(found, 'spec', 'nodeName'), namespace);
  t.notMatch(JSON.stringify(at(found, 'metadata', 'managedFields')), /nodeName/);
});
