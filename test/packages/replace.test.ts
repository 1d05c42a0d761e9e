// Package transactions of the change Replace, on the real API server: a family of providers moves to another vendor in one step, while
// somebody writes the instances all the time. A failure before the first deletion leaves everything as it was.
import t, { type Test } from 'tap';
import { at, type JsonObject, objectsAt, textAt } from '../../hooks/objects/json.ts';
import { openCli } from '../support/cli.ts';
import { must, waitFor } from '../support/client.ts';
import { startPackageAdmission } from '../support/package-admission.ts';
import { definitionPath, kinds, lockPath, packagePath, ptxPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf, storyOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';
import {
  controllerOfDefinition,
  createInstances,
  instancesPath,
  publishFamily,
  replace,
  replaceOf,
  startWriters,
  watchControllers,
} from '../support/replacing.ts';
import { everyNth, inAllOnly } from '../support/selection.ts';
import { comparable } from '../support/stage.ts';
import { createUsage, definitionKind, serveUsages, usagesPath } from '../support/usages.ts';

t.setTimeout(1_800_000);

const world = await startPackageWorld(t);
const { client, source } = world;
const group = 'cloud.example.org';
const plurals = { family: ['configs'], network: ['routes'], storage: ['buckets', 'disks'] } as const;
const all = Object.values(plurals).flat();
const crd = (plural: string): string => `${plural}.${group}`;
await publishFamily(world, { vendor: 'one', group, plurals });
await publishFamily(world, { vendor: 'two', group, plurals });
const [old, next] = ['one', 'two'].map((vendor) => source(`${vendor}/storage`)) as [string, string];

const admission = await startPackageAdmission(client, t);

async function installed(
  name: string,
  package_: string,
  packageName: string,
  more: { readonly kind?: string } = {},
): Promise<void> {
  await world.install(name, `${source(package_)}:v1.0.0`, { packageName, ...more });
  const status = await world.finished(name);
  t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
}

/** All that a package transaction could change, without what changes from one to the next by itself. */
async function everything(): Promise<JsonObject> {
  const paths = [definitionPath(), ...kinds.map((plural) => packagePath(plural))];
  const lists = await Promise.all(paths.map(async (path) => (await client.list(path)).items));
  const objects = lists.flat().map((one) => comparable(one) as JsonObject);
  return { objects, packages: at(must(await client.get(lockPath)), 'packages') ?? [] };
}

const sources = async (): Promise<readonly string[]> =>
  objectsAt(must(await client.get(lockPath)), 'packages').map((one) => textAt(one, 'source') ?? '');

const revisionNames = async (): Promise<readonly string[]> =>
  (await client.list(packagePath('providerrevisions'))).items.map((one) => textAt(one, 'metadata', 'name') ?? '').sort();

const wish = (more: JsonObject = {}) => ({ from: old, to: `${next}:v1.0.0`, packageName: 'two-storage', ...more });

const paths = all.flatMap((plural) => Array.from({ length: 4 }, (_, number) => instancesPath(group, plural, `i-${number}`)));
const untouched = all.map((plural) => instancesPath(group, plural, 'i-4'));
const instances = async (): Promise<readonly JsonObject[]> =>
  Promise.all(untouched.map(async (path) => must(await client.get(path))));

t.test('a family is installed, and has instances', async () => {
  await installed('one', 'one/storage', 'one-storage');
  await createInstances(client, group, all, 5);
  // If the history deleted a package transaction, its objects would lose a reference to it.
  must(await client.patch(lockPath, { metadata: { annotations: { 'pkg.crossplane.io/transaction-history-limit': '0' } } }));
});

t.test('the API server refuses a source with a tag, and members of another change', async (t) => {
  const good = replaceOf('bad', wish());
  const member = at(good, 'spec', 'replace') as JsonObject;
  const bad: readonly (readonly [JsonObject, RegExp])[] = [
    [
      { replace: { ...member, source: `${old}:v1.0.0` } },
      /spec\.replace\.source: expected registry and repository, without tag or digest/,
    ],
    [{ replace: { source: old } }, /spec\.replace\.package: Required value/],
    [{ delete: { source: old } }, /expected the member that change names/],
    [{ change: 'Install' }, /expected the member that change names/],
    [
      { replace: { ...member, package: { ...(member.package as JsonObject), spec: { package: 'no-registry/x' } } } },
      /package\.spec\.package: expected/,
    ],
  ];
  for (const [changes, message] of bad) {
    const answer = await client.create(ptxPath(), { ...good, spec: { ...(at(good, 'spec') as JsonObject), ...changes } });
    t.equal(answer.code, 422, answer.text);
    t.match(answer.text, message);
  }
});

interface Row {
  readonly what: string;
  readonly prepare?: () => Promise<unknown>;
  readonly after?: () => Promise<unknown>;
  readonly wish: () => Parameters<typeof replaceOf>[1];
  readonly reason: string;
  readonly message: RegExp;
  readonly isFinal?: boolean;
}

const narrow = { type: 'object', properties: { count: { type: 'integer' } } };
const wide = { type: 'object', properties: { count: { type: 'integer' }, note: { type: 'string' } } };

const rows: readonly Row[] = [
  {
    what: 'by itself',
    wish: () => wish({ to: `${old}:v1.0.0` }) as never,
    reason: 'InvalidPackage',
    message: /expected a package of another source than \S+one\/storage: an Install updates/,
    isFinal: true,
  },
  {
    what: 'by one of its dependents',
    prepare: () => world.publish({ name: 'dependent', tag: 'v1.0.0', requires: { 'one/storage': '>=v1.0.0' } }),
    wish: () => wish({ to: `${source('dependent')}:v1.0.0`, packageName: 'dependent' }) as never,
    reason: 'NotEquivalent',
    message: /acme\/dependent requires \S+one\/storage, which it would replace/,
    isFinal: true,
  },
  {
    what: 'by another kind of package',
    prepare: () => world.publish({ kind: 'Configuration', name: 'two/platform', tag: 'v1.0.0' }),
    wish: () => wish({ to: `${source('two/platform')}:v1.0.0`, packageName: 'platform', kind: 'Configuration' }) as never,
    reason: 'NotEquivalent',
    message: /expected a Provider, as which \S+one\/storage is installed, found a Configuration/,
    isFinal: true,
  },
  {
    what: 'of a source that is not installed',
    wish: () => wish({ from: source('three/storage') }) as never,
    reason: 'InvalidPackage',
    message: /spec\.replace\.source: expected the source of an installed package, found .*three\/storage/,
    isFinal: true,
  },
  {
    what: 'of a dependency that a package outside needs',
    wish: () => wish({ from: source('one/family'), to: `${source('two/family')}:v1.0.0`, packageName: 'two-family' }) as never,
    reason: 'RequiredByOthers',
    message: /one\/network requires \S+one\/family >=v1\.0\.0: replace or delete .*; .*one\/storage requires \S+one\/family/,
  },
  {
    what: 'by a tree without a successor of one package',
    prepare: () => publishAlone('lone/storage', [...plurals.storage]),
    wish: () => wish({ to: `${source('lone/storage')}:v1.0.0`, packageName: 'lone' }) as never,
    reason: 'NotEquivalent',
    message:
      /Provider \S+one\/family: expected one package of the new tree in its place, with the name family, or that holds CustomResourceDefinition configs\.cloud\.example\.org, found none; the new tree is \S+lone\/storage/,
    isFinal: true,
  },
  {
    what: 'by a tree in which two packages hold the objects of one',
    prepare: async () => {
      await publishAlone('split/left', ['buckets']);
      await publishAlone('split/right', ['disks', 'routes', 'configs']);
      await world.publish({
        name: 'split/base',
        tag: 'v1.0.0',
        requires: { 'split/left': '>=v1.0.0', 'split/right': '>=v1.0.0' },
      });
      await world.publish({ name: 'outer/storage', tag: 'v1.0.0', requires: { 'one/storage': '>=v1.0.0' } });
      await installed('outer', 'outer/storage', 'outer');
      await world.publish({ name: 'split/outer', tag: 'v1.0.0', requires: { 'split/base': '>=v1.0.0' } });
    },
    wish: () => wish({ from: source('outer/storage'), to: `${source('split/outer')}:v1.0.0`, packageName: 'split' }) as never,
    reason: 'NotEquivalent',
    message: /Provider \S+one\/storage: expected one package of the new tree in its place, found \S+split\/left, \S+split\/right/,
    isFinal: true,
  },
  {
    what: 'by a tree that lacks a CRD',
    prepare: async () => {
      must(await client.create(ptxPath(), deletionOf('outer-gone', 'outer/storage')));
      await world.finished('outer-gone');
      await publishFamily(world, { vendor: 'less', group, plurals: { ...plurals, storage: ['buckets'] } });
    },
    wish: () => wish({ to: `${source('less/storage')}:v1.0.0`, packageName: 'less' }) as never,
    reason: 'SchemaIncompatible',
    message: /^CRD disks\.cloud\.example\.org of \S+one\/storage is in no package of the tree of \S+less\/storage/,
  },
  {
    what: 'by a tree with a narrower CRD',
    prepare: () =>
      publishFamily(world, { vendor: 'narrow', group, plurals, schema: (plural) => (plural === 'routes' ? narrow : wide) }),
    wish: () => wish({ to: `${source('narrow/storage')}:v1.0.0`, packageName: 'narrow' }) as never,
    reason: 'SchemaIncompatible',
    message: /^CRD routes\.cloud\.example\.org: "i-0".* hold values in fields that it drops \(v1beta1 \S*note/,
  },
  {
    what: 'of a package whose revision a Usage protects',
    prepare: async () => {
      const [name = ''] = (await revisionNames()).filter((one) => one.startsWith('one-storage-'));
      await serveUsages(client);
      // A Replace deletes no CRD. The family moves below, although this Usage stays.
      await createUsage(client, 'of-crd', { ...definitionKind, name: crd('disks') });
      await createUsage(client, 'of-revision', { apiVersion: 'pkg.crossplane.io/v1', kind: 'ProviderRevision', name });
    },
    after: () => client.delete(`${usagesPath}/of-revision`),
    wish: () => wish() as never,
    reason: 'ResourcesInUse',
    message: /^ClusterUsage "?of-revision"? protects ProviderRevision one-storage-[0-9a-f]+: delete it first$/,
  },
];

function publishAlone(name: string, names: readonly string[]): Promise<string> {
  return world.publish({ name, tag: 'v1.0.0', objects: names.map((plural) => definitionOf(plural, group, wide)) });
}

function deletionOf(name: string, package_: string): JsonObject {
  const spec = { change: 'Delete', delete: { source: source(package_) }, retryLimit: 1 };
  return { apiVersion: 'pkg.crossplane.io/v1alpha1', kind: 'Transaction', metadata: { name }, spec };
}

for (const [index, { what, prepare, after, wish: wished, reason, message, isFinal = false }] of rows.entries())
  t.test(`49: a Replace ${what} is refused, and nothing is written`, async (t) => {
    await prepare?.();
    const before = await everything();
    await replace(world, `bad-${index}`, { ...wished(), retryLimit: isFinal ? 5 : 1 });
    const status = await world.finished(`bad-${index}`);
    t.match(conditionIn(status, 'Validated'), { status: 'False', reason, message });
    t.equal(at(status, 'failures'), 1);
    t.strictSame(await everything(), before);
    await after?.();
  });

t.test('a CRD of the old tree that somebody else controls: CRDConflict, and nothing is written', async (t) => {
  const path = definitionPath(crd('disks'));
  const live = must(await client.get(path));
  const namespace = must(await client.get('/api/v1/namespaces/default'));
  const foreign = { apiVersion: 'v1', kind: 'Namespace', name: 'default', uid: textAt(namespace, 'metadata', 'uid') ?? '' };
  const owners = objectsAt(live, 'metadata', 'ownerReferences');
  const released = owners.map((owner): JsonObject => ({ ...owner, controller: false }));
  must(await client.patch(path, { metadata: { ownerReferences: [...released, { ...foreign, controller: true }] } }));
  const before = await everything();
  await replace(world, 'foreign', wish());
  t.match(conditionIn(await world.finished('foreign'), 'Validated'), {
    reason: 'CRDConflict',
    message: /^CRD disks\.cloud\.example\.org is controlled by "Namespace" "default", which is no package/,
  });
  t.strictSame(await everything(), before);
  must(await client.patch(path, { metadata: { ownerReferences: owners } }));
});

t.test('48: a dry run shows the successor of each package, and the objects that it takes', async (t) => {
  const before = await everything();
  await replace(world, 'planned', { ...wish(), dryRun: true });
  const status = await world.finished('planned');
  const packages = objectsAt(status, 'plan', 'packages').map(
    (one) => `${textAt(one, 'operation')} ${textAt(one, 'name')} ${textAt(one, 'replacedBy') ?? ''}`,
  );
  t.same(packages.toSorted(), [
    'Create acme-two-family ',
    'Create acme-two-network ',
    'Create two-storage ',
    `Delete acme-one-family ${source('two/family')}`,
    `Delete acme-one-network ${source('two/network')}`,
    `Delete one-storage ${source('two/storage')}`,
  ]);
  const handed = objectsAt(status, 'plan', 'objects').filter((one) => textAt(one, 'operation') === 'HandOver');
  t.same(handed.map((one) => textAt(one, 'name')).toSorted(), all.map(crd).toSorted());
  const deleted = objectsAt(status, 'plan', 'objects').filter((one) => textAt(one, 'operation') === 'Delete');
  t.same(
    deleted.map((one) => textAt(one, 'kind')),
    ['ProviderRevision', 'ProviderRevision', 'ProviderRevision'],
  );
  t.strictSame(await everything(), before, 'nothing is changed');
});

t.test('janus plan prints the plan of a Replace', async (t) => {
  const cli = await openCli(t, world.plane.kubeconfig);
  const found = await cli.run(['plan', '-f', '-'], { input: JSON.stringify(replaceOf('plan', wish())) });
  t.match(found.out, new RegExp(`Plan of Provider two-storage in the place of ${old}`));
  t.match(found.out, new RegExp(`- deleted +Provider +acme-one-family .*replaced by ${source('two/family')}`));
  t.match(found.out, /> handed over +CustomResourceDefinition +buckets\.cloud\.example\.org/);
});

/** A policy refuses one write of the first part: everything is as it was. */
const failures: readonly (readonly [what: string, resource: string, operation: string, pattern: RegExp, state?: string])[] = [
  ['a new Package', 'providers', 'CREATE', /^acme-two-network$/],
  ['a new revision', 'providerrevisions', 'CREATE', /^two-storage-/],
  ['a CRD', 'customresourcedefinitions', 'UPDATE', /^disks\./],
  ['an old Package that becomes Manual', 'providers', 'UPDATE', /^acme-one-family$/],
  ['an old revision that becomes Inactive', 'providerrevisions', 'UPDATE', /^one-storage-/, 'Inactive'],
  ['a new revision that becomes Active', 'providerrevisions', 'UPDATE', /^acme-two-family-/, 'Active'],
];

for (const [index, [what, resource, operation, pattern, state]] of everyNth(failures.length, failures).entries())
  t.test(`a Replace that fails at ${what} leaves everything as it was`, async (t) => {
    const before = await everything();
    const [kept, writers, watch] = [await instances(), await startWriters(client, paths), await watchControllers(world, group)];
    admission.decide(({ name, dryRun, object, ...review }) =>
      !dryRun &&
      review.resource === resource &&
      review.operation === operation &&
      pattern.test(name) &&
      (state === undefined || textAt(object, 'spec', 'desiredState') === state)
        ? { code: 403, message: 'not today' }
        : undefined,
    );
    await replace(world, `failing-${index}`, wish());
    const status = await world.finished(`failing-${index}`);
    admission.decide(() => undefined);
    t.match(conditionIn(status, 'Installed'), { status: 'False', message: /not today/ });
    t.same(await writers.stop(), [], `${writers.acknowledged()} writes`);
    t.same(await watch.stop(), []);
    t.strictSame(await everything(), before);
    t.strictSame(await instances(), kept);
  });

async function replaced(t: Test, name: string, wished: Parameters<typeof replaceOf>[1]): Promise<JsonObject> {
  const [kept, writers, watch] = [await instances(), await startWriters(client, paths), await watchControllers(world, group)];
  await waitFor(async () => writers.acknowledged() > 0, 'the first write');
  await replace(world, name, wished);
  const status = await world.finished(name);
  const during = writers.acknowledged();
  await waitFor(async () => writers.acknowledged() > during, 'a write after the end');
  t.same(await writers.stop(), [], `${writers.acknowledged()} writes`);
  t.same(await watch.stop(), []);
  t.strictSame(await instances(), kept, 'with uid, content, and managedFields');
  return status;
}

t.test('50, 51: a family moves to another vendor, with every instance and every write', async (t) => {
  const status = await replaced(t, 'moved', wish());
  t.same(storyOf(status), [
    'Validated True/AllValidationsPassed',
    'Installed True/InstallationComplete',
    'Ready True/TransactionComplete',
    'Synced True/ReconcileSuccess',
    'Finished True/TransactionComplete',
  ]);
  const pairs = ['family', 'network', 'storage'].map((one) => ({ source: source(`one/${one}`), by: source(`two/${one}`) }));
  t.same(
    objectsAt(status, 'replaced').toSorted((left, right) => ((left.source ?? '') < (right.source ?? '') ? -1 : 1)),
    pairs,
  );
  t.match(conditionIn(status, 'Installed')?.message, `${source('two/family')} replaces ${source('one/family')}`);
  t.same((await sources()).toSorted(), pairs.map(({ by }) => by).toSorted());
  t.strictSame(at(must(await client.get(lockPath)), 'packages'), at(status, 'proposedLockPackages'));
  const left = await Promise.all(
    ['one-storage', 'acme-one-network', 'acme-one-family'].map(
      async (name) => (await client.get(packagePath('providers', name))).code,
    ),
  );
  t.same(left, [404, 404, 404]);
  t.match(await revisionNames(), [/^acme-two-family-/, /^acme-two-network-/, /^two-storage-/]);
  t.match(await controllerOfDefinition(client, crd('buckets')), /^two-storage-/);
  t.match(await controllerOfDefinition(client, crd('configs')), /^acme-two-family-/);
  const event = await waitFor(
    async () =>
      (await client.list('/api/v1/namespaces/default/events')).items.find(
        (one) => textAt(one, 'involvedObject', 'name') === 'moved' && textAt(one, 'reason') === 'Replacing',
      ),
    'the Event',
  );
  t.match(textAt(event, 'message'), `${source('two/network')} replaces ${source('one/network')}`);
  t.match(event, { involvedObject: { apiVersion: 'pkg.crossplane.io/v1alpha1', kind: 'Transaction' } });
});

t.test(
  'a part of the old family that cannot be deleted: the Lock has the new family, and the next try goes on',
  inAllOnly,
  async (t) => {
    const name = (await revisionNames()).find((one) => one.startsWith('acme-two-network-')) ?? '';
    admission.decide((review) =>
      review.resource === 'providerrevisions' && review.operation === 'DELETE' && review.name === name
        ? { code: 403, message: 'not today' }
        : undefined,
    );
    await replace(world, 'back', { from: next, to: `${old}:v1.0.0`, packageName: 'one-storage', retryLimit: 1_000 });
    const hasFailed = async (): Promise<boolean> => {
      const status = statusOf(await world.read('back'));
      return conditionIn(status, 'Ready')?.reason === 'CleanupPending' && textAt(status, 'phase') === 'Waiting';
    };
    await waitFor(hasFailed, 'a try to end', { timeoutMs: 120_000 });
    t.same(
      (await sources()).toSorted(),
      ['family', 'network', 'storage'].map((one) => source(`one/${one}`)),
    );
    t.match(conditionIn(statusOf(await world.read('back')), 'Ready')?.message, /not today/);
    t.match(await controllerOfDefinition(client, crd('routes')), /^acme-one-network-/);
    admission.decide(() => undefined);
    const status = await world.finished('back');
    t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
    t.match(await revisionNames(), [/^acme-one-family-/, /^acme-one-network-/, /^one-storage-/]);
    t.equal((await client.get(packagePath('providers', 'two-storage'))).code, 404);
  },
);

t.test('a package that both trees require stays as it is', inAllOnly, async (t) => {
  await world.publish({ name: 'shared', tag: 'v1.0.0', objects: [definitionOf('shares', 'shared.example.org')] });
  for (const vendor of ['left', 'right'])
    await world.publish({
      name: `${vendor}/app`,
      tag: 'v1.0.0',
      requires: { shared: '>=v1.0.0' },
      objects: [definitionOf('apps', 'app.example.org')],
    });
  await installed('left', 'left/app', 'left-app');
  const revision = await controllerOfDefinition(client, 'shares.shared.example.org');
  await replace(world, 'right', { from: source('left/app'), to: `${source('right/app')}:v1.0.0`, packageName: 'right-app' });
  const status = await world.finished('right');
  t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
  t.same(objectsAt(status, 'replaced'), [{ source: source('left/app'), by: source('right/app') }]);
  t.equal(await controllerOfDefinition(client, 'shares.shared.example.org'), revision);
  t.match(await controllerOfDefinition(client, 'apps.app.example.org'), /^right-app-/);
});

t.test(
  'a Replace that is removed by force after its first deletion is not undone, and another one goes on',
  inAllOnly,
  async (t) => {
    const name = (await revisionNames()).find((one) => one.startsWith('one-storage-')) ?? '';
    const path = packagePath('providerrevisions', name);
    must(await client.patch(path, { metadata: { finalizers: ['test.janus.io/held'] } }));
    await replace(world, 'forced', wish());
    const isDeleted = async (): Promise<boolean> =>
      at(must(await client.get(path)), 'metadata', 'deletionTimestamp') !== undefined;
    await waitFor(isDeleted, 'the first deletion', { timeoutMs: 120_000 });
    const gone = async (): Promise<boolean> => {
      await client.delete(ptxPath('forced'));
      await client.patch(ptxPath('forced'), { metadata: { finalizers: null } });
      return (await client.get(ptxPath('forced'))).code === 404;
    };
    await waitFor(gone, 'the package transaction to be gone');
    const holder = await controllerOfDefinition(client, crd('buckets'));
    t.match(holder, /^two-storage-/);
    await replace(world, 'again', wish());
    await waitFor(async () => textAt(statusOf(await world.read('again')), 'phase') === 'Deleting', 'the next deletion', {
      timeoutMs: 300_000,
    });
    must(await client.patch(path, { metadata: { finalizers: null } }));
    const status = await world.finished('again');
    t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
    t.equal(await controllerOfDefinition(client, crd('buckets')), holder);
    t.same(
      (await sources()).filter((one) => one.includes('/one/')),
      [],
    );
    t.equal((await client.get(packagePath('providers', 'one-storage'))).code, 404);
  },
);

t.test(
  'a revision that somebody makes Active again while a Replace waits for its next try stays, with its package',
  inAllOnly,
  async (t) => {
    const name = (await revisionNames()).find((one) => one.startsWith('right-app-')) ?? '';
    admission.decide(({ name: deleted, operation }) =>
      operation === 'DELETE' && deleted === name ? { code: 403, message: 'not today' } : undefined,
    );
    const [from, to] = [source('right/app'), `${source('left/app')}:v1.0.0`];
    await replace(world, 'left-again', { from, to, packageName: 'left-app', retryLimit: 1_000 });
    const isWaiting = async (): Promise<boolean> => {
      const status = statusOf(await world.read('left-again'));
      return conditionIn(status, 'Ready')?.reason === 'CleanupPending' && textAt(status, 'phase') === 'Waiting';
    };
    await waitFor(isWaiting, 'a try to fail', { timeoutMs: 120_000 });
    const path = packagePath('providerrevisions', name);
    must(await client.patch(path, { spec: { desiredState: 'Active' } }));
    admission.decide(() => undefined);
    const status = await world.finished('left-again');
    t.match(conditionIn(status, 'Ready'), {
      status: 'False',
      reason: 'CleanupPending',
      message: new RegExp(`^ProviderRevision ${name}: installed again since the first deletion, so nothing more is deleted`),
    });
    t.equal(conditionIn(status, 'Installed')?.status, 'True', 'the new packages are installed');
    for (const kept of [path, packagePath('providers', 'right-app'), packagePath('providers', 'left-app')])
      t.equal((await client.get(kept)).code, 200, kept);
    t.match(await controllerOfDefinition(client, 'apps.app.example.org'), /^left-app-/);
  },
);
