// What Kubernetes deletes along with an object by name or by label, or creates again, and that is of the same Transaction or of nobody:
// an undo that was accepted as a whole leaves nothing. A target that the undo would leave is neither: what would take it along stays.
import fc from 'fast-check';
import t, { type Test } from 'tap';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { createRollback } from '../../support/releases.ts';
import { commit, undo, undoAll } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { stepTo, stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const service = { apiVersion: 'v1', kind: 'Service' };
const endpoints = { apiVersion: 'v1', kind: 'Endpoints' };
const slices = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' };
const roles = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' };
const accounts = { apiVersion: 'v1', kind: 'ServiceAccount' };
const tokens = { apiVersion: 'v1', kind: 'Secret' };
const subsets = [{ addresses: [{ ip: '192.0.2.7' }], ports: [{ port: 80 }] }];
const ports = [{ port: 80 }];
const theirs = { fieldManager: 'their-tool' };

const stage = await startStage(t, { withoutLoop: true });
const { client, path, namespace } = stage;
const clusterRoles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const slicesPath = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;

/** What one release may hold: its changes by name, and the path of each object. */
type Made = readonly (readonly [change: JsonObject, path: string])[];

const byHand = (name: string): Made => [
  [change('Create', name, { spec: { ports } }, service), path(`services/${name}`)],
  [change('Create', name, { subsets }, endpoints), path(`endpoints/${name}`)],
];

const sliced = (name: string): Made => [
  [change('Create', name, { spec: { ports, selector: { app: name } } }, service), path(`services/${name}`)],
  [
    change(
      'Create',
      `${name}-slice`,
      {
        metadata: { labels: { 'kubernetes.io/service-name': name, 'endpointslice.kubernetes.io/managed-by': 'a-person' } },
        ...{ addressType: 'IPv4', endpoints: [{ addresses: ['192.0.2.7'] }], ports },
      },
      slices,
    ),
    `${slicesPath}/${name}-slice`,
  ],
];

const aggregated = (name: string): Made => {
  const [whole, part, key] = [`${namespace}-${name}`, `${namespace}-${name}-part`, `${namespace}.example.com/${name}`];
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
  const clusterRoleSelectors = [{ matchLabels: { [key]: 'true' } }];
  return [
    [change('Create', part, { metadata: { labels: { [key]: 'true' } }, rules }, roles), `${clusterRoles}/${part}`],
    [change('Create', whole, { aggregationRule: { clusterRoleSelectors }, rules: [] }, roles), `${clusterRoles}/${whole}`],
  ];
};

const tokened = (name: string): Made => [
  [change('Create', name, {}, accounts), path(`serviceaccounts/${name}`)],
  [
    change(
      'Create',
      `${name}-token`,
      { metadata: { annotations: { 'kubernetes.io/service-account.name': name } }, type: 'kubernetes.io/service-account-token' },
      tokens,
    ),
    path(`secrets/${name}-token`),
  ],
];

const codesOf = (paths: readonly string[]) => Promise.all(paths.map(async (one) => (await client.get(one)).code));
const isGone = (paths: readonly string[]) => paths.map(() => 404);

async function showUndone(name: string, made: Made): Promise<void> {
  const paths = made.map(([, where]) => where);
  await commit(
    stage,
    name,
    made.map(([one]) => one),
  );
  await undoAll(stage, name);
  const codes = await codesOf(paths);
  if (codes.some((code) => code !== 404)) throw new Error(`left by the undo of ${name}: ${JSON.stringify([codes, paths])}`);
}

t.test('an undo that is accepted as a whole leaves nothing, whatever the order', async (t) => {
  for (const [name, made] of Object.entries({ byHand, sliced, aggregated, tokened }))
    for (const turn of made === tokened ? (['first'] as const) : (['first', 'last'] as const))
      await t.test(`${name}, the object that takes the other along ${turn}`, async (t) => {
        const all = made(`${name.toLowerCase()}-${turn}`);
        await showUndone(`${name.toLowerCase()}-${turn}`, turn === 'first' ? all : all.toReversed());
        t.pass();
      });

  await t.test('generated releases of all of these', async (t) => {
    let runs = 0;
    const all = [byHand, sliced, aggregated, tokened];
    const release = fc.subarray(all, { minLength: 2 }).chain((some) => {
      const made = some.flatMap((one, index) => one(`g${index}`).map((_, place) => [one, index, place] as const));
      return fc.shuffledSubarray(made, { minLength: made.length });
    });
    const property = fc.asyncProperty(release, async (order) => {
      runs += 1;
      const made = order.map(([one, index, place]) => one(`run-${runs}-${index}`)[place]).filter((one) => one !== undefined);
      // The token of a ServiceAccount that does not exist yet is deleted by Kubernetes.
      const isToken = ([, where]: Made[number]): boolean => where.endsWith('-token');
      await showUndone(`run-${runs}`, [...made.filter((one) => !isToken(one)), ...made.filter(isToken)]);
    });
    await fc.assert(property, { numRuns: 6 });
    t.equal(runs >= 6, true);
  });
});

t.test('Endpoints of this Transaction that others have annotated go with their own undo', async (t) => {
  for (const turn of ['first', 'last'] as const)
    await t.test(`the Service ${turn}`, async (t) => {
      const name = `noted-${turn}`;
      const made = byHand(name);
      const all = turn === 'first' ? made : made.toReversed();
      await commit(
        stage,
        name,
        all.map(([one]) => one),
      );
      must(await client.patch(path(`endpoints/${name}`), { metadata: { annotations: { seen: 'yes' } } }, 'merge', theirs));
      await undoAll(stage, name);
      const paths = all.map(([, where]) => where);
      t.strictSame(await codesOf(paths), isGone(paths));
    });
});

t.test('Endpoints of others hold up the whole undo before its first write', async (t) => {
  await commit(stage, 'foreign', [byHand('foreign')[0]?.[0] ?? {}]);
  must(await client.create(path('endpoints'), { metadata: { name: 'foreign' }, subsets }));
  const status = await undo(stage, 'foreign');
  t.match(status, { phase: 'Committed', undo: { reason: 'UndoRefused', items: [{ reason: 'NotEmpty' }] } });
  t.strictSame(await codesOf([path('services/foreign'), path('endpoints/foreign')]), [200, 200]);
});

t.test('Endpoints that were there before are not deleted along with a Service of the same Transaction', async (t) => {
  const before = [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 80 }] }];
  const subsetsOf = async (name: string) => must(await client.get(path(`endpoints/${name}`))).subsets;
  const patchThenCreate = (name: string): readonly JsonObject[] => [
    change('Patch', name, { subsets }, endpoints),
    change('Create', name, { spec: { ports } }, service),
  ];
  for (const turn of ['last', 'first'] as const)
    await t.test(`the Service ${turn}`, async (t) => {
      const all = (name: string) => (turn === 'last' ? patchThenCreate(name) : patchThenCreate(name).toReversed());
      const name = `before-${turn}`;
      must(await client.create(path('endpoints'), { metadata: { name }, subsets: before }, theirs));
      await commit(stage, name, all(name));
      const status = await undo(stage, name);
      t.match(status, { phase: 'Committed', undo: { reason: 'UndoRefused', items: [{ reason: 'NotEmpty' }] } });
      t.match(await subsetsOf(name), subsets, 'the undo has written nothing');

      const failed = `failed-${turn}`;
      must(await client.create(path('endpoints'), { metadata: { name: failed }, subsets: before }, theirs));
      await stage.transaction(failed, [...all(failed), change('Create', `${failed}-taken`, {})]);
      await stepTo(stage, failed, 'the Service', async () => (await client.get(path(`services/${failed}`))).code === 200);
      must(await client.create(path('configmaps'), { metadata: { name: `${failed}-taken` } }));
      const { status: ended } = await stepToEnd(stage, failed);
      t.match(ended, { phase: 'Failed', message: /others' objects would be deleted with it: Endpoints failed-/ });
      t.match(await subsetsOf(failed), before, 'the rollback restores what it can');
      t.equal((await client.get(path(`services/${failed}`))).code, 200);
    });
});

