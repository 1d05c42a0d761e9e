// An idle cluster of a hundred Packages that make their own package transactions: Metacontroller lists everything again and calls about
// each object, and no client writes. One package transaction installs all Packages.
import t from 'tap';
import { optedIn } from '../../hooks/crossplane/model/own.ts';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { hookToken } from '../support/hook-token.ts';
import { findMetacontroller } from '../support/metacontroller/binary.ts';
import { type MetacontrollerOptions, startMetacontroller } from '../support/metacontroller/double.ts';
import { ownFinalizer, startOwnLoops } from '../support/package-loops.ts';
import { definitionPath, kinds, lockPath, packagePath, ptxPath, stagesPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';

t.setTimeout(3_600_000);

const count = 100;
/** How often all controllers list their objects again, and call about each of them. */
const rounds = 3;
const patience = { timeoutMs: 1_800_000 };

const world = await startPackageWorld(t, { isBalanced: true, environment: { JANUS_PACKAGES_OWN: 'annotated' } });
const { client, source, address } = world;
const { kubeconfig } = world.plane;
/** With the real Metacontroller if METACONTROLLER names it, or if it is on PATH. */
const isReal = findMetacontroller() !== undefined;
const loops = await startOwnLoops(t, { kubeconfig, hookUrls: [address], isReal });

const others = Array.from({ length: count - 1 }, (_, index) => `idle${index}`);
for (const name of others) await world.publish({ name, tag: 'v1.0.0', objects: [definitionOf('ones', `${name}.org`)] });
const requires = Object.fromEntries(others.map((name) => [name, '>=v1.0.0']));
await world.publish({ name: 'all', tag: 'v1.0.0', requires });

const list = async (path: string): Promise<readonly JsonObject[]> => (await client.list(path)).items;
const providers = () => list(packagePath('providers'));
const nameOf = (object: JsonObject): string => textAt(object, 'metadata', 'name') ?? '';

/** Resource versions of all that controllers could write. */
async function versions(): Promise<readonly string[]> {
  const configMaps = '/api/v1/namespaces/janus-packages/configmaps';
  const paths = [...kinds.map((plural) => packagePath(plural)), lockPath.replace(/\/lock$/, ''), ptxPath(), definitionPath()];
  const lists = await Promise.all([...paths, stagesPath, configMaps].map(list));
  return lists.flat().map((one) => `${nameOf(one)} ${at(one, 'metadata', 'resourceVersion')}`);
}

/** Others renew Leases. Metacontroller writes Events when it starts. */
const isWrite = (line: string): boolean =>
  /^apiserver_request_total\{/.test(line) &&
  /verb="(POST|PUT|PATCH|DELETE|DELETECOLLECTION|APPLY)"/.test(line) &&
  /group="(|pkg\.crossplane\.io|apiextensions\.k8s\.io|tx\.janus\.io)"/.test(line) &&
  !/resource="events"|subresource="token"/.test(line);

/** Write requests by resource, whether the API server accepts them or not. */
async function writeRequests(): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const line of (await client.get('/metrics')).text.split('\n').filter(isWrite)) {
    const [, verb, resource] = [/./, /verb="(\w+)"/, /[{,]resource="(\w+)"/].map((one) => one.exec(line)?.[1]);
    const key = `${verb} ${resource} ${/subresource="(\w+)"/.exec(line)?.[1] ?? ''}`;
    counts[key] = (counts[key] ?? 0) + Number(line.split(' ').at(-1));
  }
  return counts;
}

/** The controllers of package transactions and of their stages list their objects again. */
async function startOthers() {
  const start = (more: Partial<MetacontrollerOptions>) =>
    startMetacontroller({ kubeconfig, hookUrl: address, token: hookToken, workers: 50, ...more });
  const parentResource = { apiVersion: 'pkg.crossplane.io/v1alpha1', resource: 'transactions' };
  const [stages, packages] = await Promise.all([
    start({ name: 'janus' }),
    start({ hookUrl: `${address}/packages`, name: 'janus-packages', parentResource, customize: true }),
  ]);
  return { packages, stop: () => Promise.all([stages.stop(), packages.stop()]) };
}

/** All controllers list their objects again, and call about each object. */
async function resync(): Promise<void> {
  const former = loops.calls().length;
  await loops.restart();
  const { packages, stop } = await startOthers();
  const expected = [
    ...(await providers()).map((one) => `own /sync ${nameOf(one)}`),
    ...(await list(ptxPath())).map((one) => `packages /sync ${nameOf(one)}`),
  ];
  const areCalled = (): boolean => {
    const calls = [
      ...loops
        .calls()
        .slice(former)
        .map((one) => `own ${one}`),
      ...packages.calls.map(({ path, parent }) => `packages ${path} ${parent.name}`),
    ];
    const called = new Set(calls);
    return expected.every((one) => called.has(one));
  };
  await waitFor(areCalled, 'a call about each object', patience);
  await stop();
}

const settled = async (): Promise<boolean> => {
  const found = await providers();
  const open = found.filter(
    (one) =>
      !JSON.stringify(at(one, 'metadata', 'finalizers') ?? []).includes(ownFinalizer) ||
      conditionIn(statusOf(one), 'Installed')?.reason !== 'ActivePackageRevision',
  );
  const transactions = (await list(ptxPath())).map(statusOf);
  const running = transactions.filter(({ phase }) => phase !== 'Succeeded');
  if (found.length === count && open.length + running.length === 0) return true;
  throw new Error(
    `${found.length} Packages, ${open.map(nameOf)}; ${JSON.stringify(running.map(({ conditions }) => conditions))}`,
  );
};

/** Its stages go at once, not ten minutes after its end. A package transaction without stages stays: a plan. */
async function withoutStages(): Promise<void> {
  await world.install('plan', `${source('all')}:v1.0.0`, { packageName: 'all', dryRun: true });
  await world.finished('plan');
  const made = (await list(ptxPath())).find((one) => nameOf(one) !== 'plan') ?? {};
  must(await client.delete(ptxPath(nameOf(made))));
  const isGone = async (): Promise<boolean> => (await list(ptxPath())).length === 1 && (await list(stagesPath)).length === 0;
  await waitFor(isGone, 'the package transaction and its stages to go', patience);
  const uid = textAt(made, 'metadata', 'uid') ?? '';
  const areFree = async (): Promise<boolean> => {
    const owned = await Promise.all([packagePath('providerrevisions'), definitionPath()].map(list));
    return !JSON.stringify(owned.flat().map((one) => at(one, 'metadata', 'ownerReferences'))).includes(uid);
  };
  await waitFor(areFree, 'the garbage collector to remove the references to it', patience);
}

t.test('a hundred Packages are installed by one package transaction, and then no client writes', async (t) => {
  const metadata = { name: 'all', annotations: optedIn };
  const object = { apiVersion: 'pkg.crossplane.io/v1', kind: 'Provider', metadata, spec: { package: `${source('all')}:v1.0.0` } };
  must(await client.create(packagePath('providers'), object));
  await waitFor(settled, 'a hundred Packages to be installed', patience);
  t.equal((await list(ptxPath())).length, 1, 'one package transaction');
  await withoutStages();
  await waitFor(settled, 'nothing to change', patience);
  const [before, requests] = [await versions(), await writeRequests()];
  t.ok((requests['PUT providers status'] ?? 0) >= count, JSON.stringify(requests));
  for (let round = 0; round < rounds; round += 1) await resync();
  t.same(await versions(), before);
  t.same(await writeRequests(), requests);
});
