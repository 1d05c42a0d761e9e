// Kinds that do not come back by themselves: their API server generates fields, refuses to take them back, or counts others in.
import t from 'tap';
import { at, type JsonObject, textAt, withPath } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { allowIrreversible, commit, partial, portrait, undo, undoAll } from '../../support/round-trip.ts';
import { account, type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const rbac = 'rbac.authorization.k8s.io/v1';
const service = { apiVersion: 'v1', kind: 'Service' };
const job = { apiVersion: 'batch/v1', kind: 'Job' };
const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' };

function jobSpec(suspend: boolean): JsonObject {
  const container = { name: 'work', image: 'example.org/work' };
  const template = { metadata: { labels: { app: 'work' } }, spec: { restartPolicy: 'Never', containers: [container] } };
  return { suspend, template };
}

async function createJob({ client, path }: Stage, name: string, suspend: boolean): Promise<string> {
  must(
    await client.create(path('batch/v1/jobs'), { ...job, metadata: { name, labels: { mine: 'yes' } }, spec: jobSpec(suspend) }),
  );
  return path(`batch/v1/jobs/${name}`);
}

/** What of a Job is not its identity: labels and the selector hold its uid. */
function withoutUid(shown: JsonObject, object: JsonObject): string {
  return JSON.stringify(shown).replaceAll(textAt(object, 'metadata', 'uid') ?? '', 'its uid');
}

t.test('the engine recreates kinds with generated fields', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path, namespace } = stage;

  await t.test('the undo recreates a Job whose selector and labels hold its uid', async (t) => {
    const where = await createJob(stage, 'job', true);
    await waitFor(async () => at(must(await client.get(where)), 'status', 'conditions') !== undefined, 'its controller');
    const show = async (): Promise<string> =>
      withoutUid((await portrait(stage, where, true)) as JsonObject, must(await client.get(where)));
    const before = await show();
    await commit(stage, 'job', [change('Delete', 'job', undefined, job)]);
    await waitFor(async () => (await client.get(where)).code === 404, 'the Job to be gone');
    await undoAll(stage, 'job');
    t.equal(await show(), before);
  });

  await t.test('the undo recreates a Job that has its own selector', async (t) => {
    const selector = { matchLabels: { own: 'selector' } };
    const plain = withPath(jobSpec(true), ['template', 'metadata', 'labels'], { own: 'selector' });
    const spec = { ...plain, manualSelector: true, selector };
    must(await client.create(path('batch/v1/jobs'), { ...job, metadata: { name: 'manual' }, spec }));
    const before = await portrait(stage, path('batch/v1/jobs/manual'), true);
    await commit(stage, 'manual', [change('Delete', 'manual', undefined, job)]);
    await undoAll(stage, 'manual');
    t.same(await portrait(stage, path('batch/v1/jobs/manual'), true), before);
  });

  await t.test('the deletion of a Job also deletes its Pods: it needs an opt-in', async (t) => {
    const where = await createJob(stage, 'busy', false);
    const pods = async (): Promise<readonly JsonObject[]> =>
      (await client.list(path('pods'), { labelSelector: 'job-name=busy' })).items;
    await waitFor(async () => (await pods()).length > 0, 'a Pod of the Job');
    const deletion = [change('Delete', 'busy', undefined, job)];
    await stage.transaction('refused', deletion);
    const { status } = await stepToEnd(stage, 'refused');
    t.match(status, {
      phase: 'Failed',
      message: /Kubernetes would also delete the objects that it owns \(Pod busy-.*allow-irreversible/,
    });
    await commit(stage, 'busy', deletion, allowIrreversible);
    await waitFor(async () => (await client.get(where)).code === 404, 'the Job to be gone');
    await undoAll(stage, 'busy');
    t.match(must(await client.get(where)), { metadata: { labels: { mine: 'yes' } }, spec: { suspend: false } });
  });

  await t.test('a recreated Service keeps its clusterIP and its node ports', async (t) => {
    const spec = { type: 'NodePort', selector: { app: 'web' }, ports: [{ port: 80 }] };
    must(await client.create(path('services'), { ...service, metadata: { name: 'web' }, spec }));
    const before = await portrait(stage, path('services/web'), true);
    for (const generated of [/"clusterIP":"10\./, /"nodePort":3/]) t.match(JSON.stringify(before), generated);
    await commit(stage, 'web', [change('Delete', 'web', undefined, service)]);
    await undoAll(stage, 'web');
    t.same(await portrait(stage, path('services/web'), true), before);
  });

  await t.test('the status names a Service whose clusterIP another Service has taken meanwhile', async (t) => {
    must(await client.create(path('services'), { ...service, metadata: { name: 'robbed' }, spec: { ports: [{ port: 80 }] } }));
    const clusterIP = textAt(must(await client.get(path('services/robbed'))), 'spec', 'clusterIP') ?? '';
    await commit(stage, 'robbed', [change('Delete', 'robbed', undefined, service)]);
    must(
      await client.create(path('services'), {
        ...service,
        metadata: { name: 'robber' },
        spec: { clusterIP, ports: [{ port: 80 }] },
      }),
    );
    const status = await undo(stage, 'robbed', partial);
    t.match(status, { phase: 'Failed', message: /undoing Delete of Service \S+\/robbed was refused: .*already allocated/ });
    must(await client.delete(path('services/robber')));
    await stage.annotate('robbed', { 'tx.janus.io/retry-rollback': 'yes' });
    t.match(await stepToEnd(stage, 'robbed'), { phase: 'RolledBack' });
  });

  await t.test('the engine accepts a Service that a user recreated with another clusterIP', async (t) => {
    const spec = { selector: { app: 'again' }, ports: [{ port: 80 }] };
    must(await client.create(path('services'), { ...service, metadata: { name: 'again' }, spec }));
    await commit(stage, 'again', [change('Delete', 'again', undefined, service)]);
    must(await client.create(path('services'), { ...service, metadata: { name: 'other' }, spec }));
    must(await client.create(path('services'), { ...service, metadata: { name: 'again' }, spec }));
    const theirs = textAt(must(await client.get(path('services/again'))), 'metadata', 'uid');
    await undoAll(stage, 'again');
    t.equal(textAt(must(await client.get(path('services/again'))), 'metadata', 'uid'), theirs, 'and is left alone');
  });

  await t.test('the deletion of a PersistentVolumeClaim needs an opt-in', async (t) => {
    const spec = { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Gi' } } };
    must(await client.create(path('persistentvolumeclaims'), { ...claim, metadata: { name: 'data' }, spec }));
    const where = path('persistentvolumeclaims/data');
    const before = await portrait(stage, where, true);
    const deletion = [change('Delete', 'data', undefined, claim)];
    await stage.transaction('no-claim', deletion);
    const { status } = await stepToEnd(stage, 'no-claim');
    t.match(status, { phase: 'Failed', message: /deleting PersistentVolumeClaim data cannot be undone: .*allow-irreversible/ });
    await commit(stage, 'claim', deletion, allowIrreversible);
    await waitFor(async () => (await client.get(where)).code === 404, 'the claim to be gone');
    await undoAll(stage, 'claim');
    t.same(await portrait(stage, where, true), before, 'the claim comes back, its data would not have');
  });

  await t.test('the undo recreates a ServiceAccount, and RBAC objects with : in their names', async (t) => {
    const role = `${namespace}:edge:reader`;
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role };
    const subjects = [{ kind: 'ServiceAccount', name: 'robot', namespace }];
    const objects: readonly (readonly [kind: string, apiVersion: string, name: string, path: string, content: JsonObject])[] = [
      ['ServiceAccount', 'v1', 'robot', path('serviceaccounts'), { automountServiceAccountToken: false }],
      ['Role', rbac, 'edge:reader', path(`${rbac}/roles`), { rules }],
      ['ClusterRole', rbac, role, `/apis/${rbac}/clusterroles`, { rules }],
      ['ClusterRoleBinding', rbac, role, `/apis/${rbac}/clusterrolebindings`, { roleRef, subjects }],
      ['RoleBinding', rbac, 'edge:reader', path(`${rbac}/rolebindings`), { roleRef, subjects }],
    ];
    for (const [kind, apiVersion, name, where, content] of objects) {
      must(await client.create(where, { apiVersion, kind, metadata: { name }, ...content }));
      t.teardown(() => client.delete(`${where}/${name}`));
    }
    const show = (): Promise<readonly unknown[]> =>
      Promise.all(objects.map(([, , name, where]) => portrait(stage, `${where}/${name}`, true)));
    const before = await show();
    await commit(
      stage,
      'accounts',
      objects.map(([kind, apiVersion, name]) => change('Delete', name, undefined, { kind, apiVersion })),
    );
    for (const [, , name, where] of objects) t.equal((await client.get(`${where}/${name}`)).code, 404);
    await undoAll(stage, 'accounts');
    t.same(await show(), before);
  });
});

t.test('the engine leaves a status that the ServiceAccount may not write to its controller', async (t) => {
  const disruption = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' };
  const rules = [{ apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['get', 'create', 'update', 'delete'] }];
  const stage = await startStage(t, { withoutLoop: true, rules });
  const { client, path, namespace } = stage;
  const where = path('policy/v1/poddisruptionbudgets/few');
  const spec = { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } };
  must(await client.create(path('policy/v1/poddisruptionbudgets'), { ...disruption, metadata: { name: 'few' }, spec }));
  await waitFor(async () => at(must(await client.get(where)), 'status', 'conditions') !== undefined, 'its controller');
  const before = await portrait(stage, where, true);
  await commit(stage, 'few', [change('Delete', 'few', undefined, disruption)]);
  await undoAll(stage, 'few');
  t.same(await portrait(stage, where, true), before);
  t.equal((await client.asServiceAccount(namespace, account).patch(`${where}/status`, { status: {} })).code, 403);
});
