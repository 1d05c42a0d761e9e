// Points of the checklist that only a real API server and a real registry show, each by its number. The test makes the calls.
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { post } from '../support/hook-process.ts';
import { createDriver } from '../support/package-driver.ts';
import { definitionPath, kinds, lockPath, packagePath, ptxPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';
import { passOn } from '../support/registry/proxy.ts';
import { comparable } from '../support/stage.ts';

t.setTimeout(600_000);

const world = await startPackageWorld(t, { isByHand: true });
const { client, source, proxy } = world;
const driver = createDriver(t, world);
const revisionOf = (name: string, digest: string): string => `${name}-${digest.slice('sha256:'.length, 'sha256:'.length + 12)}`;

/** All packages, revisions and CRDs, and the packages of the Lock. */
async function everything(): Promise<readonly string[]> {
  const paths = [definitionPath(), ...kinds.map((plural) => packagePath(plural))];
  const lists = await Promise.all(paths.map(async (path) => (await client.list(path)).items));
  const lock = await client.get(lockPath);
  return [...lists.flat().map((object) => JSON.stringify(comparable(object))), JSON.stringify(at(lock.body, 'packages'))];
}

async function install(name: string, tag = 'v1.0.0', retryLimit = 1): Promise<JsonObject> {
  await world.install(name, `${source(name)}:${tag}`, { packageName: name, retryLimit });
  return driver.drive(name);
}

/** Refused with this reason and message, and nothing is created or changed. */
async function refused(t: Test, name: string, { reason, message }: { reason: string; message: RegExp }): Promise<void> {
  const before = await everything();
  t.match(conditionIn(await install(name), 'Validated'), { status: 'False', reason, message });
  t.same(await everything(), before);
}

t.test('6: a registry that is down: two tries, and none in later calls', async (t) => {
  await world.publish({ name: 'down', tag: 'v1.0.0' });
  proxy.act(({ url = '' }, answer) => {
    if (!url.includes('/acme/down/')) return false;
    answer.destroy();
    return true;
  });
  t.equal(at(await install('down', 'v1.0.0', 2), 'failures'), 2);
  const requests = (): number => proxy.seen.filter(({ path }) => path.includes('/acme/down/')).length;
  const before = requests();
  proxy.act(passOn);
  for (const _ of [1, 2, 3]) t.equal(at(statusOf(await driver.step('down')), 'failures'), 2);
  t.ok(before >= 2);
  t.equal(requests(), before, 'the registry is not asked again, though it is there now');
});

t.test('12: VersionConflict: an installed package requires an older one', async (t) => {
  for (const tag of ['v1.0.0', 'v2.0.0'])
    await world.publish({ name: 'shared', tag, objects: [definitionOf('ones', 'shared.org')] });
  await world.publish({ name: 'older', tag: 'v1.0.0', requires: { shared: '<v2.0.0' } });
  await world.publish({ name: 'newer', tag: 'v1.0.0', requires: { shared: '>=v2.0.0' } });
  t.match(conditionIn(await install('older'), 'Ready'), { status: 'True' });
  await refused(t, 'newer', {
    reason: 'VersionConflict',
    message: /shared satisfies every package: newer requires >=v2\.0\.0, older requires <v2\.0\.0/,
  });
});

t.test('a reference with a tag and a digest has both in the Lock, and its tag satisfies ranges', async (t) => {
  const digest = await world.publish({ name: 'pinned', tag: 'v1.2.0' });
  await world.publish({ name: 'ranges', tag: 'v1.0.0', requires: { pinned: '>=v1.1.0' } });
  for (const [name, tag] of [
    ['pinned', `v1.2.0@${digest}`],
    ['ranges', 'v1.0.0'],
  ] as const)
    t.match(conditionIn(await install(name, tag), 'Ready'), { status: 'True' });
  const packages = at(must(await client.get(lockPath)), 'packages') as readonly JsonObject[];
  const pinned = packages.filter((one) => one.source === source('pinned'));
  t.match(pinned, [{ name: revisionOf('pinned', digest), version: `v1.2.0@${digest}` }], 'it stays');
});

t.test('13: CircularDependency: the message shows the path', async (t) => {
  await world.publish({ name: 'round', tag: 'v1.0.0', requires: { about: '>=v1.0.0' } });
  await world.publish({ name: 'about', tag: 'v1.0.0', requires: { round: '>=v1.0.0' } });
  await refused(t, 'round', { reason: 'CircularDependency', message: /round.*about.*round/ });
});

t.test('14: CRDConflict: two packages of one tree have one CRD', async (t) => {
  const objects = [definitionOf('ones', 'twice.org')];
  await world.publish({ name: 'left', tag: 'v1.0.0', objects });
  await world.publish({ name: 'right', tag: 'v1.0.0', requires: { left: '>=v1.0.0' }, objects });
  await refused(t, 'right', {
    reason: 'CRDConflict',
    message: /Multiple packages install incompatible versions of CRD ones\.twice\.org/,
  });
});

t.test(
  '14: a CRD moves to another package where its own leaves it out in the same tree; from one that stays it does not',
  async (t) => {
    const [ones, twos] = [definitionOf('ones', 'split.org'), definitionOf('twos', 'split.org')];
    const whole = await world.publish({ name: 'whole', tag: 'v1.0.0', objects: [ones, twos] });
    t.match(conditionIn(await install('whole'), 'Ready'), { status: 'True' });
    const path = '/apis/split.org/v1beta1/ones';
    const mine = must(
      await client.create(path, { apiVersion: 'split.org/v1beta1', kind: 'One', metadata: { name: 'mine' }, spec: {} }),
    );
    const part = await world.publish({ name: 'part', tag: 'v1.0.0', objects: [ones] });
    await refused(t, 'part', {
      reason: 'CRDConflict',
      message: /^CRD ones\.split\.org is controlled by "ProviderRevision" "whole-\w+", which does not leave$/,
    });
    await world.publish({ name: 'whole', tag: 'v2.0.0', requires: { part: '>=v1.0.0' }, objects: [twos] });
    await world.install('split', `${source('whole')}:v2.0.0`, { packageName: 'whole', retryLimit: 1 });
    t.match(conditionIn(await driver.drive('split'), 'Ready'), { status: 'True' });
    const owners = at(
      must(await client.get(definitionPath('ones.split.org'))),
      'metadata',
      'ownerReferences',
    ) as readonly JsonObject[];
    t.same(
      owners.filter(({ controller }) => controller === true).map(({ name }) => name),
      [revisionOf('acme-part', part)],
    );
    t.match(await client.get(packagePath('providerrevisions', revisionOf('whole', whole))), {
      body: { spec: { desiredState: 'Inactive' } },
    });
    t.strictSame(must(await client.get(`${path}/mine`)), mine, 'its objects stay');
  },
);

t.test('19: twenty take the Lock at once, through two hooks: one has it in each round', async (t) => {
  await world.publish({ name: 'grab', tag: 'v1.0.0' });
  const names = Array.from({ length: 20 }, (_, index) => `grab-${index}`);
  for (const name of names) await world.install(name, `${source('grab')}:v1.0.0`, { packageName: 'grab' });
  const hooks = await Promise.all([world.startHook(), world.startHook()]);
  const phaseAfter = async (name: string, index: number): Promise<string | undefined> => {
    const body = { controller: {}, parent: await world.read(name), children: {}, related: {}, finalizing: false };
    const answer = await post(`${hooks[index % 2]?.url}/packages/sync`, body);
    return textAt((await answer.body.json()) as JsonObject, 'status', 'phase');
  };
  const winners = new Set<string>();
  for (let round = 0; round < 3; round += 1) {
    const phases = await Promise.all(names.map(phaseAfter));
    const found = names.filter((_, index) => phases[index] === 'Validating');
    t.equal(found.length, 1, `round ${round}: ${phases.join(' ')}`);
    const lock = must(await client.get(lockPath));
    t.same([textAt(lock, 'metadata', 'annotations', 'pkg.crossplane.io/current-transaction')], found);
    for (const name of found) {
      winners.add(name);
      names.splice(names.indexOf(name), 1);
      must(await client.delete(ptxPath(name)));
    }
    const annotations = { 'pkg.crossplane.io/current-transaction': null };
    must(await client.patch(lockPath, { metadata: { annotations } }));
  }
  t.equal(winners.size, 3);
  for (const name of names) must(await client.delete(ptxPath(name)));
  await Promise.all(hooks.map((hook) => hook.kill()));
});

t.test(
  '20: what waits again after a try that failed names the holder; deleted, it does not say that it was validated',
  async (t) => {
    await world.publish({ name: 'held', tag: 'v1.0.0' });
    await world.publish({ name: 'failing', tag: 'v1.0.0' });
    proxy.act(({ url = '' }, answer) => {
      if (!url.includes('/acme/failing/')) return false;
      answer.writeHead(500).end();
      return true;
    });
    await world.install('failing', `${source('failing')}:v1.0.0`, { packageName: 'failing' });
    for (let failures = 0; failures < 1; ) failures = Number(at(statusOf(await driver.step('failing')), 'failures') ?? 0);
    await world.install('held', `${source('held')}:v1.0.0`, { packageName: 'held' });
    for (let phase = ''; phase !== 'Preparing'; ) {
      await driver.step('failing');
      phase = textAt(statusOf(await driver.step('held')), 'phase') ?? '';
    }
    const waits = async (): Promise<boolean> =>
      conditionIn(statusOf(await driver.step('failing')), 'Validated')?.reason === 'WaitingForLock';
    await waitFor(waits, 'the time of the next try');
    const waiting = statusOf(await driver.step('failing'));
    t.match(conditionIn(waiting, 'Validated'), { message: 'Waiting for package transaction held, which holds the Lock' });
    t.match(conditionIn(waiting, 'Synced'), { status: 'True' });
    must(await client.patch(ptxPath('failing'), { metadata: { finalizers: ['example.org/kept'] } }));
    must(await client.delete(ptxPath('failing')));
    t.match(conditionIn(statusOf(await driver.step('failing')), 'Validated'), { status: 'Unknown', message: /^Not resolved/ });
    must(await client.patch(ptxPath('failing'), { metadata: { finalizers: null } }));
    proxy.act(passOn);
    t.match(conditionIn(await driver.drive('held'), 'Ready'), { status: 'True' });
  },
);

t.test('29: a tag that moves between validation and install changes nothing', async (t) => {
  const first = await world.publish({ name: 'moving', tag: 'v1.0.0', objects: [definitionOf('ones', 'moving.org')] });
  await world.install('moving', `${source('moving')}:v1.0.0`, { packageName: 'moving' });
  for (let phase = ''; phase !== 'Preparing'; ) phase = textAt(statusOf(await driver.step('moving')), 'phase') ?? '';
  const second = await world.publish({ name: 'moving', tag: 'v1.0.0', objects: [definitionOf('twos', 'moving.org')] });
  t.not(first, second);
  t.match(conditionIn(await driver.drive('moving'), 'Ready'), { status: 'True' });
  const revision = must(await client.get(packagePath('providerrevisions', revisionOf('moving', first))));
  t.equal(textAt(revision, 'spec', 'image'), `${source('moving')}@${first}`);
  t.equal((await client.get(definitionPath('ones.moving.org'))).code, 200);
  t.equal((await client.get(definitionPath('twos.moving.org'))).code, 404);
});

t.test('40: a retry installs the snapshot, whatever happened to the live package meanwhile', async (t) => {
  const metadata = { name: 'steady' };
  const asked = (tag: string): JsonObject => ({ package: `${source('steady')}:${tag}`, packagePullPolicy: 'IfNotPresent' });
  for (const tag of ['v1.0.0', 'v1.1.0']) await world.publish({ name: 'steady', tag });
  t.match(conditionIn(await install('steady'), 'Ready'), { status: 'True' });
  const snapshot = { apiVersion: 'pkg.crossplane.io/v1', kind: 'Provider', metadata, spec: asked('v1.1.0') };
  const spec = { change: 'Install', install: { package: snapshot }, retryLimit: 5 };
  const object = { apiVersion: 'pkg.crossplane.io/v1alpha1', kind: 'Transaction', metadata: { name: 'retried' }, spec };
  proxy.act(({ url = '' }, answer) => {
    if (!url.includes('/acme/steady/')) return false;
    answer.writeHead(500).end();
    return true;
  });
  must(await client.create(ptxPath(), object));
  for (let failures = 0; failures < 1; ) failures = Number(at(statusOf(await driver.step('retried')), 'failures') ?? 0);
  proxy.act(passOn);
  must(await client.patch(packagePath('providers', 'steady'), { spec: { packagePullPolicy: 'Always' } }));
  const status = await driver.drive('retried');
  t.match(conditionIn(status, 'Ready'), { status: 'True' });
  t.match(at(must(await client.get(packagePath('providers', 'steady'))), 'spec'), asked('v1.1.0'));
});
