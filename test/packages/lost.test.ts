// What is live is found by labels and owners: objects that a version leaves out, entries that the Lock has lost, a Lock that was deleted.
import t, { type Test } from 'tap';
import { digestedByRegistries } from '../../hooks/crossplane/observe/digests.ts';
import type { Registry } from '../../hooks/crossplane/registry.ts';
import { at, isList, isObject, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { startAdmission } from '../support/denying-admission.ts';
import { definitionPath, lockPath, packagePath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';
import { inAllOnly } from '../support/selection.ts';
import { comparable } from '../support/stage.ts';

t.setTimeout(1_200_000);

const world = await startPackageWorld(t);
const { client, source } = world;
const group = 'lost.example.org';
const [ones, twos] = ['ones', 'twos'].map((plural) => definitionOf(plural, group));
if (ones === undefined || twos === undefined) throw new Error('no definitions');
const releases = [
  { name: 'first', tag: 'v1.0.0', objects: [ones, twos] },
  { name: 'first', tag: 'v1.1.0', objects: [ones] },
  { name: 'first', tag: 'v1.2.0', objects: [ones, definitionOf('threes', group)] },
  { name: 'second', tag: 'v1.0.0', objects: [twos] },
  { name: 'needs', tag: 'v1.0.0', requires: { first: '>=v1.0.0' } },
  { name: 'same', tag: 'v1.0.0', objects: [ones] },
];
for (const release of releases) await world.publish(release);

const probe = {
  apiVersion: 'pkg.crossplane.io/v1',
  kind: 'Provider',
  metadata: { name: 'probe' },
  spec: { package: source('first') },
};
const admission = await startAdmission(
  {
    client,
    name: 'lost',
    user: 'system:serviceaccount:janus-packages:janus-packages',
    rule: { apiGroups: ['pkg.crossplane.io'], apiVersions: ['*'], resources: ['*'] },
    probe: () =>
      client.asServiceAccount('janus-packages', 'janus-packages').create(packagePath('providers'), probe, { dryRun: 'All' }),
  },
  t,
);

/** All package transactions stay: one that goes takes references to owners that are gone away. */
async function makeLock(): Promise<void> {
  const metadata = { name: 'lock', annotations: { 'pkg.crossplane.io/transaction-history-limit': '0' } };
  const lock = { apiVersion: 'pkg.crossplane.io/v1beta1', kind: 'Lock', metadata, packages: [] };
  must(await client.create('/apis/pkg.crossplane.io/v1beta1/locks', lock));
}

await makeLock();

let count = 0;

/** The status at its end. */
async function installed(name: string, tag: string, packageName = name): Promise<JsonObject> {
  count += 1;
  await world.install(`i${count}`, `${source(name)}:${tag}`, { packageName, retryLimit: 1 });
  return world.finished(`i${count}`);
}

async function succeeds(t: Test, ...release: Parameters<typeof installed>): Promise<JsonObject> {
  const status = await installed(...release);
  t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
  return status;
}

/** What a refusal may not change. */
async function everything(): Promise<readonly JsonObject[]> {
  const paths = [definitionPath(), packagePath('providers'), packagePath('providerrevisions')];
  const all = (await Promise.all(paths.map(async (path) => (await client.list(path)).items))).flat();
  return all.map((one) => comparable(one) as JsonObject);
}

async function isRefused(t: Test, message: RegExp, ...release: Parameters<typeof installed>): Promise<void> {
  const [before, packages] = [await everything(), at(must(await client.get(lockPath)), 'packages')];
  t.match(conditionIn(await installed(...release), 'Validated'), { status: 'False', message });
  t.strictSame(await everything(), before, 'nothing is written');
  t.strictSame(at(must(await client.get(lockPath)), 'packages'), packages);
}

async function ownersOf(path: string): Promise<readonly JsonObject[]> {
  const owners = at(must(await client.get(path)), 'metadata', 'ownerReferences');
  return isList(owners) ? owners.filter(isObject) : [];
}

const controller = async (path: string): Promise<string | undefined> =>
  textAt(
    (await ownersOf(path)).find((one) => at(one, 'controller') === true),
    'name',
  );

const entries = async (): Promise<readonly JsonObject[]> => {
  const packages = at(must(await client.get(lockPath)), 'packages');
  return isList(packages) ? packages.filter(isObject) : [];
};

async function writeEntries(packages: readonly JsonObject[]): Promise<void> {
  must(await client.patch(lockPath, { packages }));
}

const withoutFirst = async (): Promise<readonly JsonObject[]> =>
  (await entries()).filter((entry) => textAt(entry, 'source') !== source('first'));

const [crdOfOnes, crdOfTwos] = [definitionPath(`ones.${group}`), definitionPath(`twos.${group}`)];

t.test('the engine releases an object that a version omits, and another package takes it', async (t) => {
  await succeeds(t, 'first', 'v1.0.0');
  const object = { apiVersion: `${group}/v1beta1`, kind: 'Two', metadata: { name: 'mine' } };
  const instance = must(await client.create(`/apis/${group}/v1beta1/twos`, object));
  await isRefused(
    t,
    /twos\.lost\.example\.org is controlled by "ProviderRevision" "first-[0-9a-f]{12}", which does not leave$/,
    'second',
    'v1.0.0',
  );
  const before = comparable(must(await client.get(crdOfTwos)));
  admission.decide(({ name, dryRun, operation }) =>
    name.startsWith('first-') && !dryRun && operation === 'UPDATE' ? { code: 403, message: 'not today' } : undefined,
  );
  t.equal(conditionIn(await installed('first', 'v1.1.0'), 'Installed')?.reason, 'InstallationFailed');
  t.strictSame(comparable(must(await client.get(crdOfTwos))), before, 'a failed update takes the release back');
  admission.decide(() => undefined);
  await succeeds(t, 'first', 'v1.1.0');
  t.equal(await controller(crdOfTwos), undefined);
  t.match(await controller(crdOfOnes), /^first-/);
  await succeeds(t, 'second', 'v1.0.0');
  t.match(await controller(crdOfTwos), /^second-/);
  t.strictSame(must(await client.get(`/apis/${group}/v1beta1/twos/mine`)), instance);
});

t.test('the status names a package that the Lock has lost, and the engine installs and updates it again', async (t) => {
  await writeEntries(await withoutFirst());
  await isRefused(
    t,
    /first-[0-9a-f]{12}", which does not leave, and which the Lock does not hold: install its package again/,
    'same',
    'v1.0.0',
  );
  await isRefused(
    t,
    /is installed as Provider "first", and the Lock has lost its entry: name the package so/,
    'first',
    'v1.1.0',
    'other',
  );
  await isRefused(t, /is installed as Provider "first", and the Lock has lost its entry: install "first"/, 'needs', 'v1.0.0');
  await succeeds(t, 'first', 'v1.1.0');
  t.equal((await entries()).filter((entry) => textAt(entry, 'source') === source('first')).length, 1, 'it has its entry back');
  const former = await controller(crdOfOnes);
  await writeEntries(await withoutFirst());
  await succeeds(t, 'first', 'v1.2.0');
  t.not(await controller(crdOfOnes), former);
  const revisions = (await client.list(packagePath('providerrevisions'), { labelSelector: 'pkg.crossplane.io/package=first' }))
    .items;
  t.same(
    revisions.map((one) => [at(one, 'spec', 'revision'), at(one, 'spec', 'desiredState')]).sort(),
    [
      [2, 'Inactive'],
      [3, 'Active'],
    ],
    'one revision is Active, although the Lock named none; one earlier revision stays',
  );
});

/** As docs/packages.md says. */
async function removeForGood(name: string, crd?: string): Promise<void> {
  const labelSelector = `pkg.crossplane.io/package=${name}`;
  const revisions = (await client.list(packagePath('providerrevisions'), { labelSelector })).items;
  const names = revisions.map((one) => packagePath('providerrevisions', textAt(one, 'metadata', 'name')));
  const paths = [packagePath('providers', name), ...names, ...(crd === undefined ? [] : [crd])];
  for (const path of paths) must(await client.delete(path));
  for (const path of paths) await waitFor(async () => (await client.get(path)).code === 404, `${path} to be gone`);
}

t.test('a package that was removed for good binds no other package, and is installed again if one requires it', async (t) => {
  const crd = definitionPath('ones.below.example.org');
  const below = { name: 'below', objects: [definitionOf('ones', 'below.example.org')] };
  for (const tag of ['v1.0.0', 'v2.0.0']) await world.publish({ ...below, tag });
  await world.publish({ name: 'binds', tag: 'v1.0.0', requires: { below: '<v2.0.0' } });
  await world.publish({ name: 'above', tag: 'v1.0.0', requires: { below: '>=v2.0.0' } });
  await succeeds(t, 'binds', 'v1.0.0');
  await isRefused(t, /No version of below satisfies every package: .*binds requires <v2\.0\.0/, 'above', 'v1.0.0');
  await removeForGood('binds');
  await succeeds(t, 'above', 'v1.0.0');
  const versions = async (): Promise<readonly (readonly (string | undefined)[])[]> =>
    (await entries())
      .map((entry) => [textAt(entry, 'source'), textAt(entry, 'version')?.replace(/@.*/, '')])
      .filter(([of]) => ['below', 'binds', 'above'].map(source).includes(of ?? ''));
  const expected = [
    [source('below'), 'v2.0.0'],
    [source('binds'), 'v1.0.0'],
    [source('above'), 'v1.0.0'],
  ];
  t.same(await versions(), expected, 'the entry of the removed one is left to the user');
  await removeForGood('acme-below', crd);
  await world.publish({ name: 'top', tag: 'v1.0.0', requires: { below: '>=v2.0.0' } });
  await succeeds(t, 'top', 'v1.0.0');
  t.equal((await client.get(crd)).code, 200);
  t.same(await versions(), expected);
});

t.test('numbers go on above the highest known number after the Lock is deleted', inAllOnly, async (t) => {
  const before = await succeeds(t, 'second', 'v1.0.0');
  must(await client.delete(lockPath));
  await makeLock();
  const after = await succeeds(t, 'first', 'v1.2.0');
  t.equal(at(after, 'transactionNumber'), Number(at(before, 'transactionNumber')) + 1);
  await succeeds(t, 'second', 'v1.0.0');
  t.same((await entries()).map((entry) => textAt(entry, 'source')).sort(), [source('first'), source('second')]);
});

t.test(
  'a Lock with tags only gets a digest for each entry of which it is certain, and names the others',
  inAllOnly,
  async (t) => {
    for (const name of ['image', 'asked', 'moved', 'new']) await world.publish({ name, tag: 'v1.0.0' });
    await succeeds(t, 'image', 'v1.0.0');
    await succeeds(t, 'asked', 'v1.0.0');
    const all = await entries();
    const known = (name: string): JsonObject => all.find((entry) => textAt(entry, 'source') === source(name)) ?? {};
    const digestIn = (name: string): string => textAt(known(name), 'version')?.replace(/^.*@/, '') ?? '';
    // As Crossplane writes them.
    for (const name of ['image', 'asked'])
      must(
        await client.patch(packagePath('providerrevisions', textAt(known(name), 'name')), {
          spec: { image: `${source(name)}:v1.0.0` },
        }),
      );
    const status = { resolvedImage: `mirror.example.org/acme/image@${digestIn('image')}` };
    const revision = must(await client.get(packagePath('providerrevisions', textAt(known('image'), 'name'))));
    must(
      await client.update(packagePath('providerrevisions', `${textAt(known('image'), 'name')}/status`), { ...revision, status }),
    );
    const tagged = all.map((entry) => ({ ...entry, version: textAt(entry, 'version')?.replace(/@.*$/, '') ?? '' }));
    const others = ['moved', 'nowhere'].map((name) => ({
      ...known('image'),
      source: source(name),
      name: `${name}-000000000000`,
      version: 'v1.0.0',
      dependencies: [],
    }));
    await writeEntries([...tagged, ...others]);
    const before = await everything();
    const done = await succeeds(t, 'new', 'v1.0.0');
    const after = await entries();
    t.strictSame(after.slice(0, all.length), all, 'from the revision or the registry: as before');
    t.strictSame(after.slice(all.length, -1), others, 'the tag has moved, or is gone');
    t.equal(
      conditionIn(done, 'Installed')?.message,
      `Package installation completed successfully; the Lock has no digest of "${source('moved')}:v1.0.0", "${source('nowhere')}:v1.0.0", for neither the revision nor the registry gives the one that was installed: install these packages again`,
    );
    const made = (await everything()).filter((one) => !textAt(one, 'metadata', 'name')?.startsWith('new'));
    t.strictSame(made, before, 'no other package is written');
    await writeEntries(after.filter((entry) => !others.some(({ name }) => name === textAt(entry, 'name'))));
  },
);

t.test('the engine leaves entries unchanged after one request if their registry does not answer', inAllOnly, async (t) => {
  const asked: string[] = [];
  const entry = { apiVersion: 'pkg.crossplane.io/v1', kind: 'Provider', version: 'v1.0.0', dependencies: [] };
  const lock = ['a.example.org/x', 'a.example.org/y', 'b.example.org/x'].map((one) => ({
    ...entry,
    name: 'x-111111111111',
    source: one,
  }));
  const digest = `sha256:${'1'.repeat(64)}`;
  const registry = {
    digest: async ({ source: one }: { readonly source: string }) => {
      asked.push(one);
      const failure = { kind: 'unavailable', message: '' } as const;
      return one.startsWith('b') ? ({ kind: 'ok', digest } as const) : ({ kind: 'failed', failure } as const);
    },
  };
  const digested = await digestedByRegistries(registry as unknown as Registry, lock);
  t.same(asked, ['a.example.org/x', 'b.example.org/x']);
  t.same(
    digested.map(({ version }) => version),
    ['v1.0.0', 'v1.0.0', `v1.0.0@${digest}`],
  );
});

t.test(
  'a Lock with an entry twice, a controller that is no package, a controller that is gone: named, with what to repair',
  async (t) => {
    const all = await entries();
    await writeEntries([...all, ...all]);
    await isRefused(
      t,
      /the Lock holds .* twice; to remove the second entry: kubectl patch locks\.pkg\.crossplane\.io lock --type=json -p '.*\/packages\/\d+"}]'/,
      'second',
      'v1.0.0',
    );
    await writeEntries(all);
    const owners = await ownersOf(crdOfOnes);
    const give = async (ownerReferences: readonly JsonObject[]): Promise<JsonObject> =>
      must(await client.patch(crdOfOnes, { metadata: { ownerReferences } }));
    const uid = textAt(must(await client.get('/api/v1/namespaces/default')), 'metadata', 'uid') ?? '';
    const others = owners.map((one) => ({ ...one, controller: false }));
    await give([...others, { apiVersion: 'v1', kind: 'Namespace', name: 'default', uid, controller: true }]);
    await isRefused(
      t,
      /"Namespace" "default", which is no package: let it go first, or remove that owner reference/,
      'first',
      'v1.1.0',
    );
    // Without another owner, so that the garbage collector does not take the reference away.
    const kind = { apiVersion: 'pkg.crossplane.io/v1', kind: 'ProviderRevision' };
    await give([{ ...kind, name: 'gone-000000000000', uid: 'gone', controller: true }]);
    await isRefused(
      t,
      /"gone-000000000000", which is gone: install its package again, or remove that owner reference/,
      'first',
      'v1.1.0',
    );
    await give([]);
    await succeeds(t, 'first', 'v1.2.0');
    t.match(await controller(crdOfOnes), /^first-/);
  },
);
