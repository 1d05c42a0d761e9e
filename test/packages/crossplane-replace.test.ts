// A Replace beside a real Crossplane: the former providers end before the new ones start, and each of the two families is healthy in turn.
import t from 'tap';
import { at, isList, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must } from '../support/client.ts';
import { runtimes, withCrossplane } from '../support/crossplane.ts';
import { revisionOf, startCrossplaneWorld } from '../support/crossplane-world.ts';
import { startPackageAdmission } from '../support/package-admission.ts';
import { definitionPath, packagePath } from '../support/package-paths.ts';
import { conditionIn } from '../support/package-world.ts';
import {
  controllerOfDefinition,
  createInstances,
  instancesPath,
  publishFamily,
  replace,
  startWriters,
  watchControllers,
} from '../support/replacing.ts';

t.setTimeout(1_800_000);

const group = 'cloud.example.org';
const plurals = { family: ['configs'], network: ['routes'], storage: ['buckets', 'disks'] } as const;
const all = Object.values(plurals).flat();
const managedPath = (plural: string): string =>
  `/apis/apiextensions.crossplane.io/v1alpha1/managedresourcedefinitions/${plural}.${group}`;

function controllersOf(object: JsonObject): readonly string[] {
  const owners = at(object, 'metadata', 'ownerReferences');
  return (isList(owners) ? owners : []).filter((one) => at(one, 'controller') === true).map((one) => textAt(one, 'name') ?? '');
}

t.test('beside Crossplane', withCrossplane, async (t) => {
  const { world, lockEntries, packageNames, healthy } = await startCrossplaneWorld(t);
  const { client, source } = world;
  const digests = {
    one: await publishFamily(world, { vendor: 'one', group, plurals }),
    two: await publishFamily(world, { vendor: 'two', group, plurals }),
  };
  const namesOf = (vendor: 'one' | 'two') => ({
    family: `acme-${vendor}-family`,
    network: `acme-${vendor}-network`,
    storage: `${vendor}-storage`,
  });
  const revisionsOf = (vendor: 'one' | 'two') =>
    (['family', 'network', 'storage'] as const).map((one) => revisionOf(namesOf(vendor)[one], digests[vendor][one]));

  async function runs(vendor: 'one' | 'two'): Promise<void> {
    for (const name of revisionsOf(vendor)) await healthy(name);
    const deployments = (await runtimes(client)).map((one) => textAt(one, 'metadata', 'name'));
    t.same(deployments.toSorted(), revisionsOf(vendor).toSorted(), 'the Deployments of this family run, and no others');
    t.same(await packageNames(), Object.values(namesOf(vendor)).toSorted());
    t.match(await lockEntries(), [/ v1\.0\.0$/, / v1\.0\.0$/, / v1\.0\.0$/]);
    for (const plural of all) t.strictSame(await strangers(plural, revisionsOf(vendor)), [], plural);
  }

  /** Controllers of the CRD and of its ManagedResourceDefinition that are none of these revisions. */
  async function strangers(plural: string, revisions: readonly string[]): Promise<readonly string[]> {
    const managed = await client.get(managedPath(plural));
    const definition = must(await client.get(definitionPath(`${plural}.${group}`)));
    const found = [...controllersOf(definition), ...(managed.code === 200 ? controllersOf(managed.body) : [])];
    return found.length === 0 ? ['none'] : found.filter((one) => !revisions.includes(one));
  }

  const wish = (from: 'one' | 'two', to: 'one' | 'two') => ({
    from: source(`${from}/storage`),
    to: `${source(`${to}/storage`)}:v1.0.0`,
    packageName: `${to}-storage`,
  });

  await t.test('a family runs, and has instances', async (t) => {
    await world.install('one', `${source('one/storage')}:v1.0.0`, { packageName: 'one-storage' });
    t.equal(conditionIn(await world.finished('one'), 'Ready')?.status, 'True');
    await runs('one');
    await createInstances(client, group, all, 3);
  });

  const paths = all.flatMap((plural) => ['i-0', 'i-1'].map((name) => instancesPath(group, plural, name)));

  async function moved(name: string, from: 'one' | 'two', to: 'one' | 'two'): Promise<JsonObject> {
    const [writers, watch] = [await startWriters(client, paths), await watchControllers(world, group)];
    await replace(world, name, wish(from, to));
    const status = await world.finished(name);
    t.same(await writers.stop(), [], `${writers.acknowledged()} writes`);
    t.same(await watch.stop(), []);
    return status;
  }

  await t.test('a Replace: the former providers end, then the new ones start', async (t) => {
    const status = await moved('moved', 'one', 'two');
    t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
    t.ok(Number(at(status, 'gapSeconds')) >= 0, `no provider ran for ${at(status, 'gapSeconds')} s`);
    t.comment(conditionIn(status, 'Installed')?.message);
    await runs('two');
    t.match(await controllerOfDefinition(client, `buckets.${group}`), /^two-storage-/);
  });

  const admission = await startPackageAdmission(client, t);

  await t.test('a Replace that fails before the former providers end leaves them as they are', async (t) => {
    const before = (await runtimes(client)).map((one) => textAt(one, 'metadata', 'uid'));
    admission.decide(({ name, dryRun, object, resource }) =>
      !dryRun &&
      resource === 'providerrevisions' &&
      name.startsWith('one-storage-') &&
      textAt(object, 'spec', 'desiredState') === 'Active'
        ? { code: 403, message: 'not today' }
        : undefined,
    );
    const status = await moved('failing', 'two', 'one');
    admission.decide(() => undefined);
    t.match(conditionIn(status, 'Installed'), { status: 'False', message: /not today/ });
    await runs('two');
    t.same(
      (await runtimes(client)).map((one) => textAt(one, 'metadata', 'uid')),
      before,
    );
  });

  await t.test('a Replace whose new revisions Crossplane cannot get fails, and names what it leaves', async (t) => {
    // The write that unpauses a new revision.
    admission.decide(({ name, dryRun, object, resource }) =>
      !dryRun &&
      resource === 'providerrevisions' &&
      name.startsWith('one-storage-') &&
      textAt(object, 'spec', 'desiredState') === 'Active' &&
      at(object, 'metadata', 'annotations', 'crossplane.io/paused') === undefined
        ? { code: 403, message: 'not today' }
        : undefined,
    );
    const status = await moved('unhealthy', 'two', 'one');
    admission.decide(() => undefined);
    t.match(conditionIn(status, 'Installed'), { status: 'False', message: /not today/ });
  });

  await t.test('another Replace goes on from what is left', async (t) => {
    const status = await moved('back', 'two', 'one');
    t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
    await runs('one');
    t.equal((await client.get(packagePath('providers', 'two-storage'))).code, 404);
  });
});