t.test('Endpoints that a release deleted come back after the Service that it created is gone', async (t) => {
  const before = [{ addresses: [{ ip: '192.0.2.3' }], ports: [{ port: 80 }] }];
  const [serviceOf, endpointsOf] = [(name: string) => path(`services/${name}`), (name: string) => path(`endpoints/${name}`)];
  const all = (name: string): readonly JsonObject[] => [
    change('Create', name, { spec: { ports } }, service),
    change('Delete', name, {}, endpoints),
  ];
  const start = async (name: string) =>
    must(await client.create(endpointsOf(''), { metadata: { name }, subsets: before }, theirs));
  const showBack = async (t: Test, name: string) => {
    t.equal((await client.get(serviceOf(name))).code, 404);
    t.match(must(await client.get(endpointsOf(name))).subsets, before);
  };
  for (const turn of ['first', 'last'] as const)
    await t.test(`a requested undo, the Service ${turn}`, async (t) => {
      const name = `back-${turn}`;
      await start(name);
      await commit(stage, name, turn === 'first' ? all(name) : all(name).toReversed());
      await undoAll(stage, name);
      await showBack(t, name);
    });

  await t.test('an automatic rollback', async (t) => {
    await start('failing');
    await stage.transaction('failing', [...all('failing'), change('Create', 'failing-taken', {})]);
    await stepTo(stage, 'failing', 'the Endpoints to go', async () => (await client.get(endpointsOf('failing'))).code === 404);
    must(await client.create(path('configmaps'), { metadata: { name: 'failing-taken' } }));
    t.match((await stepToEnd(stage, 'failing')).status, { phase: 'RolledBack' });
    await showBack(t, 'failing');
  });

  await t.test('a rollback over the release, and its undo', async (t) => {
    await start('over');
    const spec = { fieldManager: 'over' };
    await stage.transaction('over', all('over'), { spec });
    t.match(await stepToEnd(stage, 'over'), { phase: 'Committed' });
    await createRollback(stage, 'over-back', { to: '' }, { spec });
    t.match((await stepToEnd(stage, 'over-back')).status, { phase: 'Committed' });
    await showBack(t, 'over');
    await undoAll(stage, 'over-back');
    t.strictSame(await codesOf([serviceOf('over'), endpointsOf('over')]), [200, 404]);
  });
});

