// What is not true yet.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../hooks/model/json.ts';
import { must, waitFor } from '../support/client.ts';
import { commit, undo } from '../support/round-trip.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { stepTo, stepToEnd } from '../support/stepping.ts';
import { change, createConfigMaps } from '../support/targets.ts';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

t.test('a token Secret that was deleted before its ServiceAccount comes back and stays', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const annotations = { 'kubernetes.io/service-account.name': 'robot' };
  must(await client.create(path('serviceaccounts'), { metadata: { name: 'robot' } }));
  const type = 'kubernetes.io/service-account-token';
  must(await client.create(path('secrets'), { metadata: { name: 'token', annotations }, type }));
  const isMade = async () => at((await client.get(path('secrets/token'))).body, 'data', 'token') !== undefined;
  await waitFor(isMade, 'the token');
  await commit(stage, 'both', [
    change('Delete', 'token', undefined, { kind: 'Secret' }),
    change('Delete', 'robot', undefined, { kind: 'ServiceAccount' }),
  ]);
  await undo(stage, 'both');
  await pause(5_000); // for the controller of tokens
  t.equal((await client.get(path('secrets/token'))).code, 200);
});

t.test('a change to an owner that is not there is refused, since the object would be collected', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  await createConfigMaps(stage, ['target']);
  const uid = '12345678-1234-1234-1234-123456789012';
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid }];
  await stage.transaction('owned', [change('Patch', 'target', { metadata: { ownerReferences } })]);
  t.match((await stepToEnd(stage, 'owned')).status, { phase: 'Failed' });
  await pause(10_000); // for the garbage collector
  t.equal((await stage.client.get(stage.path('configmaps/target'))).code, 200);
});

t.test('an owner that the ServiceAccount may not read, and that is gone', async (t) => {
  const verbs = ['get', 'list', 'create', 'update', 'patch', 'delete'];
  const stage = await startStage(t, { withoutLoop: true, rules: [{ apiGroups: [''], resources: ['configmaps'], verbs }] });
  const { client, path } = stage;
  const owner = must(await client.create(path('secrets'), { metadata: { name: 'owner' } }));
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Secret', name: 'owner', uid: textAt(owner, 'metadata', 'uid') ?? '' }];
  must(await client.create(path('configmaps'), { metadata: { name: 'child', ownerReferences }, data: { a: 'b' } }));
  await commit(stage, 'child', [change('Delete', 'child')]);
  must(await client.delete(path('secrets/owner')));
  const status = await undo(stage, 'child');
  await pause(10_000); // for the garbage collector
  const isBack = (await client.get(path('configmaps/child'))).code === 200;
  t.ok(isBack || textAt(status, 'phase') !== 'RolledBack', 'it is back, or it is told that it is not');
});

t.test('a kind that cannot be listed', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  await commit(stage, 'created', [change('Create', 'made', { data: { a: 'b' } })]);
  await createConfigMaps(stage, ['deleted']);
  await breakSomeKind(stage);
  await pause(3_000); // until no list of it is answered from what is cached

  await t.test('holds up no undo of a Create of another kind', async (t) => {
    await stage.annotate('created', { 'tx.janus.io/request-rollback': 'yes' });
    const began = Date.now();
    await stepTo(stage, 'created', 'the undo', ({ phase }) => phase === 'RolledBack' || Date.now() > began + 30_000);
    t.equal(textAt(await stage.read('created'), 'status', 'phase'), 'RolledBack');
  });

  await t.test('fails no Delete of another kind', async (t) => {
    await stage.transaction('deleting', [change('Delete', 'deleted')], { spec: { timeout: '20s' } });
    t.match((await stepToEnd(stage, 'deleting')).status, { phase: 'Committed' });
  });

  /** The webhook that converts one of its versions to the other is gone. */
  async function breakSomeKind({ client, namespace }: Stage): Promise<void> {
    const group = `${namespace}.example.org`;
    const definition = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions`;
    const schema = { openAPIV3Schema: { type: 'object' } };
    const version = (name: string, storage: boolean): JsonObject => ({ name, served: true, storage, schema });
    const names = { plural: 'things', kind: 'Thing' };
    const spec = { group, scope: 'Namespaced', names, versions: [version('v1', true)] };
    must(await client.create(definition, { metadata: { name: `things.${group}` }, spec }));
    t.teardown(() => client.delete(`${definition}/things.${group}`));
    const things = (name: string): string => `/apis/${group}/${name}/namespaces/${namespace}/things`;
    const thing = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'one' } };
    await waitFor(async () => (await client.create(things('v1'), thing)).code === 201, 'the kind to be served');
    const webhook = { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:1/' } };
    const broken = { conversion: { strategy: 'Webhook', webhook }, versions: [version('v2', true), version('v1', false)] };
    must(await client.patch(`${definition}/things.${group}`, { spec: broken }));
    await waitFor(async () => ![200, 404].includes((await client.list(things('v2'))).code), 'the kind to be broken');
  }
});
