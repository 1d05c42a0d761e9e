// A Replace beside a real Crossplane: the former providers end before the new ones start, and each of the two families is healthy in turn.
import t from 'tap';
import { at, isList, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { authorityIn, convertedThings, reachable, startConversion, thingsOf } from '../support/conversion.ts';
import { crossplaneNamespace, runtimes, withCrossplane } from '../support/crossplane.ts';
import { revisionOf, startCrossplaneWorld } from '../support/crossplane-world.ts';
import { startPackageAdmission } from '../support/package-admission.ts';
import { definitionPath, packagePath } from '../support/package-paths.ts';
import { conditionIn } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';
import {
  controllerOfDefinition,
  createInstances,
  instancesPath,
  publishFamily,
  replace,
  startWriters,
  watchControllers,
} from '../support/replacing.ts';
import { watchRollouts } from '../support/rollouts.ts';

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
  const { world, lockEntries, packageNames, healthy } = await startCrossplaneWorld(t, {
    apiServerFlags: ['--enable-aggregator-routing=true'],
  });
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
    const rollouts = await watchRollouts(world);
    const status = await moved('moved', 'one', 'two');
    const seen = await rollouts.stop();
    t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
    const [former, next] = [seen.of(revisionsOf('one')), seen.of(revisionsOf('two'))];
    const lastEnd = Math.max(...former.map(({ ended }) => ended));
    for (const [index, { active, begun, begunAt, created, available }] of next.entries()) {
      const deleted = former[index]?.deleted ?? Number.NaN;
      const [missing, ending, rollout] = [created - deleted, Math.max(0, lastEnd - deleted), available - active];
      t.ok(missing <= ending + rollout, `missing for ${missing} ms, its Pods took ${ending} ms, its rollout ${rollout} ms`);
      t.ok(
        former.every(({ endedAt }) => endedAt < begunAt),
        'no Pod of the former providers ran when Crossplane got the new revision',
      );
      t.ok(begun - lastEnd < available - begun, `the hook took ${begun - lastEnd} ms, Crossplane ${available - begun} ms`);
    }
    // The status has whole seconds. The hook begins to count before the first deletion, and ends once the new revisions are healthy.
    const gap = Number(at(status, 'gapSeconds')) * 1_000;
    const least = Math.max(...next.map(({ created }) => created)) - Math.min(...former.map(({ deleted }) => deleted));
    t.ok(gap > least - 1_000, `gapSeconds ${gap} ms, the watch saw no Deployment for ${least} ms`);
    t.ok(
      gap < seen.measured - seen.verifying + 1_000,
      `gapSeconds ${gap} ms in ${seen.measured - seen.verifying} ms of Verifying`,
    );
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

  await t.test('another Replace goes on from the objects that are left', async (t) => {
    const status = await moved('back', 'two', 'one');
    t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
    await runs('one');
    t.equal((await client.get(packagePath('providers', 'two-storage'))).code, 404);
  });

  const skip = reachable === undefined && 'this machine has no address that an EndpointSlice may name';
  await t.test('conversion webhooks', { skip }, async (t) => {
    const converted = 'converted.example.org';
    const path = definitionPath(`things.${converted}`);
    const things = thingsOf(client, converted);
    const serve = async (name: string) => {
      const secretPath = `/api/v1/namespaces/${crossplaneNamespace}/secrets/${name}-tls-server`;
      const isMade = async (): Promise<JsonObject> => {
        const secret = must(await client.get(secretPath));
        if (textAt(secret, 'data', 'tls.key') !== undefined) return secret;
        throw new Error(JSON.stringify(secret));
      };
      const secret = await waitFor(isMade, `the Secret of ${name}`, { timeoutMs: 300_000 });
      return startConversion(t, client, secret, { namespace: crossplaneNamespace, service: name });
    };
    const areConverted = async (): Promise<void> => {
      await things.converts('of-v1', { uno: 'a' }, { one: 'a' });
      await things.converts('of-v2', { uno: 'b' }, { one: 'b' });
    };
    const uids = async (): Promise<readonly unknown[]> =>
      (await client.list(things.path('v1'))).items.map((item) => textAt(item, 'metadata', 'uid'));
    const wish = { from: source('one/things'), to: `${source('two/things')}:v1.0.0`, packageName: 'two-things' };
    const objects = [convertedThings(converted), definitionOf('others', converted)];
    await world.publish({ name: 'one/things', tag: 'v1.0.0', objects });
    const digest = await world.publish({ name: 'two/things', tag: 'v1.0.0', objects });
    await world.install('things', `${source('one/things')}:v1.0.0`, { packageName: 'one-things' });
    const status = await world.finished('things');
    t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
    const old = await serve('one-things');
    await things.create('v1', 'of-v1', { one: 'a' });
    await things.create('v2', 'of-v2', { uno: 'b' });
    await areConverted();
    const before = await uids();

    await t.test('a Replace that fails at the second CRD puts back the webhook of the first one', async (t) => {
      const stanza = async (): Promise<unknown> => at(must(await client.get(path)), 'spec', 'conversion');
      const kept = await stanza();
      t.type(authorityIn(must(await client.get(path))), 'string');
      const written: string[] = [];
      admission.decide(({ name, dryRun }) => {
        if (dryRun) return undefined;
        written.push(name);
        return name === `others.${converted}` ? { code: 403, message: 'not today' } : undefined;
      });
      await replace(world, 'unconverted', wish);
      const status = await world.finished('unconverted');
      admission.decide(() => undefined);
      t.match(conditionIn(status, 'Installed'), { status: 'False', message: /not today/ });
      t.ok(written.filter((name) => name === `things.${converted}`).length > 1, 'written, and put back');
      t.strictSame(await stanza(), kept);
      t.match(await controllerOfDefinition(client, `things.${converted}`), /^one-things-/);
      t.same(await uids(), before);
      await areConverted();
    });

    await t.test('after a Replace the webhook of the new package converts the instances', async (t) => {
      await replace(world, 'converted', wish);
      const next = await serve('two-things');
      const status = await world.finished('converted');
      t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
      await healthy(revisionOf('two-things', digest));
      await old.stop();
      const definition = must(await client.get(path));
      t.equal(textAt(definition, 'spec', 'conversion', 'webhook', 'clientConfig', 'service', 'name'), 'two-things');
      t.match(await controllerOfDefinition(client, `things.${converted}`), /^two-things-/);
      const answered = next.answered();
      await areConverted();
      t.ok(next.answered() > answered, 'the new server has answered');
      t.same(await uids(), before);
    });
  });
});
