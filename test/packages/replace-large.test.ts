// A Replace of a large family: 60 CRDs with 500 instances, which somebody writes all the time. A process that serves it is killed in each
// phase.
import t from 'tap';
import { at, type JsonObject, objectsAt, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { lockPath, packagePath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf } from '../support/package-world.ts';
import {
  controllerOfDefinition,
  createInstances,
  instancesPath,
  pluralsOfEach,
  publishFamily,
  replace,
  startWriters,
  watchControllers,
} from '../support/replacing.ts';

t.setTimeout(1_800_000);

const group = 'large.example.org';
const plurals = pluralsOfEach(20);
const all = Object.values(plurals).flat();
const perKind = 25;

/** The times of a package transaction, in seconds. */
function secondsOf(status: JsonObject): number {
  const [start, end] = ['startTime', 'completionTime'].map((key) => Date.parse(textAt(status, key) ?? ''));
  return ((end ?? 0) - (start ?? 0)) / 1000;
}

t.test('60 CRDs and 500 instances move to another vendor, while two hooks are killed in each phase', async (t) => {
  const world = await startPackageWorld(t, { isBalanced: true });
  const { client, source } = world;
  for (const vendor of ['one', 'two']) await publishFamily(world, { vendor, group, plurals });
  await world.install('one', `${source('one/storage')}:v1.0.0`, { packageName: 'one-storage' });
  const installed = await world.finished('one');
  t.equal(conditionIn(installed, 'Ready')?.status, 'True', JSON.stringify(installed));
  const used = all.filter((_, index) => index % 3 === 0);
  await createInstances(client, group, used, perKind);
  const paths = used.flatMap((plural) =>
    Array.from({ length: perKind }, (_, number) => instancesPath(group, plural, `i-${number}`)),
  );
  t.equal(paths.length, 500);
  const [writers, watch] = [await startWriters(client, paths), await watchControllers(world, group)];
  const wish = (from: string, to: string) => ({
    from: source(`${from}/storage`),
    to: `${source(`${to}/storage`)}:v1.0.0`,
    packageName: `${to}-storage`,
  });
  await replace(world, 'moved', wish('one', 'two'));
  const moved = await world.finished('moved');
  t.equal(conditionIn(moved, 'Ready')?.status, 'True', JSON.stringify(moved));
  t.comment(`install ${secondsOf(installed)} s, Replace ${secondsOf(moved)} s, ${writers.acknowledged()} writes`);
  await replace(world, 'back', { ...wish('two', 'one'), retryLimit: 1 });
  for (const phase of ['Validating', 'Installing', 'Verifying', 'Deleting', 'Releasing']) {
    const isReached = async (): Promise<boolean> =>
      [phase, 'Succeeded'].includes(textAt(statusOf(await world.read('back')), 'phase') ?? '');
    await waitFor(isReached, `back to be ${phase}`, { everyMs: 5, timeoutMs: 300_000 });
    await world.replaceHooks();
  }
  const back = await world.finished('back');
  t.equal(conditionIn(back, 'Ready')?.status, 'True', JSON.stringify(back));
  t.same(await writers.stop(), []);
  t.same(await watch.stop(), []);
  const sources = objectsAt(must(await client.get(lockPath)), 'packages').map((one) => textAt(one, 'source') ?? '');
  t.same(
    sources.toSorted(),
    ['family', 'network', 'storage'].map((one) => source(`one/${one}`)),
  );
  t.equal((await client.list(packagePath('providerrevisions'))).items.length, 3);
  for (const plural of all) t.match(await controllerOfDefinition(client, `${plural}.${group}`), /one-/);
  t.equal(at(back, 'failures'), 0);
});
