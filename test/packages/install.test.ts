// Package transactions on the real API server, with a real registry and the engine: a first install, an update, refusals before
// a write, and what fails in the middle.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { at, isList, type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { startPackageAdmission } from '../support/package-admission.ts';
import { definitionPath, kinds, lockPath, packagePath, ptxPath, stagesPath } from '../support/package-paths.ts';
import { conditionIn, memberWithDigits, startPackageWorld, storyOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';
import { inAllOnly } from '../support/selection.ts';
import { comparable } from '../support/stage.ts';

t.setTimeout(1_200_000);

// The test starts two loops of one name, as two Metacontrollers. The API server refuses the controller of a second real loop.
const world = await startPackageWorld(t, { loop: 'double' });
const { client, source } = world;
const group = 's3.example.org';
const schema = (...names: readonly string[]): object => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
});
const buckets = (...fields: readonly string[]): object => definitionOf('buckets', group, schema(...fields));
const needsFamily = { family: '>=v1.1.0' };
const family = await world.publish({ name: 'family', tag: 'v1.1.0', objects: [definitionOf('configs', group)] });
const policies = definitionOf('policies', group);
const digests = {
  'v1.0.0': await world.publish({ name: 's3', tag: 'v1.0.0', requires: needsFamily, objects: [buckets('region'), policies] }),
  'v1.1.0': await world.publish({
    name: 's3',
    tag: 'v1.1.0',
    requires: needsFamily,
    objects: [buckets('region', 'acl'), policies],
  }),
};
await world.publish({ name: 's3', tag: 'v2.0.0', requires: needsFamily, objects: [buckets('acl'), policies] });
await world.publish({ name: 'old-family', tag: 'v1.0.0' });
await world.publish({ name: 'lonely', tag: 'v1.0.0', requires: { 'old-family': '>=v1.1.0' } });
await world.publish({
  name: 'late',
  tag: 'v1.0.0',
  requires: { 'late-one': '>=v1.0.0' },
  objects: [definitionOf('ones', 'late.example.org'), definitionOf('twos', 'late.example.org')],
});
await world.publish({ name: 'late-one', tag: 'v1.0.0', objects: [definitionOf('threes', 'late.example.org')] });
await world.publish({
  name: 's3',
  tag: 'v1.2.0',
  requires: needsFamily,
  objects: [buckets('region', 'acl', 'owner'), policies, definitionOf('queues', group)],
});

const admission = await startPackageAdmission(client, t);

const lock = async (): Promise<JsonObject> => must(await client.get(lockPath));

async function labelled(path: string, name: string): Promise<readonly string[]> {
  const { items } = await client.list(path, { labelSelector: `pkg.crossplane.io/transaction=${name}` });
  return items.map((item) => textAt(item, 'metadata', 'name') ?? '').sort();
}

const revisionOf = (name: string, digest: string): string => `${name}-${digest.slice('sha256:'.length, 'sha256:'.length + 12)}`;
const root = (tag: keyof typeof digests): string => revisionOf('root', digests[tag]);

async function revision(name: string): Promise<JsonObject> {
  return must(await client.get(packagePath('providerrevisions', name)));
}

function owners(object: JsonObject): readonly string[] {
  const found = at(object, 'metadata', 'ownerReferences');
  return (isList(found) ? found : []).map(
    (one) => `${textAt(one, 'kind')} ${textAt(one, 'name')}${at(one, 'controller') === true ? ' controls' : ''}`,
  );
}

/** Everything that a package transaction could have touched, as content. */
async function everything(): Promise<ReadonlyMap<string, string>> {
  const paths = [definitionPath(), ...kinds.map((plural) => packagePath(plural)), `/apis/${group}/v1beta1/buckets`];
  const lists = await Promise.all(
    paths.map(async (path) => (await client.list(path)).items.map((item) => [path, item] as const)),
  );
  return new Map(
    lists.flat().map(([path, object]) => [`${path}/${textAt(object, 'metadata', 'name')}`, JSON.stringify(comparable(object))]),
  );
}