t.test('Endpoints that Kubernetes made and left belong to nobody', async (t) => {
  await commit(stage, 'left', [change('Create', 'left', { spec: { ports, selector: { app: 'left' } } }, service)]);
  await waitFor(async () => (await client.get(path('endpoints/left'))).code === 200, 'the Endpoints');
  must(await client.patch(path('services/left'), { spec: { selector: null } }, 'merge', theirs));
  const status = await undo(stage, 'left', { 'tx.janus.io/undo-overwrite': 'Service/left' });
  t.match(status, { phase: 'RolledBack' });
  t.strictSame(await codesOf([path('services/left'), path('endpoints/left')]), [404, 404]);
});

t.test('an aggregated ClusterRole that its controller creates again is deleted again', async (t) => {
  const [part, whole] = aggregated('again');
  await commit(stage, 'again', [part?.[0] ?? {}, whole?.[0] ?? {}]);
  const where = whole?.[1] ?? '';
  await stage.annotate('again', { 'tx.janus.io/request-rollback': 'yes' });
  await stepTo(stage, 'again', 'the ClusterRole to be deleted', async () => (await client.get(where)).code === 404);
  const controller = { fieldManager: 'clusterrole-aggregation-controller', force: true };
  must(await client.apply(where, { ...roles, metadata: { name: `${namespace}-again` }, rules: [] }, controller));
  t.match((await stepToEnd(stage, 'again')).status, { phase: 'RolledBack', message: /^rolled back 2 changes/ });
  t.strictSame(await codesOf([where, part?.[1] ?? '']), [404, 404]);
});
