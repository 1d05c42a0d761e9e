// What is refused before anything is written: all reasons in one message, no object touched, no lock left behind.
import t, { type Test } from 'tap';
import { at, isList, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { account, conditionOf, type Stage, startStage } from '../../support/stage.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

interface Refused {
  readonly name: string;
  readonly changes: readonly JsonObject[];
  readonly spec?: JsonObject;
}

/** Runs a Transaction that must fail, and gives its message. */
async function refusalOf(t: Test, stage: Stage, { name, changes, spec = {} }: Refused): Promise<string> {
  const paths = [...new Set(changes.map((one) => stage.path(`configmaps/${textAt(one, 'target', 'name')}`)))];
  const before = await portraits(stage.client, paths);
  await stage.transaction(name, changes, { spec });
  const status = await stage.finished(name);
  t.match(status, { phase: 'Failed' });
  t.equal(conditionOf(status, 'Succeeded'), 'False');
  t.same(await portraits(stage.client, paths), before, 'nothing is written');
  t.same(await stage.leases(), [], 'nothing stays locked');
  const { items } = await stage.client.list(stage.path('configmaps'));
  t.notOk(
    items.some((item) => textAt(item, 'metadata', 'name')?.startsWith(`${name}-rollback-`)),
    'no snapshot is stored',
  );
  t.same(
    stage.reports.filter((report) => report.name === name).flatMap(({ audit }) => audit),
    [],
    'no write was even tried',
  );
  return textAt(status, 'message') ?? '';
}

async function showDeletable(t: Test, { client, namespace }: Stage, name: string): Promise<void> {
  const path = `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions/${name}`;
  must(await client.delete(path));
  t.ok(await waitFor(async () => (await client.get(path)).code === 404, `${name} to be gone`), 'it can be deleted');
}

const green = { data: { color: 'green' } };

t.test('pre-flight refuses a Transaction before the first write', async (t) => {
  const stage = await startStage(t);
  await createConfigMaps(stage, ['one', 'two']);

  await t.test('pre-flight refuses a ServiceAccount that does not exist', async (t) => {
    const message = await refusalOf(t, stage, {
      name: 'no-account',
      changes: [change('Patch', 'one', green)],
      spec: { serviceAccountName: 'nobody' },
    });
    t.match(message, new RegExp(`ServiceAccount ${stage.namespace}/nobody does not exist: create it`));
    await showDeletable(t, stage, 'no-account');
  });

  await t.test('pre-flight refuses a target that is listed twice', async (t) => {
    const message = await refusalOf(t, stage, {
      name: 'twice',
      changes: [change('Patch', 'one', green), change('Patch', 'two', green), change('Delete', 'one')],
    });
    t.match(message, new RegExp(`ConfigMap ${stage.namespace}/one .*spec.changes\\[0\\].*spec.changes\\[2\\]`));
    await showDeletable(t, stage, 'twice');
  });

  await t.test('pre-flight refuses a target that is listed twice under two versions of its group', async (t) => {
    const scaler = { kind: 'HorizontalPodAutoscaler' };
    const message = await refusalOf(t, stage, {
      name: 'two-versions',
      changes: [
        change('Create', 'web', { spec: {} }, { ...scaler, apiVersion: 'autoscaling/v1' }),
        change('Create', 'web', { spec: {} }, { ...scaler, apiVersion: 'autoscaling/v2', namespace: stage.namespace }),
      ],
    });
    t.match(message, new RegExp(`HorizontalPodAutoscaler ${stage.namespace}/web .*spec.changes\\[0\\].*spec.changes\\[1\\]`));
  });

  await t.test('pre-flight admits two objects with one name and kind in two groups', async (t) => {
    await stage.transaction('two-groups', [
      change('Create', 'same', green),
      change('Create', 'same', { rules: [] }, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' }),
    ]);
    t.match(await stage.finished('two-groups'), { phase: 'Committed' });
  });

  await t.test('one message names all changes that their dry runs refuse', async (t) => {
    const message = await refusalOf(t, stage, {
      name: 'dry-run',
      changes: [
        change('Patch', 'one', green),
        change('Patch', 'two', { data: { 'no key': 'has a space' } }),
        change('Create', 'three', { datum: { misspelt: 'field' } }),
      ],
    });
    t.match(message, /spec\.changes\[1\]: ConfigMap \S+\/two was refused by a dry run: .*no key/);
    t.match(message, /spec\.changes\[2\]: ConfigMap \S+\/three was refused by a dry run: .*datum/);
    const items = at(await stage.read('dry-run'), 'status', 'items');
    t.same(isList(items) ? items.map((item) => at(item, 'error') !== undefined) : [], [false, true, true]);
    await showDeletable(t, stage, 'dry-run');
  });
});

t.test('one message names all permissions that the ServiceAccount lacks', async (t) => {
  const rules = [
    { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'patch'] },
    { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create', 'update'] },
    { apiGroups: ['apps'], resources: ['deployments'], verbs: ['delete'] },
  ];
  const stage = await startStage(t, { rules });
  await createConfigMaps(stage, ['one']);
  const message = await refusalOf(t, stage, {
    name: 'forbidden',
    changes: [
      change('Patch', 'one', green),
      change('Create', 'key', { stringData: { key: 'hush' } }, { kind: 'Secret' }),
      change('Create', 'web', { spec: {} }, { apiVersion: 'apps/v1', kind: 'Deployment' }),
      change('Delete', 'reader', undefined, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' }),
    ],
  });
  const place = `in namespace ${stage.namespace}`;
  const lacking = [
    `update configmaps "one" ${place}`,
    `delete secrets "key" ${place}`,
    `get deployments.apps "web" ${place}`,
    `create deployments.apps ${place}`,
    'get clusterroles.rbac.authorization.k8s.io "reader"',
    'delete clusterroles.rbac.authorization.k8s.io "reader"',
    'create clusterroles.rbac.authorization.k8s.io',
    'update clusterroles.rbac.authorization.k8s.io "reader"',
  ];
  for (const one of lacking) t.ok(message.includes(`ServiceAccount ${stage.namespace}/${account} may not ${one}`), one);
  t.notMatch(message, /may not (get|patch) configmaps|may not (get|create|update) secrets|may not delete deployments/);
  const locks = stage.reports.flatMap((report) => report.locks);
  t.same(locks, [], 'no Lease was written at any time');
  await showDeletable(t, stage, 'forbidden');
});

t.test('a right to only the name of the target is enough', async (t) => {
  const configMaps = { apiGroups: [''], resources: ['configmaps'] };
  const stage = await startStage(t, { rules: [{ ...configMaps, resourceNames: ['one'], verbs: ['get', 'patch', 'update'] }] });
  await createConfigMaps(stage, ['one', 'two']);
  await stage.transaction('allowed', [change('Patch', 'one', green)]);
  t.match(await stage.finished('allowed'), { phase: 'Committed' });
  const message = await refusalOf(t, stage, {
    name: 'not-allowed',
    changes: [change('Patch', 'one', green), change('Patch', 'two', green)],
  });
  t.match(message, /may not patch configmaps "two"/);
  t.notMatch(message, /"one"/);
});
