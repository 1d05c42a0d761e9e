// The example of the README: three changes, all applied; then undone on request, to the last managed field.
import t from 'tap';
import { textAt } from '../../../hooks/model/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { comparable, conditionOf, startStage } from '../../support/stage.ts';

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web-server' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'example.org/web:1', env: [{ name: 'MODE', value: 'blue' }] }] },
    },
  },
};

t.test('a Transaction commits, releases its locks and is undone on request', async (t) => {
  const stage = await startStage(t);
  const { client } = stage;
  must(
    await client.create(
      stage.path('configmaps'),
      { metadata: { name: 'app-config' }, data: { version: '1', keep: 'yes' } },
      { fieldManager: 'kubectl-create' },
    ),
  );
  must(await client.create(stage.path('apps/v1/deployments'), deployment, { fieldManager: 'kubectl-create' }));
  must(
    await client.create(
      stage.path('secrets'),
      { metadata: { name: 'old-api-key' }, stringData: { key: 'hush' } },
      { fieldManager: 'kubectl-create' },
    ),
  );
  const paths = ['configmaps/app-config', 'apps/v1/deployments/web-server', 'secrets/old-api-key'].map((suffix) =>
    stage.path(suffix),
  );
  const isRolledOut = async () =>
    textAt(must(await client.get(paths[1] ?? '')), 'metadata', 'annotations', 'deployment.kubernetes.io/revision');
  await waitFor(isRolledOut, 'the Deployment controller to have seen the Deployment');
  const before = await Promise.all(paths.map(async (path) => comparable(must(await client.get(path)), path.includes('secrets'))));
  await stage.transaction('deploy-v2', [
    { type: 'Patch', target: { apiVersion: 'v1', kind: 'ConfigMap', name: 'app-config' }, content: { data: { version: '2' } } },
    {
      type: 'Patch',
      target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web-server' },
      content: { spec: { template: { spec: { containers: [{ name: 'web', image: 'example.org/web:2' }] } } } },
    },
    { type: 'Delete', target: { apiVersion: 'v1', kind: 'Secret', name: 'old-api-key' } },
  ]);
  const status = await stage.finished('deploy-v2');
  t.match(status, { phase: 'Committed', progress: '3/3', message: 'all 3 changes are applied' });
  t.equal(conditionOf(status, 'Succeeded'), 'True');
  t.match(must(await client.get(paths[0] ?? '')), { data: { version: '2', keep: 'yes' } });
  t.equal((await client.get(paths[2] ?? '')).code, 404);
  t.same(await stage.leases(), []);

  await stage.annotate('deploy-v2', { 'tx.janus.io/request-rollback': '1' });
  await stage.phase('deploy-v2', 'RolledBack');
  const after = await Promise.all(paths.map(async (path) => comparable(must(await client.get(path)), path.includes('secrets'))));
  t.same(after, before);
  await stage.finished('deploy-v2');
  t.same(await stage.leases(), []);
});
