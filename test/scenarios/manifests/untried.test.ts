// Under a field manager that releases share, where no dry run is possible: the API server stores objects in other words than they were
// sent in, and a policy changes values. They still belong to the Transaction, even after a crash that loses the answer. What somebody else has made
// is not.
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { dying, untilDeath, writesOf } from '../../support/death.ts';
import { type Engines, openEngines } from '../../support/engine.ts';
import { allowIrreversible, itemsOf, portrait, undo } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { mutatingPolicies, stampWritesOf } from '../../support/stamping.ts';
import { stepTo, stepToEnd, stepUntil } from '../../support/stepping.ts';

const options = { spec: { fieldManager: 'shop' }, annotations: allowIrreversible };
const suffix = '-stamped';

const apply = (content: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'Apply', content, ...more });
const recreating = (content: JsonObject): JsonObject => apply(content, { whenImmutable: 'Recreate' });
const namespaceOf = (name: string): JsonObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

/** What the API server stores in other words than it was sent in. */
interface Untried {
  readonly name: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly body: JsonObject;
}

const labels = { app: 'app' };
const container = {
  ...{ name: 'c', image: 'reg.example/app:1', command: null, args: [], env: [], resources: null, securityContext: {} },
  ports: [{ containerPort: 8080 }, { containerPort: 8080, protocol: 'UDP' }, { containerPort: 9000, name: null }],
};
const pod = {
  nodeSelector: null,
  tolerations: [],
  containers: [container],
  volumes: [{ name: 'v', emptyDir: { sizeLimit: 1024 } }],
};

const sent: readonly Untried[] = [
  {
    ...{ name: 'ports', apiVersion: 'v1', kind: 'Service', plural: 'services' },
    body: { spec: { selector: labels, externalIPs: [], ports: [{ name: 'http', port: 80, targetPort: 8080 }] } },
  },
  {
    ...{ name: 'pods', apiVersion: 'apps/v1', kind: 'Deployment', plural: 'apps/v1/deployments' },
    body: {
      spec: { replicas: 0, strategy: null, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } },
    },
  },
  {
    ...{ name: 'empty', apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' },
    body: { immutable: null, binaryData: {}, data: { a: null, b: 'x' } },
  },
];

const objectOf = ({ apiVersion, kind, body }: Untried, name: string): JsonObject => ({
  apiVersion,
  kind,
  metadata: { name },
  ...body,
});

interface Scene {
  readonly stage: Stage;
  readonly engines: Engines;
}

/** Installed with its Namespace, then undone; in another process after the answer to its write is lost. */
async function installed(t: Test, { stage, engines }: Scene, one: Untried, isLost: boolean): Promise<void> {
  const name = `${isLost ? 'lost' : 'kept'}-${one.name}`;
  const namespace = await namespaceFor(t, stage, name);
  const changes = [apply(namespaceOf(namespace)), apply({ ...objectOf(one, name), metadata: { name, namespace } })];
  await stage.transaction(name, changes, options);
  if (isLost) await untilDeath(engines.start({ wrap: dying(writesOf(name, 'apply'), { write: 1, side: 'after' }) }), name);
  const { status } = await stepToEnd(engines.start(), name);
  t.match(status, { phase: 'Committed' }, textAt(status, 'message') ?? '');
  const undone = await undo(engines.start(), name);
  t.match(undone, { phase: 'RolledBack' }, JSON.stringify(itemsOf(undone)));
  t.equal((await stage.client.get(`/api/v1/namespaces/${namespace}`)).code, 404);
}

async function namespaceFor(t: Test, { client, namespace }: Stage, name: string): Promise<string> {
  t.teardown(() => client.delete(`/api/v1/namespaces/${namespace}-${name}`));
  return `${namespace}-${name}`;
}

