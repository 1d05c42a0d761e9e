// A tree of a Configuration, a Provider and a Function fails at each write of its plan, as a first install and as an update with live
// instances: everything is as it was. A policy refuses the write, and not its dry run.
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must } from '../support/client.ts';
import { extensionPaths, extensionPlural, extensions, servedExtensions, serveExtensions } from '../support/extensions.ts';
import { startPackageAdmission } from '../support/package-admission.ts';
import { definitionPath, kinds, lockPath, packagePath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';
import { share } from '../support/selection.ts';
import { comparable } from '../support/stage.ts';

t.setTimeout(3_600_000);

/** Every which write is refused, beginning with the first one: 1 refuses each of them. The last one is refused always. */
const every = Number(process.env.JANUS_PACKAGES_EACH ?? '34');

const world = await startPackageWorld(t);
const { client, source } = world;
const plurals = ['buckets', 'disks', 'files', 'keys', 'queues', 'topics'];
const group = 'store.example.org';
const instancePath = (plural: string, name = ''): string => `/apis/${group}/v1beta1/${plural}${name === '' ? '' : `/${name}`}`;

/** Version 1.N.0 of the three packages: with N fields in each kind. */
async function publish(minor: number): Promise<void> {
  const tag = `v1.${minor}.0`;
  const constraint = `>=${tag}`;
  const names = Array.from({ length: minor + 1 }, (_, index) => `field${index}`);
  const schema = { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) };
  const extension = (index: number, name: string, spec: JsonObject): JsonObject => {
    const [version, kind] = servedExtensions[index] ?? [];
    return { apiVersion: `${extensions}/${version}`, kind: kind ?? '', metadata: { name }, spec };
  };
  const composite = (definitionOf('shops', 'platform.example.org', schema) as JsonObject).spec as JsonObject;
  const managed = (definitionOf('drives', group, schema) as JsonObject).spec as JsonObject;
  const steps = names.map((step) => ({ step, functionRef: { name: 'acme-render' } }));
  await world.publish({ kind: 'Function', name: 'render', tag, objects: [definitionOf('inputs', 'render.example.org', schema)] });
  const objects = [...plurals.map((plural) => definitionOf(plural, group, schema)), extension(2, `drives.${group}`, managed)];
  await world.publish({ name: 'store', tag, objects });
  await world.publish({
    kind: 'Configuration',
    name: 'platform',
    tag,
    requires: { store: constraint, render: constraint },
    objects: [
      extension(0, 'shops.platform.example.org', composite),
      extension(1, 'shop', { compositeTypeRef: { apiVersion: 'platform.example.org/v1beta1', kind: 'Shop' }, pipeline: steps }),
    ],
  });
}

const install = (name: string, minor: number): Promise<JsonObject> =>
  world.install(name, `${source('platform')}:v1.${minor}.0`, { kind: 'Configuration', packageName: 'platform', retryLimit: 1 });

/** Everything that the three packages could have touched. */
async function everything(): Promise<ReadonlyMap<string, string>> {
  const paths = [definitionPath(), ...kinds.map((plural) => packagePath(plural)), ...extensionPaths];
  const lists = await Promise.all(
    paths.map(async (path) => (await client.list(path)).items.map((item) => [path, item] as const)),
  );
  return new Map(
    lists.flat().map(([path, object]) => [`${path}/${textAt(object, 'metadata', 'name')}`, JSON.stringify(comparable(object))]),
  );
}

/** Whole objects, with their versions: no client has written to them. Empty where their kind is not installed. */
async function instances(): Promise<readonly JsonObject[]> {
  const found = await Promise.all(plurals.map((plural) => client.get(instancePath(plural, 'mine'))));
  return found.filter(({ code }) => code === 200).map(must);
}

async function labelled(name: string): Promise<readonly string[]> {
  const paths = [definitionPath(), ...kinds.map((plural) => packagePath(plural)), ...extensionPaths];
  const found = paths.map(
    async (path) => (await client.list(path, { labelSelector: `pkg.crossplane.io/transaction=${name}` })).items,
  );
  return (await Promise.all(found)).flat().map((item) => `${textAt(item, 'kind')} ${textAt(item, 'metadata', 'name')}`);
}

const admission = await startPackageAdmission(client, t, [extensions]);

