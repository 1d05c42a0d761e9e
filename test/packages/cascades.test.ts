// Packages, revisions and package transactions are deleted in the foreground, in the background and with orphans: alone, one after another
// and at once, while the hook is up, down, or killed in between. The garbage collector is the real one. Every CRD and every instance stays
// until a Delete deletes its package.
import t, { type Test } from 'tap';
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { startInTurn } from '../support/in-turn.ts';
import { definitionPath, lockPath, packagePath, ptxPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';

t.setTimeout(1_800_000);

const world = await startPackageWorld(t, { isByHand: true });
const { client, source } = world;
let hook = await world.startHook();
const front = await startInTurn(() => [hook.url]);
t.teardown(() => front.close());
await world.startPackageLoop(front.address);

const policies = ['Foreground', 'Background', 'Orphan'] as const;
const modes = ['up', 'down', 'killed'] as const;
const ways = {
  package: [['provider']],
  revision: [['revision']],
  transaction: [['ptx']],
  turns: [['provider'], ['revision'], ['ptx']],
  together: [['provider', 'revision', 'ptx']],
} as const;

type Owner = 'provider' | 'revision' | 'ptx';

interface Installed {
  readonly name: string;
  readonly mode: (typeof modes)[number];
  readonly policy: (typeof policies)[number];
  readonly way: keyof typeof ways;
  readonly paths: Readonly<Record<Owner, string>>;
  readonly staying: readonly string[];
  /** Their uids before the deletions. */
  readonly before: readonly (string | undefined)[];
}

const patience = { timeoutMs: 300_000 };
const uidAt = async (path: string): Promise<string | undefined> => textAt((await client.get(path)).body, 'metadata', 'uid');

async function isGone(path: string): Promise<void> {
  await waitFor(async () => (await client.get(path)).code === 404, `${path} to be gone`, patience);
}

let count = 0;

async function install(name: string): Promise<string> {
  count += 1;
  const ptx = `${name}-${count}`;
  await world.install(ptx, `${source(name)}:v1.0.0`, { packageName: name });
  const status = await world.finished(ptx);
  if (conditionIn(status, 'Ready')?.status !== 'True') throw new Error(JSON.stringify(status));
  return ptx;
}

async function installed({ mode, policy, way }: Pick<Installed, 'mode' | 'policy' | 'way'>): Promise<Installed> {
  const name = `${way}-${policy}-${mode}`.toLowerCase();
  const group = `${name}.example.org`;
  const digest = await world.publish({ name, tag: 'v1.0.0', objects: [definitionOf('ones', group)] });
  const ptx = await install(name);
  const object = { apiVersion: `${group}/v1beta1`, kind: 'One', metadata: { name: 'mine' } };
  const instances = `/apis/${group}/v1beta1/ones`;
  await waitFor(async () => [201, 409].includes((await client.create(instances, object)).code), 'an instance to be created');
  const paths = {
    provider: packagePath('providers', name),
    revision: packagePath('providerrevisions', `${name}-${digest.slice(7, 19)}`),
    ptx: ptxPath(ptx),
  };
  const staying = [definitionPath(`ones.${group}`), `${instances}/mine`];
  return { name, mode, policy, way, paths, staying, before: await Promise.all(staying.map(uidAt)) };
}

const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';

/** Makes one more dependent of the owner. Once the collector has deleted the dependent, it has tried all dependents of the owner. */
async function ownToo(path: string): Promise<string> {
  count += 1;
  const [name, live] = [`owned-${count}`, must(await client.get(path))];
  const [kind, apiVersion] = [textAt(live, 'kind') ?? '', textAt(live, 'apiVersion') ?? ''];
  const owner = { kind, apiVersion, name: textAt(live, 'metadata', 'name') ?? '', uid: textAt(live, 'metadata', 'uid') ?? '' };
  const metadata = { name, ownerReferences: [{ ...owner, blockOwnerDeletion: true }] };
  must(await client.create(roles, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata, rules: [] }));
  return `${roles}/${name}`;
}

