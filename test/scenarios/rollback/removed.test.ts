// A rollback takes away what newer releases created, by the rules of the undo of a Create: what controllers made for an object goes with it,
// what others rely on does not.
import t, { type Test } from 'tap';
import { type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { type Client, must, waitFor } from '../../support/client.ts';
import { config, release, rollBack, takeBack } from '../../support/releases.ts';
import { startStage } from '../../support/stage.ts';

const labels = { app: 'web' };

const deployment: JsonObject = {
  type: 'Apply',
  content: {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'reg.example/web:1' }] } },
    },
  },
};

const isGone = async (client: Client, path: string): Promise<boolean> => (await client.get(path)).code === 404;

t.test('a Deployment goes with the ReplicaSets that its controller made, and comes back', async (t: Test) => {
  const stage = await startStage(t);
  const place = stage.path('apps/v1/deployments/web');
  const sets = async (): Promise<number> => (await stage.client.list(stage.path('apps/v1/replicasets'))).items.length;
  await release(stage, 'v1', [config('a', { v: '1' })]);
  await release(stage, 'v2', [config('a', { v: '2' }), deployment]);
  await waitFor(async () => (await sets()) === 1, 'the ReplicaSet of the Deployment');
  const status = await rollBack(stage, 'back', { to: 'v1' });
  t.equal(textAt(status, 'phase'), 'Committed', String(textAt(status, 'message')));
  t.ok(await isGone(stage.client, place));
  await waitFor(async () => (await sets()) === 0, 'the garbage collector');
  await takeBack(stage, 'back');
  t.match(must(await stage.client.get(place)), { spec: { replicas: 1 } });
  await waitFor(async () => (await sets()) === 1, 'the ReplicaSet of the Deployment that is back');
});

t.test('others own an object with what was created: it stays', async (t: Test) => {
  const stage = await startStage(t);
  const { client, path } = stage;
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'owner' }, spec: { ports: [{ port: 80 }] } };
  await release(stage, 'v1', [config('a', { v: '1' })]);
  await release(stage, 'v2', [config('a', { v: '2' }), { type: 'Apply', content: service }]);
  const uid = textAt(must(await client.get(path('services/owner'))), 'metadata', 'uid') ?? '';
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Service', name: 'owner', uid }];
  must(await client.create(path('configmaps'), { metadata: { name: 'owned', ownerReferences } }));

  const refused = await rollBack(stage, 'refused', { to: 'v1' });
  t.equal(textAt(refused, 'phase'), 'Failed');
  const message = textAt(refused, 'message') ?? '';
  t.match(message, /Service \S+owner.*others' objects would be deleted with it: ConfigMap owned.*spec\.rollback\.keep/);
  t.notMatch(message, /this Transaction|overwrite/);
  const partial = await rollBack(stage, 'partial', { to: 'v1', partial: true });
  t.equal(textAt(partial, 'phase'), 'Committed', String(textAt(partial, 'message')));
  t.match(must(await client.get(path('configmaps/a'))), { data: { v: '1' } });
  must(await client.get(path('services/owner')));
  await takeBack(stage, 'partial');
  must(await client.delete(path('configmaps/owned')));
  const free = await rollBack(stage, 'free', { to: 'v1' });
  t.equal(textAt(free, 'phase'), 'Committed', String(textAt(free, 'message')));
  t.ok(await isGone(client, path('services/owner')));
});

t.test('a Namespace with an object of others stays, and goes when it is empty', async (t: Test) => {
  const stage = await startStage(t);
  const { client, namespace } = stage;
  const name = `${namespace}-made`;
  t.teardown(() => client.delete(`/api/v1/namespaces/${name}`));
  const inside = (kind: string, data: JsonObject): JsonObject => ({
    type: 'Apply',
    content: { apiVersion: 'v1', kind, metadata: { name: 'own', namespace: name }, ...data },
  });
  const made = { type: 'Apply', content: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } } };
  await release(stage, 'v1', [config('a', { v: '1' })]);
  await release(stage, 'v2', [made, inside('ConfigMap', { data: { v: '2' } })]);
  must(await client.create(`/api/v1/namespaces/${name}/secrets`, { metadata: { name: 'theirs' }, stringData: { k: 'v' } }));
  const refused = await rollBack(stage, 'refused', { to: 'v1' });
  t.equal(textAt(refused, 'phase'), 'Failed');
  t.match(textAt(refused, 'message') ?? '', /Namespace \S+-made.*Secret theirs/);
  t.match(must(await client.get(`/api/v1/namespaces/${name}/configmaps/own`)), { data: { v: '2' } });
  must(await client.delete(`/api/v1/namespaces/${name}/secrets/theirs`));
  const status = await rollBack(stage, 'back', { to: 'v1' });
  t.equal(textAt(status, 'phase'), 'Committed', String(textAt(status, 'message')));
  await waitFor(() => isGone(client, `/api/v1/namespaces/${name}`), 'the Namespace to go');
});
