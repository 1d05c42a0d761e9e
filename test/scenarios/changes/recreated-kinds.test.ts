// whenImmutable: Recreate, kind by kind on the real API server: which refusals mean that a field may not change, and that the object comes
// back under its name with the new content; undone, the former one is back, exact in all but its identity.
import t, { type Test } from 'tap';
import { managersOf } from '../../../hooks/objects/content/fields.ts';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { allowIrreversible, commit, itemsOf, partial, portrait, undoAll } from '../../support/round-trip.ts';
import { everyNth } from '../../support/selection.ts';
import { type Stage, startStage, statusOf } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change, recreating } from '../../support/targets.ts';

interface Case {
  /** Group, version and plural in a path. */
  readonly at: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly given: JsonObject;
  readonly content: JsonObject;
  /** A value that only the new content has. */
  readonly shows: readonly [path: readonly string[], value: string];
  /** Its controller makes objects that go with it. */
  readonly isOwner?: true;
}

const labels = { app: 'shop' };

function template(image: string, more: JsonObject = {}): JsonObject {
  return { metadata: { labels }, spec: { containers: [{ name: 'one', image }], ...more } };
}

function job(image: string): JsonObject {
  return { spec: { suspend: true, template: template(image, { restartPolicy: 'Never' }) } };
}

function set(serviceName: string): JsonObject {
  return { spec: { replicas: 0, serviceName, selector: { matchLabels: labels }, template: template('example.org/db:1') } };
}

function deployment(tier: string): JsonObject {
  const all = { ...labels, tier };
  const spec = { containers: [{ name: 'one', image: 'example.org/web:1' }] };
  return { spec: { replicas: 0, selector: { matchLabels: all }, template: { metadata: { labels: all }, spec } } };
}

function role(name: string): JsonObject {
  return { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }, subjects: [] };
}

const node = { type: 'NodePort', selector: labels };

// From what the API server keeps for those that name an address, and another in each process: copies of this test share a cluster.
const address = 2 + 2 * (process.pid % 7);
const [first, second] = [`10.0.0.${address}`, `10.0.0.${address + 1}`];
const nodePort = 30_000 + (process.pid % 2_000);

