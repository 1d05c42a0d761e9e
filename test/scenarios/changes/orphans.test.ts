// Pods and ReplicaSets without a controller, which a controller of Kubernetes would delete in answer to a change: such a change is refused,
// and an undo that would do it leaves the object (hooks/checks/orphans.ts).
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/model/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { causeOf, isThere } from '../../support/owned.ts';
import { allowIrreversible, commit, itemsOf, partial, undo, undoAll } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change, recreating } from '../../support/targets.ts';

const apps = (kind: string) => ({ apiVersion: 'apps/v1', kind });
const container = { name: 'main', image: 'example.org/main' };
const templateOf = (app: string): JsonObject => ({ metadata: { labels: { app } }, spec: { containers: [container] } });
const selecting = (app: string): JsonObject => ({ selector: { matchLabels: { app } }, template: templateOf(app) });

async function makePod({ client, path }: Stage, name: string, app: string, spec: JsonObject = {}): Promise<string> {
  must(await client.create(path('pods'), { metadata: { name, labels: { app } }, spec: { containers: [container], ...spec } }));
  return path(`pods/${name}`);
}

async function refused(t: Test, stage: Stage, one: JsonObject, why: RegExp): Promise<void> {
  const name = `no-${made++}`;
  await stage.transaction(name, [one]);
  const { status } = await stepToEnd(stage, name);
  t.match(status, { phase: 'Failed', message: why });
  t.equal(causeOf(status), 'Irreversible');
}

let made = 0;

/** Where the user allows it, Kubernetes deletes one of these. */
async function costs(stage: Stage, one: JsonObject, paths: readonly string[]): Promise<void> {
  const uids = (): Promise<readonly unknown[]> =>
    Promise.all(
      paths.map(async (path) => ((await isThere(stage, path)) ? at((await stage.client.get(path)).body, 'metadata', 'uid') : '')),
    );
  const [name, before] = [`allowed-${made++}`, await uids()];
  await commit(stage, name, [one], allowIrreversible);
  await waitFor(async () => (await uids()).some((uid, index) => uid !== before[index]), `one of ${paths.join()} to be deleted`);
}

function left(t: Test, status: JsonObject, why: RegExp): void {
  t.match(status, { phase: 'Failed' });
  t.match(itemsOf(status)[0], { left: true, error: { reason: 'NotEmpty', message: why } });
}

async function retried(t: Test, stage: Stage, name: string): Promise<void> {
  await stage.annotate(name, { 'tx.janus.io/retry-rollback': 'yes' });
  t.match((await stepToEnd(stage, name)).status, { phase: 'RolledBack' });
}

