// Packages that make their own package transactions beside Crossplane, as far as its controllers need not run: a Package is paused from
// its creation on, and stays paused; only its revisions are handed over.
import t from 'tap';
import { type JsonObject, listAt, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { createDeployment } from '../support/crossplane.ts';
import { applyObject, readManifest } from '../support/install.ts';
import { ownFinalizer, startOwnLoops } from '../support/package-loops.ts';
import { definitionPath, lockPath, packagePath, ptxPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';

t.setTimeout(900_000);

const paused = 'crossplane.io/paused';
/** Without the condition that names the annotation, as manifests/packages/own/all makes it. */
const [policy = {}, binding = {}] = await readManifest('packages/own/beside/admission-paused.yaml');
const spec = policy.spec as JsonObject;
const policyOfAll: JsonObject = { ...policy, spec: { ...spec, matchConditions: listAt(spec, 'matchConditions').slice(1) } };

const world = await startPackageWorld(t, {
  environment: { JANUS_PACKAGES_CROSSPLANE: 'beside', JANUS_PACKAGES_OWN: 'all' },
  before: async (client) => {
    await createDeployment(client, '2.3.4');
    // On an older API server the hook does not start, and the policy is refused here.
    for (const object of [policyOfAll, binding]) must(await applyObject(client, object));
  },
});
const { client, source, plane } = world;
const hookUrls = [world.hook.url, (await world.startHook()).url];
await startOwnLoops(t, { kubeconfig: plane.kubeconfig, hookUrls, annotations: {} });
const path = packagePath('providers', 'own');
const read = async (): Promise<JsonObject> => must(await client.get(path));
const isPaused = (object: JsonObject): boolean => textAt(object, 'metadata', 'annotations', paused) === 'true';
const object = (tag: string): JsonObject => ({
  ...{ apiVersion: 'pkg.crossplane.io/v1', kind: 'Provider', metadata: { name: 'own' } },
  spec: { package: `${source('own')}:${tag}` },
});

async function installed(tag: string): Promise<JsonObject> {
  return waitFor(
    async () => {
      const found = await read();
      const isDone =
        textAt(statusOf(found), 'currentIdentifier')?.endsWith(tag) &&
        conditionIn(statusOf(found), 'Installed')?.status === 'True';
      if (isDone) return found;
      throw new Error(JSON.stringify([statusOf(found), ...(await client.list(ptxPath())).items.map(statusOf)]));
    },
    `version ${tag} to be installed`,
    { timeoutMs: 300_000 },
  );
}

for (const tag of ['v1.0.0', 'v1.1.0'])
  await world.publish({ name: 'own', tag, objects: [definitionOf('ones', 'beside.example.org')] });

t.test('a Package is paused when it is created, is installed, and stays paused; its revision is not', async (t) => {
  await waitFor(
    async () => isPaused(must(await client.create(packagePath('providers'), object('v1.0.0'), { dryRun: 'All' }))),
    'the policy',
  );
  t.ok(isPaused(must(await client.create(packagePath('providers'), object('v1.0.0')))));
  const found = await installed('v1.0.0');
  t.ok(isPaused(found));
  t.ok(listAt(found, 'metadata', 'finalizers').includes(ownFinalizer));
  const [revision = {}] = (await client.list(packagePath('providerrevisions'))).items;
  t.equal(textAt(revision, 'metadata', 'annotations', paused), undefined);
  t.equal(textAt(revision, 'spec', 'desiredState'), 'Active');
  t.match(must(await client.get(lockPath)), { packages: [{ version: 'v1.0.0' }] }, 'Crossplane can read the Lock');
});

t.test('whoever unpauses it, it is paused; an update goes on', async (t) => {
  const unpaused = must(await client.patch(path, { metadata: { annotations: { [paused]: null } } }));
  t.ok(isPaused(unpaused));
  must(await client.patch(path, { spec: { package: `${source('own')}:v1.1.0` } }));
  t.ok(isPaused(await installed('v1.1.0')));
});

t.test('kubectl delete: the Package goes with its objects', async (t) => {
  must(await client.delete(path));
  await waitFor(async () => (await client.get(path)).code === 404, 'the Package to go', { timeoutMs: 300_000 });
  t.equal((await client.get(definitionPath('ones.beside.example.org'))).code, 404);
  await waitFor(async () => listAt(must(await client.get(lockPath)), 'packages').length === 0, 'its entry to go');
});