/** No object was added, changed or removed since. */
async function nothingChanged(t: Test, before: ReadonlyMap<string, string>, what: string): Promise<void> {
  const now = await everything();
  const changed = [...new Set([...before.keys(), ...now.keys()])].filter((name) => before.get(name) !== now.get(name));
  t.same(changed, [], what);
  for (const name of changed) t.equal(now.get(name), before.get(name), name);
}

/** Its stages stay for some minutes, and no test waits for them. */
async function stagesStay(t: Test, name: string, ...phases: readonly string[]): Promise<void> {
  const { items } = await client.list(stagesPath, { labelSelector: `pkg.crossplane.io/transaction=${name}` });
  t.same([...new Set(items.map((stage) => textAt(stage, 'status', 'phase') ?? ''))].toSorted(), phases, 'stages at rest');
  const isDue = async (): Promise<boolean> => {
    const { sweepTime = '', completionTime = '' } = (await world.read(name)).status as Record<string, string>;
    return Date.parse(sweepTime) - Date.parse(completionTime) > 300_000;
  };
  await waitFor(isDue, 'a time to be set for their deletion');
}

t.test('8, 9, 24, 26, 28, 30, 31, 35, 36, 37, 38, 55: a tree is installed whole', async (t) => {
  const other = { name: 'gcp-1', source: 'registry.example.org/acme/gcp', version: 'v0.9.0', dependencies: [] };
  const annotations = { 'pkg.crossplane.io/transaction-history-limit': '0' };
  const made = {
    apiVersion: 'pkg.crossplane.io/v1beta1',
    kind: 'Lock',
    metadata: { name: 'lock', annotations },
    packages: [other],
  };
  must(await client.create('/apis/pkg.crossplane.io/v1beta1/locks', made));
  await world.install('first', `${source('s3')}:v1.0.0`);
  const status = await world.finished('first');
  t.same(storyOf(status), [
    'Validated True/AllValidationsPassed',
    'Installed True/InstallationComplete',
    'Ready True/TransactionComplete',
    'Synced True/ReconcileSuccess',
    'Finished True/TransactionComplete',
  ]);
  t.equal(at(status, 'transactionNumber'), 1);
  t.ok((textAt(status, 'startTime') ?? '') <= (textAt(status, 'completionTime') ?? ''));
  const live = await lock();
  t.strictSame(at(live, 'packages'), at(status, 'proposedLockPackages'));
  const packages = at(live, 'packages') as readonly JsonObject[];
  const familyName = `acme-family`;
  t.same(
    packages.map((one) => [one.name, one.version]),
    [
      ['gcp-1', 'v0.9.0'],
      [revisionOf(familyName, family), `v1.1.0@${family}`],
      [root('v1.0.0'), `v1.0.0@${digests['v1.0.0']}`],
    ],
  );
  t.equal(textAt(live, 'metadata', 'annotations', 'pkg.crossplane.io/next-transaction-number'), '2');
  t.equal(textAt(live, 'metadata', 'annotations', 'pkg.crossplane.io/current-transaction'), undefined, 'released');
  t.equal(at(live, 'status'), undefined);
  t.same(await labelled(definitionPath(), 'first'), [`buckets.${group}`, `configs.${group}`, `policies.${group}`]);
  t.same(await labelled(packagePath('providerrevisions'), 'first'), [revisionOf(familyName, family), root('v1.0.0')].sort());
  const dependency = must(await client.get(packagePath('providers', familyName)));
  t.equal(textAt(dependency, 'spec', 'package'), `${source('family')}:v1.1.0`);
  t.same(owners(dependency), [], 'a package has no owner');
  const installed = await revision(root('v1.0.0'));
  t.match(installed, { spec: { desiredState: 'Active', revision: 1, image: `${source('s3')}@${digests['v1.0.0']}` } });
  t.same(owners(installed), ['Provider root', 'Transaction first']);
  const crd = must(await client.get(definitionPath(`buckets.${group}`)));
  t.same(owners(crd), [`ProviderRevision ${root('v1.0.0')} controls`, 'Transaction first']);
  await stagesStay(t, 'first', 'Committed');
  t.match(
    (await client.get(ptxPath('first'))).text,
    new RegExp(`"${memberWithDigits}":9007199254740993`),
    '3: the snapshot keeps its digits',
  );
});