/** Without the uids that its controller writes into a Job. */
async function portraitOfJob(stage: Stage, where: string): Promise<string> {
  return JSON.stringify(await portrait(stage, where, true)).replaceAll(/controller-uid":"[^"]*"/g, '');
}

/** Deleted and created again, then undone; in another process after the answer to the second write is lost. */
async function recreated(t: Test, { stage, engines }: Scene, isLost: boolean): Promise<void> {
  const { client, path } = stage;
  const name = isLost ? 'lost-job' : 'job';
  const where = path(`batch/v1/jobs/${name}`);
  const job = (image: string): JsonObject => {
    const containers = [{ name: 'c', image, env: null, ports: [{ containerPort: 9000 }] }];
    const spec = { suspend: true, template: { spec: { restartPolicy: 'Never', containers } } };
    return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name }, spec };
  };
  must(await client.apply(where, job('reg.example/migrate:1'), { fieldManager: 'shop' }));
  await waitFor(async () => at(must(await client.get(where)), 'status', 'conditions') !== undefined, 'its controller');
  const before = await portraitOfJob(stage, where);
  await stage.transaction(name, [recreating(job('reg.example/migrate:2'))], options);
  if (isLost) await untilDeath(engines.start({ wrap: dying(writesOf(name, 'apply'), { write: 1, side: 'after' }) }), name);
  t.match(await stepToEnd(engines.start(), name), { phase: 'Committed' });
  t.match(must(await client.get(where)), { spec: { template: { spec: { containers: [{ image: 'reg.example/migrate:2' }] } } } });
  const status = await undo(engines.start(), name);
  t.match(status, { phase: 'RolledBack' }, JSON.stringify(itemsOf(status)));
  t.equal(await portraitOfJob(stage, where), before);
}

/** What fails last is refused by the API server in its turn. */
async function failing(t: Test, stage: Stage): Promise<void> {
  const namespace = await namespaceFor(t, stage, 'fails');
  const metadata = { name: 'app', namespace };
  const template = { metadata: { labels }, spec: { containers: [container] } };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  const service = { name: 'app', port: { number: 80 } };
  const rules = [{ host: 'not_a host', http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service } }] } }];
  const ports = [{ name: 'http', port: 80, targetPort: 8080 }];
  const changes = [
    apply(namespaceOf(namespace)),
    apply({ apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: labels, ports } }),
    apply({ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec }),
    apply({ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata, spec: { rules } }),
  ];
  await stage.transaction('fails', changes, options);
  const { status } = await stepToEnd(stage, 'fails');
  t.match(status, { phase: 'RolledBack', message: /Ingress/ }, JSON.stringify(itemsOf(status)));
  t.equal((await stage.client.get(`/api/v1/namespaces/${namespace}`)).code, 404);
}

t.test('the engine recognizes values that no dry run has shown, under a shared field manager', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage, { callBudget: 5_000, readAge: 1_000, writeTimeout: 2_000 });
  const scene = { stage, engines };
  t.jobs = 3;
  await Promise.all([
    t.test('an install that fails leaves nothing', (t) => failing(t, stage)),
    ...[false, true].flatMap((isLost) => [
      ...sent.map((one) => t.test(`${one.kind}${isLost ? ', its answer lost' : ''}`, (t) => installed(t, scene, one, isLost))),
      t.test(`a Job is recreated${isLost ? ', its answer lost' : ''}`, (t) => recreated(t, scene, isLost)),
    ]),
  ]);
  t.same(await stage.leases(), []);
});

t.test('a user who puts our mark on another object while the former object is gone gains nothing', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const where = stage.path('configmaps/forged');
  const map = (data: JsonObject, more: JsonObject = {}): JsonObject => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'forged', ...more } },
    ...{ immutable: true, data },
  });
  must(await stage.client.apply(where, map({ a: '1' }), { fieldManager: 'shop' }));
  await stage.transaction('forged', [recreating(map({ a: '2', b: null }))], options);
  await stepTo(stage, 'forged', 'the first half', ({ status }) => at(itemsOf(status)[0], 'deleted') === true);
  const uid = textAt(await stage.read('forged'), 'metadata', 'uid');
  const annotations = { 'tx.janus.io/applied-by': `${stage.namespace}/forged/${uid}` };
  must(await stage.client.apply(where, map({ a: '3', b: '' }, { annotations }), { fieldManager: 'shop' }));
  const theirs = await portrait(stage, where);
  const { status } = await stepToEnd(stage, 'forged');
  t.match(status, { phase: 'Failed', items: [{ left: true, error: { reason: 'ForeignContent', message: /data\.a/ } }] });
  t.same(await portrait(stage, where), theirs, 'theirs is as they left it');
});

