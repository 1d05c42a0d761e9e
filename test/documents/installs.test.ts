// The commands that install the engine, replace its token, inspect it and remove it, typed in a cluster without nodes: no Pod runs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { at } from '../../hooks/objects/json.ts';
import { makeAssets } from '../../scripts/release/assets.ts';
import { startControlPlane } from '../controlplane/start.ts';
import { openKustomize } from '../packaging/kustomize.ts';
import { connect, must } from '../support/client.ts';
import { type } from '../support/kubectl.ts';
import { root } from '../support/pages.ts';
import { openPages } from '../support/typing.ts';

const pages = openPages('test/documents/installs.test.ts');
const plane = await startControlPlane({ report: () => undefined });
t.teardown(() => plane.stop());
const client = connect(plane.kubeconfig);
t.teardown(() => client.close());

const link = (path: string) => t.fixture('symlink', join(root, path));
const folder = t.testdir({ manifests: link('manifests'), examples: link('examples') });
const place = { folder, env: { KUBECONFIG: plane.kubeconfig } };
const assets = await makeAssets({
  version: '0.0.1',
  changelog: '## [0.0.1]\n\n- One.\n',
  render: await openKustomize(t),
  commandLine: new Map(),
});
writeFileSync(join(folder, 'install-with-metacontroller.yaml'), assets.get('install-with-metacontroller.yaml') ?? '');

async function prepare(commands: string): Promise<void> {
  const { code, output } = await type(commands, folder, place.env);
  if (code !== 0) throw new Error(`${commands}: exit code ${code}:\n${output}`);
}

const controller = '/apis/metacontroller.k8s.io/v1alpha1/compositecontrollers/janus';
const token = async () => at(must(await client.get('/api/v1/namespaces/janus-system/secrets/janus-hook-token')), 'data');

t.test('docs/releasing.md: the manifest of a release with Metacontroller, applied twice', async (t) => {
  const [once = ''] = await pages.type(t, place, 'docs/releasing.md');
  t.match(once, /^error: .*no matches for kind "CompositeController"/m);
  t.equal((await client.get(controller)).code, 200);
});

t.test('docs/access.md: the token is created, and replaced', async (t) => {
  await prepare('kubectl -n janus-system delete secret janus-hook-token');
  const [create, replace] = pages.take('docs/access.md');
  if (create === undefined || replace === undefined) throw new Error('expected two blocks in docs/access.md');
  await pages.typeOne(t, create, place);
  const before = await token();
  await pages.typeOne(t, replace, place);
  t.match(await token(), { previous: at(before ?? {}, 'current') });
  t.not(at((await token()) ?? {}, 'current'), at(before ?? {}, 'current'));
});

t.test('docs/runbooks.md: the engine and Metacontroller are inspected', async (t) => {
  const type = async (section: string): Promise<string> => (await pages.type(t, place, 'docs/runbooks.md', section)).join('\n');
  t.match(await type('JanusHookDown'), /^Name: +janus$/m);
  t.match(await type('JanusNotCalled'), /^ {2}name: janus$/m);
  t.equal(await type('JanusFiguresMissing'), 'yes\nyes\n');
  await type('JanusHookErrors');
});

t.test('docs/upgrade.md: removed by hand, removed, installed, with packages and without', async (t) => {
  const [remove, byHand, packages] = pages.take('docs/upgrade.md', 'Uninstall');
  if (remove === undefined || byHand === undefined || packages === undefined)
    throw new Error('expected three blocks in the section Uninstall');
  await prepare(`kubectl create ns shop && kubectl apply -f manifests/examples/deploy-v2.yaml
    kubectl -n shop patch tx deploy-v2 --type=merge -p '{"metadata":{"finalizers":["example.org/kept"]}}'
    kubectl -n shop delete tx deploy-v2 --wait=false && kubectl -n shop get tx deploy-v2`);
  await pages.typeOne(t, byHand, place);
  t.match(await type('kubectl -n shop get tx', folder, place.env), { code: 0, output: 'No resources found' });
  await pages.typeOne(t, remove, place);
  t.equal((await client.get('/api/v1/namespaces/janus-system')).code, 404);
  await pages.type(t, place, 'docs/upgrade.md', 'Install');
  t.equal((await client.get('/apis/apps/v1/namespaces/janus-system/deployments/janus')).code, 200);
  await prepare('kubectl create ns team-a && kubectl create ns team-b');
  await pages.type(t, place, 'docs/upgrade.md', 'For listed namespaces');
  await prepare('kubectl apply -k examples/packages');
  await pages.typeOne(t, packages, place);
  t.equal((await client.get(`${controller}-packages`)).code, 404);
  const kinds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/providers.pkg.crossplane.io';
  t.equal((await client.get(kinds)).code, 200, 'the kinds of packages stay');
});

t.test('no command of these pages is left out', async (t) => {
  t.same(pages.left(), []);
});