t.test('33: an update makes a second revision, which controls the CRDs; instances stay', async (t) => {
  const object = { apiVersion: `${group}/v1beta1`, kind: 'Bucket', metadata: { name: 'mine' }, spec: { region: 'eu' } };
  const before = must(await client.create(`/apis/${group}/v1beta1/buckets`, object));
  await world.install('second', `${source('s3')}:v1.1.0`);
  const status = await world.finished('second');
  t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
  t.equal(at(status, 'transactionNumber'), 2);
  t.strictSame(at(await lock(), 'packages'), at(status, 'proposedLockPackages'));
  t.match(await revision(root('v1.0.0')), { spec: { desiredState: 'Inactive', revision: 1 } });
  t.match(await revision(root('v1.1.0')), { spec: { desiredState: 'Active', revision: 2 } });
  t.equal((await client.list(packagePath('providers'))).items.length, 2, 'one Provider for each source');
  const crd = must(await client.get(definitionPath(`buckets.${group}`)));
  t.same(owners(crd), [
    `ProviderRevision ${root('v1.0.0')}`,
    `ProviderRevision ${root('v1.1.0')} controls`,
    'Transaction second',
  ]);
  t.same(await labelled(definitionPath(), 'second'), [`buckets.${group}`, `policies.${group}`], 'the family stays as it was');
  t.strictSame(must(await client.get(`/apis/${group}/v1beta1/buckets/mine`)), before);
  await stagesStay(t, 'second', 'Committed');
});

t.test('6, 11, 15, 26, 32: the hook refuses a package that cannot be installed before a write', async (t) => {
  const before = await everything();
  const packages = at(await lock(), 'packages');
  await world.install('removed', `${source('s3')}:v2.0.0`, { retryLimit: 1 });
  const removed = await world.finished('removed');
  t.equal(conditionIn(removed, 'Validated')?.reason, 'SchemaIncompatible');
  t.match(conditionIn(removed, 'Validated')?.message, /buckets\.s3\.example\.org.*region/);
  t.same(storyOf(removed).slice(1, 3), ['Installed Unknown/InstallationPending', 'Ready False/ValidationFailed']);
  await world.install('lonely', `${source('lonely')}:v1.0.0`, { retryLimit: 1, packageName: 'lonely' });
  const lonely = await world.finished('lonely');
  t.equal(conditionIn(lonely, 'Validated')?.reason, 'MissingDependency');
  t.match(conditionIn(lonely, 'Validated')?.message, /requires old-family >=v1\.1\.0/);
  await world.install('stranger', `${source('s3')}:v1.1.0`, { uid: 'another' });
  const stranger = await world.finished('stranger');
  t.equal(conditionIn(stranger, 'Validated')?.reason, 'InvalidPackage');
  t.equal(at(stranger, 'failures'), 1, 'final at once');
  admission.decide(({ name, dryRun }) => (dryRun && name === `policies.${group}` ? { code: 403, message: 'never' } : undefined));
  await world.install('untried', `${source('s3')}:v1.2.0`, { retryLimit: 1 });
  const untried = await world.finished('untried');
  admission.decide(() => undefined);
  t.equal(conditionIn(untried, 'Validated')?.reason, 'DryRunFailed');
  await nothingChanged(t, before, 'nothing was written');
  t.strictSame(at(await lock(), 'packages'), packages);
});

