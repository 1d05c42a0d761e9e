// A requested undo is decided as a whole: it undoes what its plan says, or it writes nothing and says why (U1 to U3).
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { account, conditionOf, type Stage, startStage } from '../../support/stage.ts';
import { change, portraits } from '../../support/targets.ts';

const shop = { spec: { fieldManager: 'shop' } };

const deployment = (name: string, tag: string): JsonObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        containers: [
          {
            name: 'c',
            image: `reg.example/${name}:${tag}`,
            envFrom: [{ configMapRef: { name: 'config' } }],
            ports: [{ containerPort: 80 }],
          },
        ],
      },
    },
  },
});

const config = (color: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'config' },
  data: { color },
});

const apply = (content: JsonObject): JsonObject => ({ type: 'Apply', content });

const release = (tag: string, color: string): readonly JsonObject[] =>
  [config(color), deployment('api', tag), deployment('worker', tag)].map(apply);

const places = ['configmaps/config', 'apps/v1/deployments/api', 'apps/v1/deployments/worker'];

async function commit(stage: Stage, name: string, changes: readonly JsonObject[]): Promise<void> {
  await stage.transaction(name, changes, shop);
  const status = await stage.finished(name);
  if (textAt(status, 'phase') !== 'Committed') throw new Error(`${name}: ${textAt(status, 'message')}`);
}

const show = (stage: Stage) => portraits(stage.client, places.map(stage.path));

/** The answer to a request, once the engine has given it. */
function answered(stage: Stage, name: string, value: string): Promise<JsonObject> {
  return waitFor(async () => {
    const status = at(await stage.read(name), 'status');
    return textAt(status, 'undo', 'request', 'value') === value ? (status as JsonObject) : undefined;
  }, `the answer to ${value}`);
}

async function hotfix(stage: Stage): Promise<void> {
  const image = { spec: { template: { spec: { containers: [{ name: 'c', image: 'reg.example/api:2-hotfix' }] } } } };
  must(await stage.client.patch(stage.path('apps/v1/deployments/api'), image, 'strategic', { fieldManager: 'kubectl-set' }));
}

/** Committed as before, at rest, and without a lock. */
async function showsCommitted(t: Test, stage: Stage, name: string): Promise<void> {
  const transaction = await stage.read(name);
  const conditions = ['Succeeded', 'Ready', 'Committed', 'Stalled', 'Finished'].map((type) =>
    conditionOf(at(transaction, 'status') as JsonObject, type),
  );
  t.same(conditions, ['True', 'True', 'True', 'False', 'True']);
  t.equal(textAt(transaction, 'status', 'phase'), 'Committed');
  t.same(await stage.leases(), []);
}