/** Refuses the write at this position, and again when it is repeated; returns the writes up to it, as they come. */
function refuseAt(position: number): readonly string[] {
  const writes: string[] = [];
  admission.decide(({ resource, name, operation, dryRun }) => {
    if (dryRun || ['locks', 'transactions'].includes(resource)) return undefined;
    const write = `${operation} ${resource} ${name}`;
    if (!writes.includes(write) && writes.length <= position) writes.push(write);
    return writes[position] === write ? { code: 403, message: 'not today' } : undefined;
  });
  return writes;
}

/** How many writes the install makes: it is tried without a policy. */
async function succeed(t: Test, name: string, minor: number): Promise<readonly string[]> {
  const writes = refuseAt(Number.POSITIVE_INFINITY);
  await install(name, minor);
  const status = await world.finished(name);
  t.equal(conditionIn(status, 'Ready')?.reason, 'TransactionComplete', JSON.stringify(status));
  return writes;
}

async function failAt(t: Test, { name, minor, position }: { name: string; minor: number; position: number }): Promise<void> {
  const [before, mine] = await Promise.all([everything(), instances()]);
  const packages = at(must(await client.get(lockPath)), 'packages');
  const writes = refuseAt(position);
  await install(name, minor);
  const status = await world.finished(name);
  const refused = writes[position] ?? '';
  const expected = refused.includes(' customresourcedefinitions ') ? 'CRDInstallationFailed' : 'InstallationFailed';
  t.equal(conditionIn(status, 'Installed')?.reason, expected, `${refused || 'nothing was refused'}: ${JSON.stringify(status)}`);
  const now = await everything();
  const changed = [...new Set([...before.keys(), ...now.keys()])].filter((one) => before.get(one) !== now.get(one));
  for (const one of changed) t.equal(now.get(one), before.get(one), `${refused}: ${one}`);
  t.strictSame(await instances(), mine, `${refused}: instances`);
  t.strictSame(at(must(await client.get(lockPath)), 'packages'), packages, `${refused}: the Lock`);
  t.same(await labelled(name), [], `${refused}: labels of the failed try`);
}

/** Those that are refused: the first, each `every`th, and the last. */
const positionsOf = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => index).filter((index) => index % every === 0 || index === count - 1);

await serveExtensions(client);
// The Lock is there before, so that a failed first install leaves it as it was. No history is cut: with the first install its owner
// references would go.
must(
  await client.create('/apis/pkg.crossplane.io/v1beta1/locks', {
    apiVersion: 'pkg.crossplane.io/v1beta1',
    kind: 'Lock',
    metadata: { name: 'lock', annotations: { 'pkg.crossplane.io/transaction-history-limit': '0' } },
    packages: [],
  }),
);

// Three packages, three revisions, six CRDs, three other objects, three revisions that become Active.
const firstWrites = 18;

t.test('b: a first install of three packages that fails at each of its writes', async (t) => {
  await publish(0);
  for (const position of positionsOf(firstWrites).slice(0, share(1, firstWrites)))
    await failAt(t, { name: `first-${position}`, minor: 0, position });
  const writes = await succeed(t, 'first', 0);
  t.equal(writes.length, firstWrites, writes.join('\n'));
  t.same(
    writes.map((write) => write.split(' ').slice(0, 2).join(' ')).toSorted(),
    [
      ...['configurations', 'providers', 'functions'].map((plural) => `CREATE ${plural}`),
      ...['configuration', 'provider', 'function'].flatMap((kind) => [`CREATE ${kind}revisions`, `UPDATE ${kind}revisions`]),
      ...plurals.map(() => 'CREATE customresourcedefinitions'),
      ...servedExtensions.map(([, kind]) => `CREATE ${extensionPlural(kind)}`),
    ].toSorted(),
  );
  t.equal((await client.get(definitionPath('inputs.render.example.org'))).code, 404, 'CRDs of a Function are not installed');
});

t.test('b: an update of three packages with live instances that fails at each of its writes', async (t) => {
  for (const plural of plurals) {
    const kind = textAt(definitionOf(plural, group) as JsonObject, 'spec', 'names', 'kind') ?? '';
    const object = { apiVersion: `${group}/v1beta1`, kind, metadata: { name: 'mine' }, spec: { field0: 'kept' } };
    must(await client.create(instancePath(plural), object));
  }
  await publish(1);
  // The same writes, and the former revisions become Inactive.
  const count = firstWrites + 3;
  const before = await instances();
  for (const position of positionsOf(count)) await failAt(t, { name: `second-${position}`, minor: 1, position });
  const writes = await succeed(t, 'second', 1);
  t.equal(writes.length, count, writes.join('\n'));
  t.equal(before.length, plurals.length);
  t.strictSame(await instances(), before);
});