t.test('6: a registry that does not answer: two tries, then none', async (t) => {
  const asked = (): number => world.proxy.seen.filter(({ path }) => path.includes('/acme/nowhere/')).length;
  await world.install('nowhere', `${source('nowhere')}:v1.0.0`, { retryLimit: 2 });
  const status = await world.finished('nowhere');
  t.equal(at(status, 'failures'), 2);
  t.equal(asked(), 2);
  t.equal(conditionIn(status, 'Synced')?.reason, 'ReconcileError');
  t.match(conditionIn(status, 'Synced')?.message, /acme\/nowhere/);
});

t.test('17, b: a policy that refuses the write of one object, and not its dry run', inAllOnly, async (t) => {
  const before = await everything();
  const packages = at(await lock(), 'packages');
  admission.decide(({ name, dryRun, operation }) =>
    name === 'twos.late.example.org' && !dryRun && operation === 'CREATE' ? { code: 403, message: 'no twos today' } : undefined,
  );
  await world.install('late', `${source('late')}:v1.0.0`, { packageName: 'late', retryLimit: 5 });
  const failed = await world.condition('late', 'Installed', 'False');
  t.equal(conditionIn(failed, 'Installed')?.reason, 'CRDInstallationFailed');
  t.match(
    conditionIn(failed, 'Installed')?.message,
    /^Failed to install CRD twos\.late\.example\.org: .*was refused: .*no twos today/,
  );
  t.equal(conditionIn(failed, 'Validated')?.status, 'True');
  await nothingChanged(t, before, 'everything is as it was');
  t.strictSame(at(await lock(), 'packages'), packages);
  admission.decide(() => undefined);
  const status = await world.finished('late');
  t.equal(conditionIn(status, 'Ready')?.status, 'True', 'the next try succeeds');
  t.ok(Number(at(status, 'failures')) >= 1);
  t.same(
    await labelled(definitionPath(), 'late'),
    ['ones', 'threes', 'twos'].map((one) => `${one}.late.example.org`),
  );
  await stagesStay(t, 'late', 'Committed', 'Failed', 'RolledBack');
});

/** CRD of the versions, of which the last one is stored. */
function versioned(group: string, ...versions: readonly string[]): object {
  const definition = definitionOf('things', group) as JsonObject;
  const all = versions.map((name, index) => ({
    name,
    served: true,
    storage: index === versions.length - 1,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } },
  }));
  return withPath(definition, ['spec', 'versions'], all);
}

/** Refuses the last write of an install of the package: its revision becomes Active. */
function refuseActivation(packageName: string): void {
  admission.decide(({ name, dryRun, operation }) =>
    name.startsWith(`${packageName}-`) && !dryRun && operation === 'UPDATE' ? { code: 403, message: 'not today' } : undefined,
  );
}

const storedVersions = async (group: string): Promise<unknown> =>
  at(must(await client.get(definitionPath(`things.${group}`))), 'status', 'storedVersions');

t.test('the engine moves a storage version without objects, and back if a later stage fails', inAllOnly, async (t) => {
  const moved = 'moved.example.org';
  for (const [tag, ...versions] of [
    ['v1.0.0', 'v1'],
    ['v1.1.0', 'v1', 'v2'],
  ] as const)
    await world.publish({ name: 'moved', tag, objects: [versioned(moved, ...versions)] });
  await world.install('moved-1', `${source('moved')}:v1.0.0`, { packageName: 'moved' });
  await world.finished('moved-1');
  const before = await everything();
  refuseActivation('moved');
  await world.install('moved-2', `${source('moved')}:v1.1.0`, { packageName: 'moved', retryLimit: 1 });
  const status = await world.finished('moved-2');
  t.equal(conditionIn(status, 'Installed')?.reason, 'InstallationFailed', JSON.stringify(status));
  t.same(await storedVersions(moved), ['v1']);
  await nothingChanged(t, before, 'everything is as it was');
  admission.decide(() => undefined);
  await world.install('moved-3', `${source('moved')}:v1.1.0`, { packageName: 'moved' });
  t.equal(conditionIn(await world.finished('moved-3'), 'Ready')?.status, 'True');
  t.same(await storedVersions(moved), ['v1', 'v2']);
});