t.test('a policy changes values that the engine sends', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  if ((await client.get(mutatingPolicies)).code === 404) {
    await t.test('policed', { skip: `this Kubernetes does not serve ${mutatingPolicies}` }, () => undefined);
    return;
  }
  const engines = await openEngines(t, stage, { writeTimeout: 2_000 });
  const namespace = await namespaceFor(t, stage, 'policed');
  const lost = await namespaceFor(t, stage, 'policed-lost');
  await stampWritesOf(stage, suffix, t, { value: "'policed'", also: [namespace, lost] });
  const map = (name: string, data: JsonObject, more: JsonObject = {}): JsonObject => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...more } },
    ...{ immutable: true, data: { stamp: 'ours', ...data } },
  });
  const annotated = async (where: string): Promise<void> => {
    const seen = { metadata: { annotations: { seen: 'yes' } } };
    const found = must(await client.patch(where, seen, 'merge', { fieldManager: 'their-tool' }));
    t.match(found, { data: { stamp: 'policed' } });
  };

  await t.test('a policy changes an object that is created with its Namespace', async (t) => {
    const name = `new${suffix}`;
    await stage.transaction('new', [apply(namespaceOf(namespace)), apply(map(name, { a: '1' }, { namespace }))], options);
    t.match(await stepToEnd(stage, 'new'), { phase: 'Committed' });
    await annotated(`/api/v1/namespaces/${namespace}/configmaps/${name}`);
    t.match(await undo(engines.start(), 'new'), { phase: 'RolledBack' });
    t.equal((await client.get(`/api/v1/namespaces/${namespace}`)).code, 404);
  });

  await t.test('the status names the object that stays if the answer is lost', async (t) => {
    const name = `lost${suffix}`;
    await stage.transaction('lost', [apply(namespaceOf(lost)), apply(map(name, { a: '1' }, { namespace: lost }))], options);
    await untilDeath(engines.start({ wrap: dying(writesOf(name, 'apply'), { write: 1, side: 'after' }) }), 'lost');
    const { status } = await stepToEnd(engines.start(), 'lost');
    t.match(status, { phase: 'Failed' });
    t.match(itemsOf(status)[1], { left: true, error: { reason: 'ForeignContent', message: /data\.stamp \(by shop\)/ } });
    t.match(must(await client.get(`/api/v1/namespaces/${lost}/configmaps/${name}`)), { data: { a: '1', stamp: 'policed' } });
  });

  await t.test('a policy changes a recreated object whose annotations another writer changes', async (t) => {
    const name = `again${suffix}`;
    const where = path(`configmaps/${name}`);
    must(await client.apply(where, map(name, { a: '1' }), { fieldManager: 'shop' }));
    await stage.transaction('again', [recreating(map(name, { a: '2' }))], options);
    await stepUntil(stage, 'again', 'Prepared');
    await annotated(where);
    const before = (await portrait(stage, where, true)) as JsonObject;
    const { status } = await stepToEnd(stage, 'again');
    t.match(status, { phase: 'Committed', items: [{ drift: /"f:seen".*"f:stamp"/ }] });
    await annotated(where);
    t.match(await undo(engines.start(), 'again'), { phase: 'RolledBack' });
    // Of an annotation that was written after the snapshot the value comes back, not its owner.
    t.same({ ...((await portrait(stage, where, true)) as JsonObject), managedFields: [] }, { ...before, managedFields: [] });
  });
});