t.test('Pods on a Node that gets a NoExecute taint', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path, namespace } = stage;
  const node = { apiVersion: 'v1', kind: 'Node' };
  const [key, value, effect] = ['example.org/drain', 'now', 'NoExecute'];
  const taint = (taints: readonly JsonObject[]): JsonObject => change('Patch', namespace, { spec: { taints } }, node);
  must(await client.create('/api/v1/nodes', { metadata: { name: namespace } }));
  t.teardown(() => client.delete(`/api/v1/nodes/${namespace}`));
  const tolerating = [
    { key, operator: 'Exists' },
    { operator: 'Exists', effect },
    { key, value, effect },
  ];
  const staying = await Promise.all(
    tolerating.map((one, index) => makePod(stage, `stays-${index}`, 'any', { nodeName: namespace, tolerations: [one] })),
  );
  const controlled = { metadata: { name: 'fleet' }, spec: { replicas: 1, ...selecting('fleet') } };
  must(await client.create(path('apps/v1/replicasets'), controlled));

  await t.test('is given where they tolerate it, or are recreated', async (t) => {
    await commit(stage, 'taint', [taint([{ key, value, effect }])]);
    await undoAll(stage, 'taint');
    for (const pod of staying) t.ok(await isThere(stage, pod));
  });

  const theirs = [
    { key, operator: 'Exists', effect, tolerationSeconds: 300 },
    { key, value: 'later', effect },
    { key: 'other', operator: 'Exists' },
  ];
  for (const [index, toleration] of theirs.entries())
    await t.test(`is refused, with the toleration ${JSON.stringify(toleration)}`, async (t) => {
      const pod = await makePod(stage, `bare-${index}`, 'any', { nodeName: namespace, tolerations: [toleration] });
      const named = new RegExp(
        `NoExecute taints Kubernetes would delete Pods that have no controller: Pod \\S*bare-${index}; .*allow-irreversible`,
      );
      await refused(t, stage, taint([{ key, value, effect }]), named);
      await commit(stage, `other-effect-${index}`, [taint([{ key, value, effect: 'NoSchedule' }])]);
      await undoAll(stage, `other-effect-${index}`);
      t.ok(await isThere(stage, pod));
      must(await client.delete(pod, { gracePeriodSeconds: 0 }));
    });

  await t.test('comes back only once they are gone', async (t) => {
    must(await client.patch(`/api/v1/nodes/${namespace}`, { spec: { taints: [{ key, value, effect }] } }));
    await commit(stage, 'untaint', [taint([])]);
    const pod = await makePod(stage, 'came', 'any', { nodeName: namespace });
    left(
      t,
      await undo(stage, 'untaint', partial),
      /NoExecute taints.*no controller: Pod \S*came; delete them, then retry the rollback/,
    );
    t.ok(await isThere(stage, pod));
    must(await client.delete(pod, { gracePeriodSeconds: 0 }));
    await retried(t, stage, 'untaint');
    must(await client.patch(`/api/v1/nodes/${namespace}`, { spec: { taints: [] } }));
    await costs(stage, taint([{ key, value, effect }]), [await makePod(stage, 'evicted', 'any', { nodeName: namespace })]);
  });
});