t.test('the engine changes no storage version of existing objects unless the user allows it', inAllOnly, async (t) => {
  const kept = 'kept.example.org';
  for (const [tag, ...versions] of [
    ['v1.0.0', 'v1'],
    ['v1.1.0', 'v1', 'v2'],
  ] as const)
    await world.publish({ name: 'kept', tag, objects: [versioned(kept, ...versions)] });
  await world.install('kept-1', `${source('kept')}:v1.0.0`, { packageName: 'kept' });
  await world.finished('kept-1');
  const object = { apiVersion: `${kept}/v1`, kind: 'Thing', metadata: { name: 'mine' }, spec: {} };
  must(await client.create(`/apis/${kept}/v1/things`, object));
  const before = await everything();
  const update = { packageName: 'kept', retryLimit: 1 };
  await world.install('kept-2', `${source('kept')}:v1.1.0`, update);
  const refused = await world.finished('kept-2');
  t.match(conditionIn(refused, 'Validated'), {
    reason: 'SchemaIncompatible',
    message: /things\.kept\.example\.org: .*pkg\.crossplane\.io\/allow-irreversible=v1\.1\.0/,
  });
  await nothingChanged(t, before, 'nothing was written');
  const annotations = { 'pkg.crossplane.io/allow-irreversible': 'true' };
  refuseActivation('kept');
  await world.install('kept-3', `${source('kept')}:v1.1.0`, { ...update, annotations });
  await waitFor(async () => JSON.stringify(await storedVersions(kept)) === '["v1","v2"]', 'the storage version to move');
  // Written since: it is stored in the new version, which the undo cannot take away.
  const written = must(await client.patch(`/apis/${kept}/v1/things/mine`, { metadata: { labels: { written: 'since' } } }));
  const left = await world.finished('kept-3');
  t.equal(conditionIn(left, 'Installed')?.reason, 'RollbackIncomplete', JSON.stringify(left));
  t.match(
    conditionIn(left, 'Installed')?.message,
    /CustomResourceDefinition things\.kept\.example\.org/,
    'the message names the rest',
  );
  t.strictSame(must(await client.get(`/apis/${kept}/v1/things/mine`)), written, 'the object is as it was');
  admission.decide(() => undefined);
  await world.install('kept-4', `${source('kept')}:v1.1.0`, { ...update, annotations });
  t.equal(conditionIn(await world.finished('kept-4'), 'Ready')?.status, 'True');
});

/** Finished ones; one whose undo left something stays beside the history. */
async function historyIs(count: number): Promise<void> {
  const listed = async (): Promise<readonly unknown[]> =>
    (await client.list(ptxPath())).items.map((one) => textAt(one, 'metadata', 'name')).filter((name) => name !== 'kept-3');
  await waitFor(async () => (await listed()).length === count, `${count} package transactions to be left`);
}

const limitHistory = async (limit: string): Promise<JsonObject> =>
  must(await client.patch(lockPath, { metadata: { annotations: { 'pkg.crossplane.io/transaction-history-limit': limit } } }));

