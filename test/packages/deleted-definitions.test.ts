// CRDs that somebody deletes, without Crossplane: a Package that makes its own package transactions installs them again, and the status of any
// other Package names them. The test looks as each replica does once a minute. At the end, the hook's own look is awaited.
import t from 'tap';
import { createDefinitionCheck, type DefinitionCheck } from '../../hooks/crossplane/definitions.ts';
import { optedIn, packageUidLabel } from '../../hooks/crossplane/model/own.ts';
import { at, type JsonObject, listAt, textAt } from '../../hooks/objects/json.ts';
import { gzip } from '../../server/gzip.ts';
import { createCluster } from '../../server/kubernetes/cluster.ts';
import { must, waitFor } from '../support/client.ts';
import { hookToken } from '../support/hook-token.ts';
import { connectionOf } from '../support/kubeconfig.ts';
import { startMetacontroller } from '../support/metacontroller/double.ts';
import { startOwnLoops } from '../support/package-loops.ts';
import { definitionPath, lockPath, packagePath, ptxPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';

t.setTimeout(1_800_000);

const world = await startPackageWorld(t, { environment: { JANUS_PACKAGES_OWN: 'annotated' } });
const { client, source } = world;
await startOwnLoops(t, { kubeconfig: world.plane.kubeconfig, hookUrls: [world.hook.url] });
const cluster = createCluster(connectionOf(world.engineKubeconfig), { writeTimeout: 10_000 });
t.teardown(() => cluster.close());

/** The paths of lists since the last look. */
let lists: string[] = [];
const counted = {
  ...cluster,
  listMetadata: async (...args: Parameters<typeof cluster.listMetadata>) => {
    lists.push(args[0].plural);
    return cluster.listMetadata(...args);
  },
};
const check = createDefinitionCheck({ cluster: counted, gzip, namespace: 'janus-packages' });
const look: DefinitionCheck = async () => {
  lists = [];
  return check();
};

const group = 'gone.example.org';
await world.publish({ name: 'own', tag: 'v1.0.0', objects: ['ones', 'twos'].map((one) => definitionOf(one, group)) });
await world.publish({ name: 'hand', tag: 'v1.0.0', objects: [definitionOf('threes', group), definitionOf('fours', group)] });

const isThere = async (plural: string): Promise<boolean> => (await client.get(definitionPath(`${plural}.${group}`))).code === 200;
const provider = async (name: string): Promise<JsonObject> => must(await client.get(packagePath('providers', name)));
const installedIn = (pkg: JsonObject) => conditionIn(statusOf(pkg), 'Installed');

async function until(name: string, wanted: string): Promise<JsonObject> {
  return waitFor(
    async () => {
      const found = await provider(name);
      const installed = installedIn(found);
      if (`${installed?.status}/${installed?.reason}` === wanted) return found;
      throw new Error(JSON.stringify(statusOf(found)));
    },
    `${name} to be ${wanted}`,
    { timeoutMs: 300_000 },
  );
}

async function remove(...plurals: readonly string[]): Promise<void> {
  for (const plural of plurals) must(await client.delete(definitionPath(`${plural}.${group}`)));
  await waitFor(async () => !(await Promise.all(plurals.map(isThere))).includes(true), `${plurals} to be gone`);
}

async function made(pkg: JsonObject): Promise<readonly JsonObject[]> {
  const labelSelector = `${packageUidLabel}=${textAt(pkg, 'metadata', 'uid')}`;
  return (await client.list(ptxPath(), { labelSelector })).items;
}

async function holdLock(holder: string | null): Promise<void> {
  must(await client.patch(lockPath, { metadata: { annotations: { 'pkg.crossplane.io/current-transaction': holder } } }));
}

t.test('a revision names its CRDs, and a look at whole packages takes one list', async (t) => {
  const metadata = { name: 'own', annotations: optedIn };
  const object = { apiVersion: 'pkg.crossplane.io/v1', kind: 'Provider', metadata, spec: { package: `${source('own')}:v1.0.0` } };
  must(await client.create(packagePath('providers'), object));
  await until('own', 'True/ActivePackageRevision');
  const [first] = (await client.list(packagePath('providerrevisions'))).items;
  t.match(listAt(first, 'status', 'objectRefs'), [
    { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: `ones.${group}`, uid: /./ },
    { kind: 'CustomResourceDefinition', name: `twos.${group}` },
  ]);
  t.same(await look(), []);
  t.same(await look(), []);
  t.same(lists, ['customresourcedefinitions']);
});

t.test('a Package that makes its own installs a deleted CRD again', async (t) => {
  const [before] = await made(await provider('own'));
  await remove('ones');
  t.match(await look(), [/^own-/]);
  t.same(lists.length, 4, 'the CRDs, and three kinds of revisions');
  await waitFor(() => isThere('ones'), 'the CRD to be there again', { timeoutMs: 300_000 });
  const pkg = await until('own', 'True/ActivePackageRevision');
  const [after, ...others] = await made(pkg);
  t.same(others, [], 'one package transaction');
  t.equal(textAt(after, 'metadata', 'name'), textAt(before, 'metadata', 'name'));
  t.not(textAt(after, 'metadata', 'uid'), textAt(before, 'metadata', 'uid'), 'it was made again');
  t.same(await look(), [], 'nothing is missing');
});

t.test('while the Lock is held, and while the Package is being deleted, nothing is made again', async (t) => {
  await remove('twos');
  await holdLock('somebody');
  t.same(await look(), [], 'the holder may be deleting the CRD');
  await holdLock(null);
  must(await client.patch(packagePath('providers', 'own'), { metadata: { finalizers: ['test.janus.io/kept'] } }));
  must(await client.delete(packagePath('providers', 'own')));
  await look();
  const isDeleted = async (): Promise<boolean> => (await client.list(packagePath('providerrevisions'))).items.length === 0;
  await waitFor(isDeleted, 'its Delete to end', { timeoutMs: 300_000 });
  t.same([await isThere('ones'), await isThere('twos')], [false, false]);
  must(await client.patch(packagePath('providers', 'own'), { metadata: { finalizers: [] } }));
  const isGone = async (): Promise<boolean> => (await client.get(packagePath('providers', 'own'))).code === 404;
  await waitFor(isGone, 'the Package to be gone', { timeoutMs: 120_000 });
});

t.test('the status of a Package installed by hand names the CRD, until it is there again', async (t) => {
  const status = await startMetacontroller({
    kubeconfig: world.plane.kubeconfig,
    hookUrl: `${world.hook.url}/packages/status`,
    name: 'janus-packages-status',
    token: hookToken,
    parentResource: { apiVersion: 'pkg.crossplane.io/v1', resource: 'providers' },
    customize: true,
    decorates: {},
  });
  t.teardown(() => status.stop());
  await world.install('hand', `${source('hand')}:v1.0.0`, { packageName: 'hand' });
  await world.finished('hand');
  await until('hand', 'True/ActivePackageRevision');
  await look();
  await remove('threes');
  t.match(await look(), [/^hand-/]);
  const found = await until('hand', 'False/DefinitionsMissing');
  t.equal(installedIn(found)?.message, `CustomResourceDefinition threes.${group} is gone: install the package again`);
  t.same(await look(), [], 'the condition says so already');
  await world.install('again', `${source('hand')}:v1.0.0`, { packageName: 'hand' });
  await world.finished('again');
  await until('hand', 'True/ActivePackageRevision');
  t.ok(await isThere('threes'));
});

t.test('the hook looks by itself, and a CRD that somebody else makes again is there', async () => {
  const live = must(await client.get(definitionPath(`fours.${group}`)));
  await remove('fours');
  await until('hand', 'False/DefinitionsMissing');
  const metadata = { name: `fours.${group}` };
  const again = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata,
    spec: at(live, 'spec') ?? {},
  };
  must(await client.create(definitionPath(), again));
  await until('hand', 'True/ActivePackageRevision');
});
