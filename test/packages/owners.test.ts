// Whatever is deleted, nothing that is installed is collected: with the real garbage collector, and a history of one package transaction.
import t, { type Test } from 'tap';
import { at, isList, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { definitionPath, lockPath, packagePath, ptxPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';

t.setTimeout(1_200_000);

const world = await startPackageWorld(t);
const { client, source } = world;
await world.publish({ name: 'other', tag: 'v1.0.0', objects: [definitionOf('ones', 'other.example.org')] });
let count = 0;

async function install(name: string): Promise<string> {
  count += 1;
  const own = `${name}-${count}`;
  await world.install(own, `${source(name)}:v1.0.0`, { packageName: name });
  const status = await world.finished(own);
  if (conditionIn(status, 'Ready')?.status !== 'True') throw new Error(JSON.stringify(status));
  return own;
}

await install('other');
must(await client.patch(lockPath, { metadata: { annotations: { 'pkg.crossplane.io/transaction-history-limit': '1' } } }));

const uidAt = async (path: string): Promise<string | undefined> => textAt(must(await client.get(path)), 'metadata', 'uid');

async function isGone(path: string): Promise<void> {
  await waitFor(async () => (await client.get(path)).code === 404, `${path} to be gone`, { timeoutMs: 300_000 });
}

async function ownersAt(path: string): Promise<readonly string[]> {
  const found = at(must(await client.get(path)), 'metadata', 'ownerReferences');
  return (isList(found) ? found : []).map((one) => `${textAt(one, 'kind')} ${textAt(one, 'uid')}`);
}

/** An owner of one kind with a foreign dependent: when the dependent is collected, the collector has seen that owner's end. */
async function watchEnd(owner: {
  readonly kind: string;
  readonly version: string;
  readonly path: string;
}): Promise<() => Promise<void>> {
  count += 1;
  const [name, live] = [`watch-${count}`, must(await client.get(owner.path))];
  const reference = {
    apiVersion: `pkg.crossplane.io/${owner.version}`,
    kind: owner.kind,
    name: textAt(live, 'metadata', 'name') ?? '',
    uid: textAt(live, 'metadata', 'uid') ?? '',
  };
  const metadata = { name, ownerReferences: [reference] };
  const canary = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata, rules: [] };
  const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
  must(await client.create(roles, canary));
  return () => isGone(`${roles}/${name}`);
}

interface Installed {
  readonly name: string;
  readonly ptx: string;
  readonly revision: string;
  readonly crd: string;
  readonly provider: string;
  /** Nothing was collected or recreated; `but` names the objects that the test deleted. */
  same(t: Test, but?: string): Promise<void>;
}

/** A package with a CRD and an instance. */
async function installed(name: string): Promise<Installed> {
  const group = `${name}.example.org`;
  const digest = await world.publish({ name, tag: 'v1.0.0', objects: [definitionOf('ones', group)] });
  const ptx = await install(name);
  const object = { apiVersion: `${group}/v1beta1`, kind: 'One', metadata: { name: 'mine' } };
  must(await client.create(`/apis/${group}/v1beta1/ones`, object));
  const revision = packagePath('providerrevisions', `${name}-${digest.slice('sha256:'.length, 'sha256:'.length + 12)}`);
  const crd = definitionPath(`ones.${group}`);
  const paths = [revision, crd, `/apis/${group}/v1beta1/ones/mine`];
  const before = await Promise.all(paths.map(uidAt));
  const same = async (t: Test, but = ''): Promise<void> => {
    for (const [index, path] of paths.entries()) if (path !== but) t.equal(await uidAt(path), before[index], path);
  };
  return { name, ptx, revision, crd, provider: packagePath('providers', name), same };
}

const laterInstalls = 10;

/** Installs of another package: the history drops the package transaction with the first of them. */
async function historyDrops(ptx: string): Promise<void> {
  for (let index = 0; index < laterInstalls; index += 1) await install('other');
  await isGone(ptxPath(ptx));
}

async function remove(path: string, propagationPolicy: string): Promise<JsonObject> {
  const before = must(await client.get(path));
  must(await client.delete(path, { propagationPolicy }));
  return before;
}

const providerOwner = (path: string) => ({ kind: 'Provider', version: 'v1', path });

t.test('a Package that is deleted and applied again is the owner under its new uid', async (t) => {
  const one = await installed('again');
  const collected = await watchEnd(providerOwner(one.provider));
  const { spec = null, apiVersion = null, kind = null } = await remove(one.provider, 'Foreground');
  await isGone(one.provider);
  must(await client.create(packagePath('providers'), { apiVersion, kind, metadata: { name: one.name }, spec }));
  await collected();
  const dropped = await watchEnd({ kind: 'Transaction', version: 'v1alpha1', path: ptxPath(one.ptx) });
  await historyDrops(one.ptx);
  await dropped();
  await one.same(t);
  const ptx = await install(one.name);
  await one.same(t);
  t.same(await ownersAt(one.revision), [`Provider ${await uidAt(one.provider)}`, `Transaction ${await uidAt(ptxPath(ptx))}`]);
  t.same(await ownersAt(one.crd), [`ProviderRevision ${await uidAt(one.revision)}`, `Transaction ${await uidAt(ptxPath(ptx))}`]);
});

t.test('a Package that is deleted for good leaves its installed objects, and no absent owner', async (t) => {
  const one = await installed('good');
  await historyDrops(one.ptx);
  const collected = await watchEnd(providerOwner(one.provider));
  await remove(one.provider, 'Background');
  await collected();
  await one.same(t);
  await install('other');
  t.same(await ownersAt(one.revision), [], 'the next install of anything takes the reference away');
  await one.same(t);
  await install(one.name);
  await one.same(t);
  t.equal((await ownersAt(one.revision))[0], `Provider ${await uidAt(one.provider)}`);
});

for (const policy of ['Background', 'Foreground'])
  t.test(`a revision that is deleted in the ${policy} leaves its objects, and the next install makes it again`, async (t) => {
    const one = await installed(`revision-${policy.toLowerCase()}`);
    await historyDrops(one.ptx);
    await remove(one.revision, policy);
    await install('other');
    await isGone(one.revision);
    await one.same(t, one.revision);
    await install(one.name);
    await one.same(t, one.revision);
    t.equal((await ownersAt(one.crd))[0], `ProviderRevision ${await uidAt(one.revision)}`);
  });

t.test('a Package and its revision that are restored from a backup have new uids, and owners that are gone', async (t) => {
  const one = await installed('restored');
  const collected = await watchEnd({ kind: 'ProviderRevision', version: 'v1', path: one.revision });
  const paths = { providers: one.provider, providerrevisions: one.revision };
  const saved = await Promise.all(Object.values(paths).map((path) => remove(path, 'Background')));
  await Promise.all(Object.values(paths).map(isGone));
  for (const [index, plural] of Object.keys(paths).entries()) {
    const { apiVersion = null, kind = null, spec = null, metadata = null } = saved[index] ?? {};
    const [name, labels = {}] = [textAt(metadata, 'name') ?? '', at(metadata, 'labels')];
    const ownerReferences = at(metadata, 'ownerReferences') ?? [];
    must(await client.create(packagePath(plural), { apiVersion, kind, spec, metadata: { name, labels, ownerReferences } }));
  }
  const restored = await uidAt(one.revision);
  await collected();
  await historyDrops(one.ptx);
  await one.same(t, one.revision);
  t.equal(await uidAt(one.revision), restored);
  await install(one.name);
  await one.same(t, one.revision);
  t.equal((await ownersAt(one.revision))[0], `Provider ${await uidAt(one.provider)}`);
  t.equal((await ownersAt(one.crd))[0], `ProviderRevision ${restored}`);
});

t.test('a package transaction that is deleted in the foreground is the last owner of nothing', async (t) => {
  const one = await installed('last');
  const collected = await watchEnd(providerOwner(one.provider));
  await remove(one.provider, 'Background');
  await collected();
  await remove(ptxPath(one.ptx), 'Foreground');
  await isGone(ptxPath(one.ptx));
  await one.same(t);
  t.same(await ownersAt(one.revision), []);
});
