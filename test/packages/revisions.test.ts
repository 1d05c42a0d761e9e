// What the spec of a package says about its revisions: how many stay, who activates them, and which labels and annotations their objects
// get.
import t, { type Test } from 'tap';
import { at, type JsonObject, objectsAt, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { definitionPath, lockPath, packagePath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';

t.setTimeout(600_000);

const world = await startPackageWorld(t);
const { client, source } = world;
const digests = new Map<string, string>();

/** Versions v1.0.0, v1.1.0 and so on; each has another description, and `leaves` is in the first one only. */
async function publish(name: string, count: number, leaves: readonly string[] = []): Promise<void> {
  for (let minor = 0; minor < count; minor += 1) {
    const schema = { type: 'object', description: `v1.${minor}.0` };
    const plurals = minor === 0 ? ['ones', ...leaves] : ['ones'];
    const objects = plurals.map((plural) => definitionOf(plural, `${name}.example.org`, schema));
    digests.set(`${name} ${minor}`, await world.publish({ name, tag: `v1.${minor}.0`, objects }));
  }
}

let count = 0;

async function installed(name: string, minor: number, spec: JsonObject = {}): Promise<JsonObject> {
  count += 1;
  const ptx = `${name}-${count}`;
  await world.install(ptx, `${source(name)}:v1.${minor}.0`, { packageName: name, retryLimit: 1, spec });
  return world.finished(ptx);
}

const done = (t: Test, status: JsonObject): void => {
  t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
};

const nameOf = (name: string, minor: number): string => `${name}-${digests.get(`${name} ${minor}`)?.slice(7, 19)}`;

/** The versions whose revision is there, with its state. */
async function revisions(name: string): Promise<Readonly<Record<string, string>>> {
  const { items } = await client.list(packagePath('providerrevisions'), { labelSelector: `pkg.crossplane.io/package=${name}` });
  const going = items.filter((one) => at(one, 'metadata', 'deletionTimestamp') === undefined);
  const versions = [...digests.keys()].filter((key) => key.startsWith(`${name} `)).map((key) => Number(key.split(' ')[1]));
  return Object.fromEntries(
    going.map((one) => {
      const minor = versions.find((version) => nameOf(name, version) === textAt(one, 'metadata', 'name'));
      return [`v1.${minor}.0`, textAt(one, 'spec', 'desiredState') ?? ''];
    }),
  );
}

async function ownersOf(crd: string): Promise<readonly string[]> {
  const owners = objectsAt(must(await client.get(definitionPath(crd))), 'metadata', 'ownerReferences');
  return owners
    .filter((owner) => owner.kind === 'ProviderRevision')
    .map((owner) => `${textAt(owner, 'name')}${owner.controller === true ? ' controls' : ''}`);
}

async function makeInstance(name: string, plural: string): Promise<string> {
  const path = `/apis/${name}.example.org/v1beta1/${plural}`;
  const kind = `${plural.charAt(0).toUpperCase()}${plural.slice(1, -1)}`;
  const object = { apiVersion: `${name}.example.org/v1beta1`, kind, metadata: { name: 'mine' } };
  await waitFor(async () => [201, 409].includes((await client.create(path, object)).code), 'an instance to be created');
  return `${path}/mine`;
}

const uidAt = async (path: string): Promise<string | undefined> => textAt(must(await client.get(path)), 'metadata', 'uid');

t.test('revisionHistoryLimit: one Inactive revision stays, and the objects that a former one has left out', async (t) => {
  await publish('usual', 4, ['olds']);
  done(t, await installed('usual', 0));
  const paths = [
    await makeInstance('usual', 'ones'),
    await makeInstance('usual', 'olds'),
    definitionPath('olds.usual.example.org'),
  ];
  const before = await Promise.all(paths.map(uidAt));
  done(t, await installed('usual', 1));
  t.same(await revisions('usual'), { 'v1.0.0': 'Inactive', 'v1.1.0': 'Active' });
  t.same(await ownersOf('olds.usual.example.org'), [nameOf('usual', 0)]);
  done(t, await installed('usual', 2));
  t.same(await revisions('usual'), { 'v1.1.0': 'Inactive', 'v1.2.0': 'Active' });
  t.same(await ownersOf('olds.usual.example.org'), [], 'before the revision goes, its reference goes');
  done(t, await installed('usual', 3));
  t.same(await revisions('usual'), { 'v1.2.0': 'Inactive', 'v1.3.0': 'Active' });
  t.same(await Promise.all(paths.map(uidAt)), before, 'definitions and instances stay');
  done(t, await installed('usual', 2));
  t.same(await revisions('usual'), { 'v1.2.0': 'Active', 'v1.3.0': 'Inactive' }, 'the one that was left is activated again');
});

t.test('revisionHistoryLimit: 0 keeps all, 2 keeps two', async (t) => {
  await publish('all', 4);
  for (const minor of [0, 1, 2]) done(t, await installed('all', minor, { revisionHistoryLimit: 0 }));
  t.same(Object.keys(await revisions('all')).sort(), ['v1.0.0', 'v1.1.0', 'v1.2.0']);
  done(t, await installed('all', 3, { revisionHistoryLimit: 2 }));
  t.same(Object.keys(await revisions('all')).sort(), ['v1.1.0', 'v1.2.0', 'v1.3.0']);
});

t.test(
  'revisionActivationPolicy: Manual installs an Inactive revision; made Active by hand, a package transaction hands control over',
  async (t) => {
    await publish('manual', 2);
    const manual = { revisionActivationPolicy: 'Manual' };
    const lockOf = async (): Promise<readonly string[]> =>
      objectsAt(must(await client.get(lockPath)), 'packages')
        .filter((one) => one.source === source('manual'))
        .map((one) => textAt(one, 'name') ?? '');
    const activate = async (minor: number): Promise<void> => {
      must(await client.patch(packagePath('providerrevisions', nameOf('manual', minor)), { spec: { desiredState: 'Active' } }));
    };
    const first = await installed('manual', 0, manual);
    done(t, first);
    t.match(
      conditionIn(first, 'Installed')?.message,
      new RegExp(`ProviderRevision ${nameOf('manual', 0)} is Inactive, since .* is Manual: set its spec.desiredState to Active`),
    );
    t.same(await revisions('manual'), { 'v1.0.0': 'Inactive' });
    t.equal((await client.get(definitionPath('ones.manual.example.org'))).code, 404);
    t.same(await lockOf(), []);
    t.same(at(first, 'proposedLockPackages'), at(must(await client.get(lockPath)), 'packages'));
    await activate(0);
    done(t, await installed('manual', 0, manual));
    t.same(await lockOf(), [nameOf('manual', 0)]);
    t.same(await ownersOf('ones.manual.example.org'), [`${nameOf('manual', 0)} controls`]);
    const mine = await makeInstance('manual', 'ones');
    const before = await uidAt(mine);

    done(t, await installed('manual', 1, manual));
    t.same(await revisions('manual'), { 'v1.0.0': 'Active', 'v1.1.0': 'Inactive' });
    t.same(await lockOf(), [nameOf('manual', 0)], 'the Lock holds what is Active');
    t.same(await ownersOf('ones.manual.example.org'), [`${nameOf('manual', 0)} controls`]);
    await activate(1);
    done(t, await installed('manual', 1, manual));
    t.same(await revisions('manual'), { 'v1.0.0': 'Inactive', 'v1.1.0': 'Active' });
    t.same(await lockOf(), [nameOf('manual', 1)]);
    t.same(await ownersOf('ones.manual.example.org'), [nameOf('manual', 0), `${nameOf('manual', 1)} controls`]);
    t.equal(await uidAt(mine), before);
  },
);

t.test('commonLabels and commonAnnotations are on all objects of the revision, over those of the package', async (t) => {
  const object = definitionOf('ones', 'common.example.org') as JsonObject;
  const labels = { team: 'theirs', kept: 'yes' };
  const labelled = {
    ...object,
    metadata: { ...(at(object, 'metadata') as JsonObject), labels, annotations: { note: 'theirs' } },
  };
  await world.publish({ name: 'common', tag: 'v1.0.0', objects: [labelled, definitionOf('twos', 'common.example.org')] });
  const spec = {
    commonLabels: { team: 'ours', 'pkg.crossplane.io/transaction': 'other' },
    commonAnnotations: { note: 'ours' },
  };
  done(t, await installed('common', 0, spec));
  for (const plural of ['ones', 'twos']) {
    const live = must(await client.get(definitionPath(`${plural}.common.example.org`)));
    t.match(at(live, 'metadata', 'labels'), { team: 'ours', 'pkg.crossplane.io/transaction': `common-${count}` });
    t.equal(textAt(live, 'metadata', 'annotations', 'note'), 'ours');
  }
  t.equal(textAt(must(await client.get(definitionPath('ones.common.example.org'))), 'metadata', 'labels', 'kept'), 'yes');
  const refused = await installed('common', 0, { commonLabels: { team: 'not a label!' } });
  t.match(conditionIn(refused, 'Validated'), { status: 'False', reason: 'DryRunFailed', message: /a valid label/ });
});