t.test('a hotfix after a release', async (t) => {
  const stage = await startStage(t);
  await commit(stage, 'release-1', release('1', 'blue'));
  const first = await show(stage);
  await commit(stage, 'release-2', release('2', 'red'));
  await hotfix(stage);
  const before = await show(stage);
  const completion = textAt(await stage.read('release-2'), 'status', 'completionTime');

  await t.test('a plan names the conflict and writes nothing', async (t) => {
    await stage.annotate('release-2', { 'tx.janus.io/plan-undo': 'nonce-1' });
    const { undo } = await answered(stage, 'release-2', 'nonce-1');
    t.match(undo, { reason: 'Planned', counts: { blocked: 1, restore: 2 } });
    t.match(at(undo, 'items'), [
      {
        index: 1,
        verdict: 'Blocked',
        target: 'Deployment api',
        reason: 'RollbackConflict',
        fields: [
          {
            manager: 'kubectl-set',
            before: '"reg.example/api:1"',
            released: '"reg.example/api:2"',
            now: '"reg.example/api:2-hotfix"',
          },
        ],
      },
      { verdict: 'Restore', target: 'ConfigMap config', fields: [{ path: 'data.color', before: '"blue"', now: '"red"' }] },
      { verdict: 'Restore', target: 'Deployment worker' },
    ]);
    t.same(await show(stage), before);
    await showsCommitted(t, stage, 'release-2');
  });

  await t.test('the undo is refused before its first write', async (t) => {
    await stage.annotate('release-2', { 'tx.janus.io/request-rollback': '1' });
    const { undo } = await answered(stage, 'release-2', '1');
    t.match(undo, { reason: 'UndoRefused', message: /nothing was written.*Deployment api/ });
    t.same(await show(stage), before);
    await showsCommitted(t, stage, 'release-2');
    t.equal(textAt(await stage.read('release-2'), 'status', 'completionTime'), completion);
  });

  await t.test('the plan of a partial undo names what the blocked object needs', async (t) => {
    await stage.annotate('release-2', { 'tx.janus.io/plan-undo': 'nonce-partial', 'tx.janus.io/undo-partial': 'true' });
    const { undo } = await answered(stage, 'release-2', 'nonce-partial');
    t.match(undo, { counts: { blocked: 2, restore: 1 } });
    t.match(at(undo, 'items'), [
      { verdict: 'Blocked', target: 'ConfigMap config', reason: 'NeededByKept', message: 'Deployment api stays and needs it' },
      { verdict: 'Blocked', target: 'Deployment api' },
      { verdict: 'Restore', target: 'Deployment worker' },
    ]);
    await stage.annotate('release-2', { 'tx.janus.io/undo-partial': 'false' });
  });

  await t.test('a choice that names no object has no effect', async (t) => {
    await stage.annotate('release-2', { 'tx.janus.io/request-rollback': '2', 'tx.janus.io/undo-keep': 'Deployment/other' });
    await waitFor(async () => {
      const status = at(await stage.read('release-2'), 'status');
      return /has no effect.*Deployment\/other/.test(textAt(status, 'message') ?? '') ? true : undefined;
    }, 'the message');
    t.same(await show(stage), before);
  });

  await t.test('another plan than the one that the user saw is refused', async (t) => {
    const annotations = { 'tx.janus.io/undo-keep': 'Deployment/api', 'tx.janus.io/undo-digest': '0'.repeat(64) };
    await stage.annotate('release-2', { 'tx.janus.io/request-rollback': '3', ...annotations });
    const { undo } = await answered(stage, 'release-2', '3');
    t.match(undo, { reason: 'PlanChanged', counts: { keep: 2, restore: 1 } });
    t.same(await show(stage), before);
  });

  await t.test('the undo keeps the chosen object and the objects it needs, and restores all others', async (t) => {
    await stage.annotate('release-2', { 'tx.janus.io/plan-undo': 'nonce-2' });
    const { undo } = await answered(stage, 'release-2', 'nonce-2');
    t.match(undo, { counts: { keep: 2, restore: 1 } });
    const digest = textAt(undo, 'digest') ?? '';
    await stage.annotate('release-2', { 'tx.janus.io/request-rollback': '4', 'tx.janus.io/undo-digest': digest });
    await stage.phase('release-2', 'RolledBack');
    const status = await stage.finished('release-2');
    t.match(at(status, 'items'), [
      { state: 'Kept', note: /Deployment api stays and needs it/ },
      { state: 'Kept', note: 'kept on request' },
      { state: 'Restored' },
    ]);
    t.match(textAt(status, 'message'), /rolled back 1 change, 2 kept/);
    t.equal(at(status, 'undo'), undefined);
    t.same(await show(stage), [before[0], before[1], first[2]]);
  });
});

t.test('overwritten: the hotfix gives way to the state before the release', async (t) => {
  const stage = await startStage(t);
  await commit(stage, 'release-1', release('1', 'blue'));
  const first = await show(stage);
  await commit(stage, 'release-2', release('2', 'red'));
  await hotfix(stage);
  await stage.annotate('release-2', { 'tx.janus.io/request-rollback': '1', 'tx.janus.io/undo-overwrite': 'deployment.apps/api' });
  await stage.phase('release-2', 'RolledBack');
  await stage.finished('release-2');
  t.same(await show(stage), first);
});

t.test('a plan of a rollback composes the undos of all newer releases', async (t) => {
  const stage = await startStage(t);
  await commit(stage, 'release-1', release('1', 'blue'));
  const first = await show(stage);
  await commit(stage, 'release-2', [...release('2', 'red'), apply({ ...config('x'), metadata: { name: 'extra' } })]);
  await commit(stage, 'release-3', release('3', 'green').slice(1));
  const before = await show(stage);
  const backTo = async (name: string, to: string, annotations: Readonly<Record<string, string>>): Promise<void> => {
    await stage.transaction(name, [], { spec: { ...shop.spec, changes: undefined as never, rollback: { to } }, annotations });
  };
  const plan = async (name: string, to: string): Promise<unknown> => {
    await backTo(name, to, { 'tx.janus.io/plan-undo': name });
    return (await answered(stage, name, name)).undo;
  };
  await stage.annotate('release-2', { 'tx.janus.io/plan-undo': 'alone' });
  t.match((await answered(stage, 'release-2', 'alone')).undo, { counts: { blocked: 2, restore: 1, delete: 1 } });
  t.match(await plan('to-release-1', 'release-1'), {
    counts: { restore: 3, delete: 1 },
    items: [
      { target: 'ConfigMap extra' },
      { fields: [{ before: '"blue"', now: '"red"' }] },
      { fields: [{ before: '"reg.example/api:1"', now: '"reg.example/api:3"' }] },
    ],
  });
  t.match(await plan('to-none', ''), { counts: { delete: 4 } });
  await backTo('to-release-9', 'release-9', { 'tx.janus.io/plan-undo': 'nonce' });
  t.match(await stage.finished('to-release-9'), { phase: 'Failed', message: /release-9 does not exist/ });
  t.same(await show(stage), before, 'plans write nothing');
  await backTo('back', 'release-1', {});
  t.match(await stage.finished('back'), { phase: 'Committed' });
  t.same(await show(stage), first);
});