t.test('7, 20, 24, 25, 43: several at once, from two hooks, take turns; numbers have no gap', inAllOnly, async (t) => {
  t.ok((await client.list(ptxPath())).items.length > 13, 'with the limit 0 all stay');
  await limitHistory('10');
  const second = await world.startHook();
  const loop = await world.startPackageLoop(second.url);
  const from = Number(textAt(await lock(), 'metadata', 'annotations', 'pkg.crossplane.io/next-transaction-number'));
  const count = Number(process.env.JANUS_PACKAGES_AT_ONCE ?? '4');
  const names = Array.from({ length: count }, (_, index) => `turn-${index}`);
  for (const name of names) await world.publish({ name, tag: 'v1.0.0', objects: [definitionOf('ones', `${name}.example.org`)] });
  await Promise.all(names.map((name) => world.install(name, `${source(name)}:v1.0.0`, { packageName: name })));
  const all = await Promise.all(names.map((name) => world.finished(name)));
  t.same(
    all.map((status) => at(status, 'transactionNumber')).toSorted((left, right) => Number(left) - Number(right)),
    names.map((_, index) => from + index),
  );
  t.same(
    all.map((status) => conditionIn(status, 'Ready')?.status),
    names.map(() => 'True'),
  );
  const sources = (at(await lock(), 'packages') as readonly JsonObject[]).map((one) => one.source);
  for (const name of names) t.ok(sources.includes(source(name)), name);
  const inOrder = all.toSorted((left, right) => Number(at(left, 'transactionNumber')) - Number(at(right, 'transactionNumber')));
  const times = inOrder.map((status) => textAt(status, 'startTime') ?? '');
  t.same(times, times.toSorted(), 'numbers follow the order in which they were carried out');
  await historyIs(10);
  await loop.stop();
  await second.kill();
});

t.test('e, 38: a package transaction that is deleted in the foreground deletes no installed object', async (t) => {
  const name = 'foreground';
  await world.publish({ name, tag: 'v1.0.0', objects: [definitionOf('ones', `${name}.example.org`)] });
  await world.install(name, `${source(name)}:v1.0.0`, { packageName: name });
  await world.finished(name);
  const crd = definitionPath(`ones.${name}.example.org`);
  const paths = [crd, packagePath('providers', name)];
  const before = await Promise.all(paths.map(async (path) => must(await client.get(path))));
  must(await client.delete(ptxPath(name), { propagationPolicy: 'Foreground' }));
  await waitFor(async () => (await client.get(ptxPath(name))).code === 404, 'the package transaction to be gone');
  const isReleased = async (): Promise<boolean> => !owners(must(await client.get(crd))).includes(`Transaction ${name}`);
  await waitFor(isReleased, 'the garbage collector to have been there');
  const after = await Promise.all(paths.map(async (path) => must(await client.get(path))));
  t.same(
    after.map((one) => at(one, 'metadata', 'uid')),
    before.map((one) => at(one, 'metadata', 'uid')),
  );
});

t.test('25: the history keeps the newest', inAllOnly, async (t) => {
  await limitHistory('3');
  await world.publish({ name: 'newest', tag: 'v1.0.0' });
  await world.install('newest', `${source('newest')}:v1.0.0`, { packageName: 'newest' });
  await world.finished('newest');
  await historyIs(3);
  t.equal((await client.get(ptxPath('kept-3'))).code, 200);
  t.ok((await client.list(ptxPath())).items.some((one) => textAt(one, 'metadata', 'name') === 'newest'));
  t.equal((await client.get(definitionPath(`buckets.${group}`))).code, 200, 'nothing else is deleted');
  t.equal((await client.get(packagePath('providers', 'root'))).code, 200);
});

const aged = 'aged.example.org';

/** Publishes `aged` with one field more than the last one, and installs it; returns the name of its revision. */
async function age(t: Test, index: number): Promise<string> {
  const fields = Array.from({ length: index + 1 }, (_, field) => `field${field}`);
  const tag = `v1.${index}.0`;
  const digest = await world.publish({ name: 'aged', tag, objects: [definitionOf('ones', aged, schema(...fields))] });
  await world.install(`aged-${index}`, `${source('aged')}:${tag}`, { packageName: 'aged', spec: { revisionHistoryLimit: 0 } });
  const status = await world.finished(`aged-${index}`);
  t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
  if (index % 2 === 0 && index > 0) must(await client.delete(ptxPath(`aged-${index - 1}`), { propagationPolicy: 'Foreground' }));
  return `aged-${digest.slice('sha256:'.length, 'sha256:'.length + 12)}`;
}

