// Somebody who may create ConfigMaps in the namespace of a Transaction, and knows even the names that only the engine's key gives,
// posts a snapshot before the engine stores one: it is not believed in anything, and the Transaction ends as if it were not there.
import t, { type Test } from 'tap';
import type { JsonObject } from '../../hooks/objects/json.ts';
import type { SnapshotEntry } from '../../hooks/transactions/model/entry.ts';
import { textOf } from '../../hooks/transactions/snapshots/codec.ts';
import { must } from '../support/client.ts';
import { everyNth } from '../support/selection.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { stepToEnd, stepUntil, stepUntilGone } from '../support/stepping.ts';
import { change } from '../support/targets.ts';
import { dataOf, plant, resources } from './snapshots/forging.ts';

const rbac = 'rbac.authorization.k8s.io';

interface Attack {
  readonly name: string;
  readonly type: 'Patch' | 'Delete' | 'Create' | 'Update';
  readonly kind?: 'Secret';
  /** What the forged entry says other than the spec. */
  readonly entry: (namespace: string, target: string) => JsonObject;
}

function grant(kind: string, namespace: string | undefined, name: string): JsonObject {
  const metadata = namespace === undefined ? { name } : { name, namespace };
  const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' };
  const subjects = [{ kind: 'User', apiGroup: rbac, name: 'mallory' }];
  return { apiVersion: `${rbac}/v1`, kind, metadata, roleRef, subjects };
}

const attacks: readonly Attack[] = [
  {
    name: 'a RoleBinding in place of the target',
    type: 'Patch',
    entry: (namespace, name) => ({
      type: 'Delete',
      resource: resources.roleBinding,
      prior: grant('RoleBinding', namespace, name),
    }),
  },
  {
    name: 'a ClusterRoleBinding, and no namespace',
    type: 'Patch',
    entry: (_, name) => ({
      type: 'Delete',
      target: { apiVersion: 'v1', kind: 'ConfigMap', name },
      resource: resources.clusterRoleBinding,
      prior: grant('ClusterRoleBinding', undefined, name),
    }),
  },
  {
    name: 'a Delete that was never made',
    type: 'Delete',
    entry: (namespace, name) => ({ resource: resources.roleBinding, prior: grant('RoleBinding', namespace, name) }),
  },
  {
    name: 'another type and another state before',
    type: 'Update',
    entry: (namespace, name) => ({
      type: 'Delete',
      prior: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { color: 'forged' } },
    }),
  },
  {
    name: 'in the clear where it must be sealed',
    type: 'Patch',
    kind: 'Secret',
    entry: (namespace, name) => ({
      prior: { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data: { color: 'Zm9yZ2Vk' } },
      expected: { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data: { color: 'Zm9yZ2Vk' } },
    }),
  },
];

function forged(stage: Stage, target: string, { type, kind: given, entry }: Attack): string {
  const kind = given ?? 'ConfigMap';
  const resource = kind === 'Secret' ? resources.secret : resources.configMap;
  const reference = { apiVersion: 'v1', kind, namespace: stage.namespace, name: target };
  const base = { index: 0, type, target: reference, resource, approximate: false };
  return textOf({ ...base, ...entry(stage.namespace, target) } as unknown as SnapshotEntry);
}

async function run(t: Test, stage: Stage, [attack, name]: readonly [Attack, string]): Promise<void> {
  const collection = attack.kind === 'Secret' ? 'secrets' : 'configmaps';
  const [green, blue] = attack.kind === 'Secret' ? ['Z3JlZW4=', 'Ymx1ZQ=='] : ['green', 'blue'];
  must(await stage.client.create(stage.path(collection), { metadata: { name }, data: { color: blue } }));
  await stage.transaction(name, [
    change(attack.type, name, attack.type === 'Delete' ? undefined : { data: { color: green } }, {
      kind: attack.kind ?? 'ConfigMap',
    }),
  ]);
  await stepUntil(stage, name, 'Preparing');
  await plant(stage, name, { texts: [forged(stage, name, attack)] });
  const { status } = await stepToEnd(stage, name);
  t.match(status, { phase: 'Committed', rollbackRef: { name: new RegExp(`^${name}-rollback-[0-9a-f]{20}$`) } });
  if (attack.type === 'Delete') t.equal((await stage.client.get(stage.path(`${collection}/${name}`))).code, 404, 'it is deleted');
  else t.same(await dataOf(stage, `${collection}/${name}`), { color: green }, 'it is made');
  await stage.annotate(name, { 'tx.janus.io/request-rollback': 'yes' });
  t.match((await stepUntil(stage, name, 'RolledBack')).status, { phase: 'RolledBack' });
  t.same(await dataOf(stage, `${collection}/${name}`), { color: blue }, 'and undone');
  await stepToEnd(stage, name);
}

t.test('the engine does not believe a forged snapshot', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const grants = (): Promise<readonly { readonly code: number }[]> =>
    Promise.all(
      attacks.flatMap((_, index) => [
        stage.client.get(stage.path(`${rbac}/v1/rolebindings/forged-${index}`)),
        stage.client.get(`/apis/${rbac}/v1/clusterrolebindings/forged-${index}`),
      ]),
    );
  for (const [index, attack] of everyNth(2, [...attacks.entries()]))
    await t.test(attack.name, (t) => run(t, stage, [attack, `forged-${index}`]));
  t.ok(
    (await grants()).every(({ code }) => code === 404),
    'no ServiceAccount was granted a right',
  );
});

t.test('the engine leaves a forged snapshot, except under the name of its own', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  must(await stage.client.create(stage.path('configmaps'), { metadata: { name: 'a' }, data: { color: 'blue' } }));
  await stage.transaction('kept', [change('Patch', 'a', { data: { color: 'green' } })]);
  await stepUntil(stage, 'kept', 'Preparing');
  await plant(stage, 'kept', { texts: ['{}'] });
  const before = must(await stage.client.get(stage.path('configmaps/kept-rollback')));
  await stepToEnd(stage, 'kept');
  must(await stage.client.delete(`/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/kept`));
  await stepUntilGone(stage, 'kept');
  t.same(must(await stage.client.get(stage.path('configmaps/kept-rollback'))), before, 'as somebody has put it there');
});