t.test('Pods and ReplicaSets that the selector of a new controller matches', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path, namespace } = stage;
  const replicaSet = apps('ReplicaSet');
  const set = (app: string, replicas: number): JsonObject => ({ spec: { replicas, ...selecting(app) } });

  await t.test('beyond the replicas of a ReplicaSet', async (t) => {
    const pods = [await makePod(stage, 'one', 'many'), await makePod(stage, 'two', 'many')];
    const why = /more Pods without a controller than it has replicas.*: Pod \S*one, Pod \S*two; .*allow-irreversible/;
    await refused(t, stage, change('Create', 'many', set('many', 1), replicaSet), why);
    const plain = { replicas: 1, selector: { app: 'many' }, template: templateOf('many') };
    const controller = { apiVersion: 'v1', kind: 'ReplicationController' };
    await refused(t, stage, change('Create', 'many', { spec: plain }, controller), why);
    await refused(t, stage, change('Apply', 'many', set('many', 1), replicaSet), why);
    for (const pod of pods) t.ok(await isThere(stage, pod));
    await costs(stage, change('Create', 'many', set('many', 1), replicaSet), pods);
  });

  await t.test('of a ReplicaSet that is recreated', async (t) => {
    must(await client.create(path('apps/v1/replicasets'), { metadata: { name: 'turn' }, ...set('nothing', 0) }));
    const pod = await makePod(stage, 'turned', 'turn');
    await refused(t, stage, recreating('turn', set('turn', 0), replicaSet), /than it has replicas.*Pod \S*turned; /);
    t.ok(await isThere(stage, pod));
  });

  await t.test('that a ReplicaSet adopts', async (t) => {
    const pod = await makePod(stage, 'enough', 'enough');
    await commit(stage, 'enough', [change('Create', 'enough', set('enough', 1), replicaSet)]);
    const adopted = async (): Promise<boolean> => at(must(await client.get(pod)), 'metadata', 'ownerReferences') !== undefined;
    await waitFor(adopted, 'the Pod to be adopted');
    t.ok(await isThere(stage, pod));
  });

  await t.test('unless the Transaction deletes them before', async (t) => {
    await makePod(stage, 'goes', 'few', { terminationGracePeriodSeconds: 0 });
    await commit(stage, 'few', [
      change('Delete', 'goes', undefined, { kind: 'Pod' }),
      change('Create', 'few', set('few', 0), replicaSet),
    ]);
    await undoAll(stage, 'few');
    t.ok(await isThere(stage, path('pods/goes')));
  });

  await t.test('where the ReplicaSet comes back', async (t) => {
    must(await client.create(path('apps/v1/replicasets'), { metadata: { name: 'back' }, ...set('back', 0) }));
    await commit(stage, 'back', [change('Delete', 'back', undefined, replicaSet)], allowIrreversible);
    const pod = await makePod(stage, 'meanwhile', 'back');
    left(
      t,
      await undo(stage, 'back', partial),
      /more Pods without a controller than it has replicas.*Pod \S*meanwhile; delete them/,
    );
    t.ok(await isThere(stage, pod));
    must(await client.delete(pod, { gracePeriodSeconds: 0 }));
    await retried(t, stage, 'back');
  });

  await t.test('with the name of a Pod of a StatefulSet', async (t) => {
    const stateful = apps('StatefulSet');
    const spec = { serviceName: 'db', replicas: 1, ...selecting('db') };
    const pods = [await makePod(stage, 'db-0', 'db'), await makePod(stage, 'db-x', 'db')];
    const conditions = [{ type: 'Ready', status: 'True' }];
    must(await client.patch(`${pods[0]}/status`, { status: { phase: 'Running', conditions } }, 'merge'));
    await refused(t, stage, change('Create', 'db', { spec }, stateful), /delete or replace them: Pod \S*db-0; /);
    await commit(stage, 'later', [change('Create', 'later', { spec }, stateful)]);
    for (const pod of pods) t.ok(await isThere(stage, pod));
    await costs(stage, change('Create', 'db', { spec }, stateful), pods);
  });

  await t.test('that a deleted StatefulSet left', async (t) => {
    const stateful = apps('StatefulSet');
    const spec = { serviceName: 'kept', replicas: 1, ...selecting('kept') };
    must(await client.create(path('apps/v1/statefulsets'), { metadata: { name: 'kept' }, spec }));
    await waitFor(() => isThere(stage, path('pods/kept-0')), 'the Pod');
    const uid = at(must(await client.get(path('pods/kept-0'))), 'metadata', 'uid');
    must(await client.delete(path('apps/v1/statefulsets/kept'), { propagationPolicy: 'Orphan' }));
    await waitFor(async () => !(await isThere(stage, path('apps/v1/statefulsets/kept'))), 'it to be gone');
    await commit(stage, 'kept', [change('Create', 'kept', { spec }, stateful)]);
    t.equal(at(must(await client.get(path('pods/kept-0'))), 'metadata', 'uid'), uid);
  });

  await t.test('of a DaemonSet', async (t) => {
    const name = `${namespace}-agents`;
    must(await client.create('/api/v1/nodes', { metadata: { name } }));
    t.teardown(() => client.delete(`/api/v1/nodes/${name}`));
    must(await client.patch(`/api/v1/nodes/${name}`, { spec: { taints: [] } }));
    const daemon = apps('DaemonSet');
    const pod = await makePod(stage, 'agent', 'agent', { nodeName: name });
    const agent = change('Create', 'agent', { spec: selecting('agent') }, daemon);
    await refused(t, stage, agent, /replace them: Pod \S*agent; /);
    const onDelete = { spec: { ...selecting('agent'), updateStrategy: { type: 'OnDelete' } } };
    await commit(stage, 'patient', [change('Create', 'patient', onDelete, daemon)]);
    t.ok(await isThere(stage, pod));
    must(await client.delete(path('apps/v1/daemonsets/patient'), { propagationPolicy: 'Orphan' }));
    await waitFor(async () => !(await isThere(stage, path('apps/v1/daemonsets/patient'))), 'it to be gone');
    await costs(stage, agent, [pod]);
  });

  await t.test('of a Deployment', async (t) => {
    const sets = path('apps/v1/replicasets');
    const labels = { app: 'web' };
    must(await client.create(sets, { metadata: { name: 'web', labels }, ...set('web', 1) }));
    const content = (image: string, replicas: number): JsonObject => {
      const template = { metadata: { labels }, spec: { containers: [{ ...container, image }] } };
      return { spec: { replicas, selector: { matchLabels: labels }, template } };
    };
    const made = (image: string, replicas: number): JsonObject =>
      change('Create', 'web', content(image, replicas), apps('Deployment'));
    const why = /matches ReplicaSets without a controller.*: ReplicaSet \S*web; /;
    await refused(t, stage, made(container.image, 0), why);
    await refused(t, stage, made('example.org/next', 1), why);
    const replicas = async (): Promise<unknown> => at(must(await client.get(`${sets}/web`)), 'spec', 'replicas');
    t.equal(await replicas(), 1);
    await commit(stage, 'allowed', [made('example.org/next', 0)], allowIrreversible);
    await waitFor(async () => (await replicas()) === 0, 'the ReplicaSet to lose its Pods');
    must(await client.create(sets, { metadata: { name: 'same', labels: { app: 'same' } }, ...set('same', 1) }));
    await commit(stage, 'same', [change('Create', 'same', set('same', 1), apps('Deployment'))]);
    await waitFor(
      async () => at(must(await client.get(`${sets}/same`)), 'metadata', 'ownerReferences') !== undefined,
      'the ReplicaSet to be adopted',
    );
    t.match(must(await client.get(`${sets}/same`)), { spec: { replicas: 1 } });
  });
});