const cases: Readonly<Record<string, Case>> = {
  job: {
    ...{ at: 'batch/v1/jobs', apiVersion: 'batch/v1', kind: 'Job', given: job('example.org/one:1') },
    ...{ content: job('example.org/one:2'), shows: [['spec', 'template', 'spec', 'containers'], 'example.org/one:2'] },
  },
  headless: {
    ...{ at: 'services', apiVersion: 'v1', kind: 'Service', given: { spec: { ports: [{ port: 80 }], selector: labels } } },
    ...{ content: { spec: { clusterIP: 'None', ports: [{ port: 80 }], selector: labels } } },
    shows: [['spec', 'clusterIP'], 'None'],
  },
  // Its node port is free only once it is gone.
  'node-port': {
    ...{ at: 'services', apiVersion: 'v1', kind: 'Service', shows: [['spec', 'clusterIP'], second] },
    given: { spec: { ...node, clusterIP: first, ports: [{ port: 80, nodePort }] } },
    content: { spec: { ...node, clusterIP: second, ports: [{ port: 80, nodePort }] } },
  },
  set: {
    ...{ at: 'apps/v1/statefulsets', apiVersion: 'apps/v1', kind: 'StatefulSet', given: set('one'), content: set('two') },
    ...{ shows: [['spec', 'serviceName'], 'two'], isOwner: true },
  },
  web: {
    ...{ at: 'apps/v1/deployments', apiVersion: 'apps/v1', kind: 'Deployment', given: deployment('a') },
    ...{ content: deployment('b'), shows: [['spec', 'selector', 'matchLabels', 'tier'], 'b'], isOwner: true },
  },
  settings: {
    ...{ at: 'configmaps', apiVersion: 'v1', kind: 'ConfigMap', given: { immutable: true, data: { a: '1' } } },
    ...{ content: { immutable: true, data: { a: '2' } }, shows: [['data', 'a'], '2'] },
  },
  token: {
    ...{ at: 'secrets', apiVersion: 'v1', kind: 'Secret', given: { type: 'example.org/one', stringData: { a: '1' } } },
    ...{ content: { type: 'example.org/two', stringData: { a: '2' } }, shows: [['type'], 'example.org/two'] },
  },
  binding: {
    ...{ at: 'rbac.authorization.k8s.io/v1/rolebindings', apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' },
    ...{ given: role('view'), content: role('edit'), shows: [['roleRef', 'name'], 'edit'] },
  },
};

/** The object, its uid blanked wherever the API server puts it: into the selector of a Job and the labels of its Pods. */
async function identified(stage: Stage, where: string): Promise<unknown> {
  const uid = textAt(must(await stage.client.get(where)), 'metadata', 'uid') ?? '';
  return JSON.parse(JSON.stringify(await portrait(stage, where, true)).replaceAll(uid, 'uid'));
}

async function roundTrip(t: Test, stage: Stage, name: string, one: Case): Promise<void> {
  const { client, path } = stage;
  const kind = { apiVersion: one.apiVersion, kind: one.kind };
  const metadata = { labels: { team: 'shop' }, annotations: { 'example.org/by': 'hand' } };
  const given = { ...kind, ...one.given, metadata: { name, ...metadata } };
  must(await client.create(path(one.at), given, { fieldManager: 'kubectl-create' }));
  const applied = { ...kind, metadata: { name, labels: { tier: 'front' } } };
  const where = path(`${one.at}/${name}`);
  must(await client.apply(where, applied, { fieldManager: 'gitops' }));
  const former = must(await client.get(where));
  const before = await identified(stage, where);
  const changes = [recreating(name, { metadata: { labels: { team: 'shop' } }, ...one.content }, kind)];
  const status = await commit(stage, name, changes, one.isOwner === true ? allowIrreversible : {});
  const made = must(await client.get(where));
  t.not(textAt(made, 'metadata', 'uid'), textAt(former, 'metadata', 'uid'), 'another object');
  const [shown, value] = one.shows;
  t.match(JSON.stringify(at(made, ...shown)), value);
  t.match(itemsOf(status)[0], { deleted: true, committed: true, uid: textAt(made, 'metadata', 'uid') });
  const undone = await undoAll(stage, name);
  t.same(await identified(stage, where), before, 'as before, managedFields included');
  t.equal(itemsOf(undone)[0]?.uid, textAt(must(await client.get(where)), 'metadata', 'uid'), 'the item names who it is now');
}

t.test('the engine recreates objects with immutable fields', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  t.jobs = 3;
  const all = everyNth(2, Object.entries(cases)).map(([name, one]) =>
    t.test(`${one.kind} ${name}`, (t) => roundTrip(t, stage, name, one)),
  );

  const refused = async (name: string, change: JsonObject): Promise<JsonObject> => {
    await stage.transaction(name, [change]);
    const { status, phase } = await stepToEnd(stage, name);
    t.equal(phase, 'Failed', name);
    return status;
  };
  const given = async (name: string): Promise<JsonObject> =>
    must(await client.create(path('configmaps'), { metadata: { name }, immutable: true, data: { a: '1' } }));
  const uidOf = async (name: string): Promise<string | undefined> =>
    textAt(must(await client.get(path(`configmaps/${name}`))), 'metadata', 'uid');

  await t.test('a value that is invalid in any object is Invalid, and the engine deletes nothing', async (t) => {
    const former = await given('invalid');
    const status = await refused('invalid', recreating('invalid', { immutable: true, data: { 'a b': '2' } }));
    t.match(JSON.stringify(status), /Invalid.*was refused by a dry run of creating it again/);
    t.equal(await uidOf('invalid'), textAt(former, 'metadata', 'uid'));
  });

  await t.test('the engine changes an object in place if the API server accepts it', async (t) => {
    must(await client.create(path('configmaps'), { metadata: { name: 'mutable' }, data: { a: '1' } }));
    const former = await uidOf('mutable');
    const status = await commit(stage, 'mutable', [recreating('mutable', { data: { a: '2' } })]);
    t.equal(await uidOf('mutable'), former);
    t.notOk(itemsOf(status)[0]?.deleted);
    await undoAll(stage, 'mutable');
  });

  await t.test('pre-flight refuses the change without whenImmutable, and says how to recreate the object', async (t) => {
    const former = await given('plain');
    const how = /whenImmutable: Recreate \(janus apply --recreate-immutable\)/;
    for (const type of ['Update', 'Apply', 'Patch']) {
      const other = change(type, 'plain', { immutable: true, data: { a: '2' } });
      const message = JSON.stringify(await refused(`plain-${type.toLowerCase()}`, other));
      t.match(message, /field is immutable/);
      if (type !== 'Patch')
        t.match(message, /plain exists and cannot be changed in place \(data\.a 1 -> 2\): give it another name/);
      t.equal(how.test(message), type !== 'Patch', `${type} ${message}`);
    }
    const invalid = change('Update', 'plain', { immutable: true, data: { 'a b': '2' } });
    t.notMatch(JSON.stringify(await refused('plain-invalid', invalid)), how, 'recreating it would not help');
    const { whenImmutable: _default, ...plain } = recreating('plain', { immutable: true, data: { a: '2' } });
    t.match(JSON.stringify(await refused('plain', plain)), /cannot be changed in place/);
    t.equal(await uidOf('plain'), textAt(former, 'metadata', 'uid'));
  });

  await t.test('an Apply under a shared field manager recreates the object, and each release can be undone', async (t) => {
    const kind = { apiVersion: 'batch/v1', kind: 'Job' };
    const where = path('batch/v1/jobs/migrate');
    const release = async (name: string, content: JsonObject): Promise<void> => {
      const object = { ...kind, metadata: { name: 'migrate' }, ...content };
      const changes = [{ type: 'Apply', content: object, whenImmutable: 'Recreate' }];
      await stage.transaction(name, changes, { spec: { fieldManager: 'shop' } });
      t.match(await stepToEnd(stage, name), { phase: 'Committed' }, name);
    };
    await release('release-1', job('example.org/one:1'));
    const first = await identified(stage, where);
    await release('release-2', job('example.org/one:1'));
    t.notOk(itemsOf(statusOf(await stage.read('release-2')))[0]?.deleted, 'the engine does not recreate an unchanged object');
    const second = await identified(stage, where);
    await release('release-3', job('example.org/one:2'));
    t.equal(itemsOf(statusOf(await stage.read('release-3')))[0]?.deleted, true);
    const managers = managersOf(must(await client.get(where))).filter(({ name }) => name !== 'kube-controller-manager');
    t.match(managers, [{ name: 'shop', operation: 'Apply' }], 'its fields are those of the release');
    await release('release-4', job('example.org/one:3'));
    await stage.annotate('release-3', { 'tx.janus.io/request-rollback': 'yes', ...partial });
    const early = (await stepToEnd(stage, 'release-3')).status;
    t.match(itemsOf(early)[0], { left: true, error: { reason: 'LaterTransaction', message: /release-4/ } });
    await undoAll(stage, 'release-4');
    await stage.annotate('release-3', { 'tx.janus.io/retry-rollback': 'yes' });
    t.match(await stepToEnd(stage, 'release-3'), { phase: 'RolledBack' });
    t.same(await identified(stage, where), second);
    await undoAll(stage, 'release-2');
    t.same(await identified(stage, where), first);
    await undoAll(stage, 'release-1');
    t.equal((await client.get(where)).code, 404);
  });

  await t.test('the engine recreates no claim, because its volume may hold data', async (t) => {
    const spec = (mode: string): JsonObject => {
      return { accessModes: [mode], storageClassName: '', resources: { requests: { storage: '1Mi' } } };
    };
    const kind = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
    const claims = path('persistentvolumeclaims');
    const former = must(await client.create(claims, { ...kind, metadata: { name: 'claim' }, spec: spec('ReadWriteOnce') }));
    const status = await refused('claim', recreating('claim', { spec: spec('ReadWriteMany') }, kind));
    t.match(JSON.stringify(status), /Irreversible.*cannot be undone/);
    t.equal(textAt(must(await client.get(`${claims}/claim`)), 'metadata', 'uid'), textAt(former, 'metadata', 'uid'));
  });
  await Promise.all(all);
  t.same(await stage.leases(), []);
  t.ok(statusOf(await stage.read('job')));
});
