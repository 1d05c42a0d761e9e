// Package transactions of the change Delete, on the real API server: a package goes with its objects only if nothing needs them, and
// from the first deletion on it only goes forward.
import t from 'tap';
import { at, type JsonObject, objectsAt, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { startPackageAdmission } from '../support/package-admission.ts';
import { definitionPath, lockPath, packagePath, ptxPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf, storyOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';

t.setTimeout(1_200_000);

const world = await startPackageWorld(t);
const { client, source } = world;
const group = 'gone.example.org';
const crd = (plural: string): string => `${plural}.${group}`;
await world.publish({ name: 'family', tag: 'v1.0.0', objects: [definitionOf('configs', group)] });
await world.publish({
  name: 'queue',
  tag: 'v1.0.0',
  requires: { family: '>=v1.0.0' },
  objects: [definitionOf('queues', group), definitionOf('topics', group)],
});

async function installed(name: string, package_: string, packageName: string): Promise<void> {
  await world.install(name, `${source(package_)}:v1.0.0`, { packageName });
  const status = await world.finished(name);
  t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
}

async function removing(name: string, spec: JsonObject, annotations: JsonObject = {}): Promise<JsonObject> {
  const object = { apiVersion: 'pkg.crossplane.io/v1alpha1', kind: 'Transaction', metadata: { name, annotations } };
  return must(await client.create(ptxPath(), { ...object, spec: { change: 'Delete', retryLimit: 1, ...spec } }));
}

async function removed(name: string, package_: string, annotations: JsonObject = {}): Promise<JsonObject> {
  await removing(name, { delete: { source: source(package_) } }, annotations);
  return world.finished(name);
}

const sources = async (): Promise<readonly string[]> =>
  (at(must(await client.get(lockPath)), 'packages') as readonly JsonObject[]).map((one) => textAt(one, 'source') ?? '').sort();

const codes = async (...paths: readonly string[]): Promise<readonly number[]> =>
  Promise.all(paths.map(async (path) => (await client.get(path)).code));

const revisions = async (): Promise<readonly JsonObject[]> => (await client.list(packagePath('providerrevisions'))).items;

const instance = (plural: string, name = ''): string => `/apis/${group}/v1beta1/${plural}${name === '' ? '' : `/${name}`}`;

t.test('4: the API server refuses a source with a tag or a digest, and members of another change', async (t) => {
  const install = { package: { apiVersion: 'pkg.crossplane.io/v1', kind: 'Provider', metadata: { name: 'a' }, spec: {} } };
  const bad: readonly (readonly [JsonObject, RegExp])[] = [
    [{ delete: { source: `${source('queue')}:v1.0.0` } }, /without tag or digest, such as registry\.example\.org\/acme\/name/],
    [{ delete: { source: `${source('queue')}@sha256:${'0'.repeat(64)}` } }, /without tag or digest/],
    [{}, /expected the member that change names/],
    [{ install, delete: { source: source('queue') } }, /expected the member that change names/],
    [{ change: 'Install', delete: { source: source('queue') } }, /expected the member that change names/],
    [{ change: 'Upgrade', delete: { source: source('queue') } }, /Unsupported value: ..Upgrade/],
  ];
  for (const [spec, message] of bad) {
    const object = { apiVersion: 'pkg.crossplane.io/v1alpha1', kind: 'Transaction', metadata: { name: 'bad' } };
    const answer = await client.create(ptxPath(), { ...object, spec: { change: 'Delete', ...spec } });
    t.equal(answer.code, 422, answer.text);
    t.match(answer.text, message);
  }
});

t.test('a Delete of a source that the Lock does not hold is final, and names the sources of the Lock', async (t) => {
  await installed('queue', 'queue', 'queue');
  await removing('unknown', { delete: { source: source('unknown') }, retryLimit: 5 });
  const status = await world.finished('unknown');
  t.match(conditionIn(status, 'Validated'), {
    status: 'False',
    reason: 'InvalidPackage',
    message: /the Lock holds .*acme\/queue/,
  });
});

t.test('45: a Delete is refused while other packages require the package, or instances exist', async (t) => {
  const required = await removed('family-required', 'family');
  t.match(conditionIn(required, 'Validated'), {
    status: 'False',
    reason: 'RequiredByOthers',
    message: /acme\/queue requires .*acme\/family >=v1.0.0: delete .*acme\/queue first/,
  });
  const object = { apiVersion: `${group}/v1beta1`, kind: 'Queue', metadata: { name: 'live' } };
  await waitFor(async () => (await client.create(instance('queues'), object)).code === 201, 'the instance to be created');
  const used = await removed('queue-used', 'queue');
  t.match(conditionIn(used, 'Validated'), {
    status: 'False',
    reason: 'ResourcesInUse',
    message: `CRD ${crd('queues')} has 1 instance, such as "live": delete them first`,
  });
  t.same(storyOf(used).slice(1), [
    'Installed Unknown/DeletionPending',
    'Ready False/ValidationFailed',
    'Synced True/ReconcileSuccess',
    'Finished True/TransactionFailed',
  ]);
  const states = (await revisions()).map((one) => textAt(one, 'spec', 'desiredState'));
  t.same(states, ['Active', 'Active'], 'nothing was made Inactive');
});

t.test('46: a Delete removes the package with its objects and its entry, and keeps its dependencies', async (t) => {
  must(await client.delete(instance('queues', 'live')));
  await waitFor(async () => (await client.get(instance('queues', 'live'))).code === 404, 'the instance to go');
  const status = await removed('queue-gone', 'queue');
  t.same(storyOf(status), [
    'Validated True/AllValidationsPassed',
    'Installed False/DeletionComplete',
    'Ready True/TransactionComplete',
    'Synced True/ReconcileSuccess',
    'Finished True/TransactionComplete',
  ]);
  t.match(conditionIn(status, 'Installed')?.message, /no package requires .*acme\/family any more/);
  t.same(
    await codes(definitionPath(crd('queues')), definitionPath(crd('topics')), packagePath('providers', 'queue')),
    [404, 404, 404],
  );
  t.same(await sources(), [source('family')]);
  t.equal((await client.get(definitionPath(crd('configs')))).code, 200);
});

t.test('an instance that appears before the first deletion undoes the try', async (t) => {
  await installed('again', 'queue', 'queue');
  const object = { apiVersion: `${group}/v1beta1`, kind: 'Topic', metadata: { name: 'late' } };
  // After a CRD is deleted and created again, the API server answers 503 for a moment.
  const tried = () => client.create(instance('topics'), object, { dryRun: 'All' });
  await waitFor(async () => (await tried()).code === 201, 'the API server to accept instances');
  await removing('late', { delete: { source: source('queue') } });
  await waitFor(
    async () => textAt(statusOf(await world.read('late')), 'phase') === 'Installing',
    'the revision to be made Inactive',
    { everyMs: 5 },
  );
  must(await client.create(instance('topics'), object));
  const status = await world.finished('late');
  t.match(at(status, 'outcome'), { kind: 'Failed', reason: 'ResourcesInUse' });
  const states = (await revisions()).map((one) => textAt(one, 'spec', 'desiredState'));
  t.same(states, ['Active', 'Active'], 'the revision is Active again');
  t.same(await codes(definitionPath(crd('queues')), definitionPath(crd('topics')), instance('topics', 'late')), [200, 200, 200]);
});

t.test('somebody deletes the revision: an instance still keeps the package, and without one its CRDs go', async (t) => {
  await world.publish({ name: 'bare', tag: 'v1.0.0', objects: [definitionOf('bares', group)] });
  await installed('bare', 'bare', 'bare');
  const object = { apiVersion: `${group}/v1beta1`, kind: 'Bare', metadata: { name: 'only' } };
  await waitFor(async () => (await client.create(instance('bares'), object)).code === 201, 'the API server to accept instances');
  const name = (await revisions()).map((one) => textAt(one, 'metadata', 'name') ?? '').find((one) => one.startsWith('bare-'));
  const paths = [definitionPath(crd('bares')), packagePath('providers', 'bare')];
  must(await client.delete(packagePath('providerrevisions', name)));
  const owners = async () => objectsAt(must(await client.get(paths[0] ?? '')), 'metadata', 'ownerReferences');
  await waitFor(
    async () => !(await owners()).some((one) => one.name === name),
    'the garbage collector to take the reference away',
  );
  const refused = await removed('bare-used', 'bare');
  t.match(at(refused, 'outcome'), { kind: 'Failed', reason: 'ResourcesInUse', message: /only/ });
  t.same(await codes(...paths, instance('bares', 'only')), [200, 200, 200]);
  must(await client.delete(instance('bares', 'only')));
  await waitFor(async () => (await client.get(instance('bares', 'only'))).code === 404, 'the instance to go');
  const status = await removed('bare-gone', 'bare');
  t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
  t.same(await codes(...paths), [404, 404]);
  t.notOk((await sources()).includes(source('bare')));
});

t.test('keep-crds keeps the CRDs and their instances, without owners', async (t) => {
  const status = await removed('kept', 'queue', { 'pkg.crossplane.io/keep-crds': 'true' });
  t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
  const kept = must(await client.get(definitionPath(crd('topics'))));
  t.equal(at(kept, 'metadata', 'ownerReferences'), undefined);
  t.equal(at(kept, 'metadata', 'labels', 'packages.janus.io/revision'), undefined);
  t.equal((await client.get(instance('topics', 'late'))).code, 200);
  t.equal((await client.get(packagePath('providers', 'queue'))).code, 404);
  t.same(await sources(), [source('family')]);
});

t.test('a CRD that cannot be deleted is named, and the next try goes on', async (t) => {
  await installed('third', 'queue', 'queue');
  must(await client.delete(instance('topics', 'late')));
  const finalizers = ['test.janus.io/kept'];
  const path = definitionPath(crd('topics'));
  const live = must(await client.get(path));
  const own = (at(live, 'metadata', 'finalizers') ?? []) as readonly string[];
  must(await client.patch(path, { metadata: { finalizers: [...own, ...finalizers] } }));
  await removing('slow', { delete: { source: source('queue') } });
  await waitFor(
    async () =>
      (await client.get(definitionPath(crd('queues')))).code === 404 && textAt(await world.read('slow'), 'status', 'phase'),
    'the other CRD to go',
  );
  t.equal(textAt(await world.read('slow'), 'status', 'phase'), 'Deleting');
  t.equal((await client.get(packagePath('providers', 'queue'))).code, 200, 'the package waits for its objects');
  must(await client.patch(path, { metadata: { finalizers: null } }));
  const status = await world.finished('slow');
  t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
  t.same(await codes(path, packagePath('providers', 'queue')), [404, 404]);
});

const admission = await startPackageAdmission(client, t);

/** Creates a Delete of queue that the API server does not let delete the object; waits until a try of the Delete has failed. */
async function failing(name: string, kept: string): Promise<void> {
  admission.decide((review) =>
    review.operation === 'DELETE' && review.name === kept ? { code: 403, message: 'not today' } : undefined,
  );
  await removing(name, { delete: { source: source('queue') }, retryLimit: 1_000 });
  await waitFor(async () => {
    const status = statusOf(await world.read(name));
    return conditionIn(status, 'Installed')?.reason === 'CleanupPending' && textAt(status, 'phase') === 'Waiting';
  }, 'a try to fail');
}

for (const [what, kept] of [
  ['a CRD', crd('topics')],
  ['the package', 'queue'],
] as const)
  t.test(`a package that is installed again while a Delete waits for its next try stays: ${what} was left`, async (t) => {
    const name = `kept-${kept.replaceAll('.', '-')}`;
    await installed(`before-${name}`, 'queue', 'queue');
    await failing(name, kept);
    await installed(`after-${name}`, 'queue', 'queue');
    admission.decide(() => undefined);
    const paths = [definitionPath(crd('queues')), definitionPath(crd('topics')), packagePath('providers', 'queue')];
    const uids = async () => Promise.all(paths.map(async (path) => textAt((await client.get(path)).body, 'metadata', 'uid')));
    const before = await uids();
    t.equal(before.filter((uid) => uid !== undefined).length, paths.length);
    const status = await world.finished(name);
    t.match(conditionIn(status, 'Ready'), {
      status: 'False',
      reason: 'CleanupPending',
      message: /^ProviderRevision queue-\w+: installed again since the first deletion, so nothing more is deleted/,
    });
    t.equal(conditionIn(status, 'Installed')?.reason, 'CleanupPending');
    t.same(await uids(), before);
    t.same(
      (await revisions()).map((one) => textAt(one, 'spec', 'desiredState')),
      ['Active', 'Active'],
    );
    t.same(await sources(), [source('family'), source('queue')]);
  });