t.test('a Pod or a ReplicaSet that gets labels which a controller selects', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const sets = path('apps/v1/replicasets');
  const pod = { apiVersion: 'v1', kind: 'Pod' };
  const labelled = (name: string, app: string, parts = pod): JsonObject =>
    change('Patch', name, { metadata: { labels: { app } } }, parts);
  const run = async (app: string): Promise<readonly string[]> => {
    must(await client.create(sets, { metadata: { name: app }, spec: { replicas: 1, ...selecting(app) } }));
    const full = async (): Promise<boolean> => at(must(await client.get(`${sets}/${app}`)), 'status', 'replicas') === 1;
    await waitFor(full, 'its Pod');
    return (await podsOf(app)).map((one) => textAt(one, 'metadata', 'name') ?? '');
  };
  const podsOf = async (app: string): Promise<readonly JsonObject[]> =>
    at(must(await client.list(path('pods'), { labelSelector: `app=${app}` })), 'items') as readonly JsonObject[];

  await t.test('is refused where the controller needs no more', async (t) => {
    await run('full');
    const bare = await makePod(stage, 'bare', 'bare');
    const one = labelled('bare', 'full');
    await refused(t, stage, one, /these controllers select its new labels, .*: ReplicaSet \S*full; .*allow-irreversible/);
    t.ok(await isThere(stage, bare));
    await commit(stage, 'elsewhere', [labelled('bare', 'nobody')]);
    await undoAll(stage, 'elsewhere');
    const others = (await podsOf('full')).map((other) => path(`pods/${textAt(other, 'metadata', 'name')}`));
    await costs(stage, one, [bare, ...others]);
  });

  await t.test('is left in an undo, where another one took its place', async (t) => {
    const [name = ''] = await run('held');
    await commit(stage, 'quarantine', [labelled(name, 'quarantined')]);
    await waitFor(async () => (await podsOf('held')).length === 1, 'another Pod');
    left(
      t,
      await undo(stage, 'quarantine', partial),
      /these controllers select.*ReplicaSet \S*held; change its labels, or their selectors, then/,
    );
    t.ok(await isThere(stage, path(`pods/${name}`)));
    must(await client.delete(`${sets}/held`, { propagationPolicy: 'Orphan' }));
    await waitFor(async () => !(await isThere(stage, `${sets}/held`)), 'the ReplicaSet to be gone');
    await retried(t, stage, 'quarantine');
  });

  await t.test('is refused for a ReplicaSet of another template', async (t) => {
    must(await client.create(sets, { metadata: { name: 'mine' }, spec: { replicas: 1, ...selecting('mine') } }));
    const template = { metadata: { labels: { app: 'theirs' } }, spec: { containers: [container] } };
    const spec = { replicas: 1, selector: { matchLabels: { app: 'theirs' } }, template };
    must(await client.create(path('apps/v1/deployments'), { metadata: { name: 'theirs' }, spec }));
    await refused(t, stage, labelled('mine', 'theirs', apps('ReplicaSet')), /Deployment \S*theirs; /);
    t.match(must(await client.get(`${sets}/mine`)), { spec: { replicas: 1 } });
  });
});