t.test(
  'e: many updates with a short history, former ones deleted in the foreground: nothing installed is lost',
  inAllOnly,
  async (t) => {
    const count = Number(process.env.JANUS_PACKAGES_UPDATES ?? '3');
    const revisions = [await age(t, 0)];
    const object = { apiVersion: `${aged}/v1beta1`, kind: 'One', metadata: { name: 'mine' }, spec: { field0: 'kept' } };
    const instance = must(await client.create(`/apis/${aged}/v1beta1/ones`, object));
    const [crd, provider] = [definitionPath(`ones.${aged}`), packagePath('providers', 'aged')];
    const first = [crd, provider, packagePath('providerrevisions', revisions[0])];
    const uids = (): Promise<readonly (string | undefined)[]> =>
      Promise.all(first.map(async (path) => textAt(must(await client.get(path)), 'metadata', 'uid')));
    const before = await uids();
    while (revisions.length <= count) revisions.push(await age(t, revisions.length));
    const ownersAreThere = async (): Promise<boolean> => {
      const named = owners(must(await client.get(crd))).filter((owner) => owner.startsWith('Transaction '));
      const present = (await client.list(ptxPath())).items.map((item) => `Transaction ${textAt(item, 'metadata', 'name')}`);
      return named.every((owner) => present.includes(owner));
    };
    await waitFor(ownersAreThere, 'the garbage collector to have been there');
    t.same(await uids(), before);
    for (const [index, name] of revisions.entries())
      t.match(await revision(name), { spec: { revision: index + 1, desiredState: index === count ? 'Active' : 'Inactive' } });
    t.strictSame(must(await client.get(`/apis/${aged}/v1beta1/ones/mine`)), instance);
  },
);

/** Where the objects are that kubectl knows by this name. Throws unless it is one kind. */
async function pathOfKind(name: string): Promise<string> {
  const roots = ['/apis/pkg.crossplane.io/v1alpha1', '/apis/tx.janus.io/v1alpha1'];
  const found = await Promise.all(
    roots.map(async (path) => {
      const resources = at(must(await client.get(path)), 'resources');
      const named = (isList(resources) ? resources : []).filter((one) => {
        const shortNames = at(one, 'shortNames');
        const names = [
          textAt(one, 'name'),
          `${textAt(one, 'name')}.${path.split('/')[2]}`,
          ...(isList(shortNames) ? shortNames : []),
        ];
        return names.includes(name);
      });
      return named.map((one) => `${path}/${textAt(one, 'name')}`);
    }),
  );
  const [path, ...others] = found.flat();
  if (path === undefined || others.length > 0) throw new Error(`${name}: expected one kind, found ${found.flat()}`);
  return path;
}

t.test(
  'the uninstall section, with both kinds of Transactions: both go, and the installed objects stay',
  inAllOnly,
  async (t) => {
    const [, section = ''] = readFileSync(join(import.meta.dirname, '../../docs/upgrade.md'), 'utf8').split('## Uninstall\n');
    const [steps = ''] = section.split('\n### ');
    const kindsOf = [...steps.matchAll(/kubectl delete (\S+) --all\b/g)].map(([, name = '']) => name).sort();
    t.same(kindsOf, ['ptx', 'transactions.tx.janus.io']);
    await t.rejects(pathOfKind('transactions'), /expected one kind/);
    for (const name of kindsOf) {
      const path = await pathOfKind(name);
      const { items } = await client.list(path);
      t.ok(items.length > 0, `there are some: ${name}`);
      for (const item of items) {
        const [namespace, own] = [textAt(item, 'metadata', 'namespace'), textAt(item, 'metadata', 'name')];
        must(
          await client.delete(`${namespace === undefined ? path : path.replace(/[^/]+$/, `namespaces/${namespace}/$&`)}/${own}`),
        );
      }
      await waitFor(async () => (await client.list(path)).items.length === 0, `${name} to be gone`);
    }
    t.equal((await client.get(definitionPath(`buckets.${group}`))).code, 200);
    t.equal((await client.get(packagePath('providers', 'root'))).code, 200);
    t.equal((await client.get(`/apis/${group}/v1beta1/buckets/mine`)).code, 200);
  },
);