t.test('below a newer release', async (t) => {
  const stage = await startStage(t);
  await commit(stage, 'release-1', release('1', 'blue'));
  await commit(stage, 'release-2', release('2', 'red').slice(0, 2));
  const before = await show(stage);

  await t.test('the undo is refused and names it, also if the newer one drops objects', async (t) => {
    await stage.annotate('release-1', { 'tx.janus.io/request-rollback': '1' });
    const { undo } = await answered(stage, 'release-1', '1');
    t.match(undo, { reason: 'UndoRefused', counts: { blocked: 2, delete: 1 } });
    t.match(at(undo, 'items'), [
      { reason: 'LaterTransaction', message: /release-2/ },
      { reason: 'LaterTransaction' },
      { verdict: 'Delete' },
    ]);
    t.same(await show(stage), before);
    await showsCommitted(t, stage, 'release-1');
  });

  await t.test('overwriting is not possible over a later Transaction', async (t) => {
    await stage.annotate('release-1', {
      'tx.janus.io/request-rollback': '2',
      'tx.janus.io/undo-overwrite': 'ConfigMap/config,Deployment/api',
    });
    const { undo } = await answered(stage, 'release-1', '2');
    t.match(undo, { reason: 'UndoRefused', counts: { blocked: 2 } });
    t.same(await show(stage), before);
  });

  await t.test('once the newer one is deleted, its values belong to the line, and the undo restores over them', async (t) => {
    must(await stage.client.delete(`/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/release-2`));
    await waitFor(
      async () =>
        (await stage.client.get(`/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/release-2`)).code === 404
          ? true
          : undefined,
      'release-2 to go',
    );
    await stage.annotate('release-1', { 'tx.janus.io/request-rollback': '3', 'tx.janus.io/undo-overwrite': '' });
    await stage.phase('release-1', 'RolledBack');
    await stage.finished('release-1');
    for (const place of places) t.equal((await stage.client.get(stage.path(place))).code, 404, place);
  });
});

t.test('of a recreated object the undo takes both halves back, and needs the rights for both', async (t) => {
  const rulesOf = (...verbs: readonly string[]) => [{ apiGroups: [''], resources: ['configmaps'], verbs }];
  const others = ['get', 'list', 'update', 'patch', 'delete'];
  const stage = await startStage(t, { rules: rulesOf(...others, 'create') });
  const { client, path } = stage;
  const holding = (a: string): JsonObject => ({ immutable: true, data: { a } });
  const held = async () => textAt(must(await client.get(path('configmaps/fixed'))), 'data', 'a');
  must(await client.create(path('configmaps'), { metadata: { name: 'fixed' }, ...holding('1') }));
  await stage.transaction('fixed', [{ ...change('Update', 'fixed', holding('2')), whenImmutable: 'Recreate' }]);
  t.match(await stage.finished('fixed'), { phase: 'Committed' });
  await stage.annotate('fixed', { 'tx.janus.io/plan-undo': 'nonce' });
  t.match(await answered(stage, 'fixed', 'nonce'), { undo: { counts: { recreate: 1 }, items: [{ verdict: 'Recreate' }] } });

  const mayCreate = async (verbs: readonly string[], code: number): Promise<void> => {
    const role = `/apis/rbac.authorization.k8s.io/v1/clusterroles/${stage.namespace}`;
    must(await client.patch(role, { rules: rulesOf(...verbs) }));
    const asAccount = client.asServiceAccount(stage.namespace, account);
    const create = () => asAccount.create(`${path('configmaps')}?dryRun=All`, { metadata: { name: 'probe' } });
    await waitFor(async () => (await create()).code === code, `a Create to be answered ${code}`);
  };
  await mayCreate(others, 403);
  await stage.annotate('fixed', { 'tx.janus.io/request-rollback': '1' });
  const { undo } = await answered(stage, 'fixed', '1');
  t.match(undo, { reason: 'UndoRefused', items: [{ reason: 'Forbidden', message: /may not create configmaps/ }] });
  t.equal(await held(), '2');

  await mayCreate([...others, 'create'], 201);
  await stage.annotate('fixed', { 'tx.janus.io/request-rollback': '2' });
  await stage.phase('fixed', 'RolledBack');
  await stage.finished('fixed');
  t.equal(await held(), '1');
});
