// The example of the README (manifests/examples): three changes, all applied; then undone on request, to the last managed field.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { pathOf, readManifest } from '../../support/install.ts';
import { comparable, conditionOf, startStage } from '../../support/stage.ts';

const shown = ['ConfigMap', 'Deployment', 'Secret'];
const inNamespace = (namespace: string) => (text: string) => text.replaceAll(/(?<=name(space)?: )shop\b/g, namespace);
const imagesOf = (deployment: JsonObject) => at(deployment, 'spec', 'template', 'spec', 'containers') as readonly JsonObject[];

t.test('a Transaction commits, releases its locks and is undone on request', async (t) => {
  const stage = await startStage(t);
  const { client } = stage;
  for (const object of await readManifest('examples/shop.yaml', inNamespace(stage.namespace))) {
    if (!shown.includes(textAt(object, 'kind') ?? '')) continue;
    const collection = (await pathOf(client, object)).replace(/\/[^/]*$/, '');
    must(await client.create(collection, object, { fieldManager: 'kubectl-create' }));
  }
  const paths = ['configmaps/app-config', 'apps/v1/deployments/web-server', 'secrets/old-api-key'].map((suffix) =>
    stage.path(suffix),
  );
  const isRolledOut = async () =>
    textAt(must(await client.get(paths[1] ?? '')), 'metadata', 'annotations', 'deployment.kubernetes.io/revision');
  await waitFor(isRolledOut, 'the Deployment controller to have seen the Deployment');
  const before = await Promise.all(paths.map(async (path) => comparable(must(await client.get(path)), path.includes('secrets'))));
  const [example] = await readManifest('examples/deploy-v2.yaml');
  const spec = { fieldManager: textAt(example, 'spec', 'fieldManager') ?? '' };
  await stage.transaction('deploy-v2', at(example, 'spec', 'changes') as readonly JsonObject[], { spec });
  const status = await stage.finished('deploy-v2');
  t.match(status, { phase: 'Committed', progress: '3/3', message: 'all 3 changes are applied' });
  t.equal(conditionOf(status, 'Succeeded'), 'True');
  t.match(must(await client.get(paths[0] ?? '')), { data: { version: '2.0', greeting: 'Welcome' } });
  t.equal(textAt(imagesOf(must(await client.get(paths[1] ?? '')))[0], 'image'), 'nginx:1.29');
  t.equal((await client.get(paths[2] ?? '')).code, 404);
  t.same(await stage.leases(), []);

  await stage.annotate('deploy-v2', { 'tx.janus.io/request-rollback': '1' });
  await stage.phase('deploy-v2', 'RolledBack');
  const after = await Promise.all(paths.map(async (path) => comparable(must(await client.get(path)), path.includes('secrets'))));
  t.same(after, before);
  await stage.finished('deploy-v2');
  t.same(await stage.leases(), []);
});