/** Deletes the owners. Returns the dependents of `ownToo`, by owner. */
async function remove({ paths, policy: propagationPolicy, way }: Installed): Promise<readonly (readonly [Owner, string])[]> {
  const collected: (readonly [Owner, string])[] = [];
  for (const together of ways[way]) {
    for (const owner of together) collected.push([owner, await ownToo(paths[owner])]);
    await Promise.all(together.map(async (owner) => must(await client.delete(paths[owner], { propagationPolicy }))));
  }
  return propagationPolicy === 'Orphan' ? [] : collected;
}

async function unharmed(t: Test, all: readonly Installed[], when: string): Promise<void> {
  for (const one of all) t.same(await Promise.all(one.staying.map(uidAt)), one.before, `${one.name}, ${when}`);
}

await world.publish({ name: 'other', tag: 'v1.0.0' });
await install('other');
const limit = 'pkg.crossplane.io/transaction-history-limit';
must(await client.patch(lockPath, { metadata: { annotations: { [limit]: '0' } } }));
const all: Installed[] = [];
for (const mode of modes)
  for (const policy of policies)
    for (const way of Object.keys(ways) as (keyof typeof ways)[]) all.push(await installed({ mode, policy, way }));

for (const mode of modes)
  t.test(
    `the hook is ${mode}: no deletion of a Package, a revision or a package transaction deletes a CRD or an instance`,
    async (t) => {
      const own = all.filter((one) => one.mode === mode);
      if (mode === 'down') await hook.kill();
      const removals = own.map(remove);
      if (mode === 'killed') {
        await Promise.race(removals);
        await hook.kill();
      }
      const collected = (await Promise.all(removals)).flat();
      // A package transaction goes only with the hook. In the foreground the collector begins before.
      const early = mode === 'down' ? collected.filter(([owner]) => owner !== 'ptx') : [];
      await Promise.all(early.map(([, path]) => isGone(path)));
      if (mode === 'down') await unharmed(t, own, 'before the hook is back');
      if (mode !== 'up') hook = await world.startHook();
      await Promise.all(collected.map(([, path]) => isGone(path)));
      const gone = own.filter(({ way }) => ways[way].flat().includes('ptx' as never));
      await Promise.all(gone.map(({ paths }) => isGone(paths.ptx)));
      await unharmed(t, own, 'at the end');
    },
  );

t.test('the next installs remove the references to former owners, the history goes, and everything stays', async (t) => {
  must(await client.patch(lockPath, { metadata: { annotations: { [limit]: '1' } } }));
  for (let round = 0; round < 4; round += 1) await install('other');
  const deleted = all.filter(({ way }) => way === 'revision' || way === 'turns' || way === 'together');
  await Promise.all(deleted.map(({ paths }) => isGone(paths.revision)));
  const left = async (): Promise<number> => (await client.list(ptxPath())).items.length;
  await waitFor(async () => (await left()) === 1, 'the history to go', patience);
  await unharmed(t, all, 'after the next installs');
});

t.test('a package that is installed again is deleted by a Delete: its CRD goes, and no other', async (t) => {
  const [first, ...others] = all.filter(({ policy }) => policy === 'Foreground');
  if (first === undefined) throw new Error('nothing is installed');
  await install(first.name);
  await unharmed(t, all, 'after the install');
  must(await client.delete(first.staying[1] ?? ''));
  await isGone(first.staying[1] ?? '');
  const object: JsonObject = { apiVersion: 'pkg.crossplane.io/v1alpha1', kind: 'Transaction', metadata: { name: 'gone' } };
  must(await client.create(ptxPath(), { ...object, spec: { change: 'Delete', delete: { source: source(first.name) } } }));
  t.equal(conditionIn(await world.finished('gone'), 'Ready')?.status, 'True');
  await isGone(first.staying[0] ?? '');
  await unharmed(t, others, 'after a Delete of another package');
});
