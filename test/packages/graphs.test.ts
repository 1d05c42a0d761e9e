// Generated graphs of packages with instances, on the real API server: a Delete deletes exactly its package with its revisions and its CRDs,
// or it is refused for the right reason and changes nothing. Packages require only packages before them, at the versions that exist, so
// each graph can be installed.
//
// `JANUS_PACKAGES_GRAPHS=100 npm test -- test/packages/graphs.test.ts` tries a hundred. JANUS_TEST_SEED=<seed> repeats them.
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { at, type JsonObject, objectsAt, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { createDriver } from '../support/package-driver.ts';
import { definitionPath, kinds, lockPath, packagePath, ptxPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';

t.setTimeout(21_600_000);

const seed = Number(process.env.JANUS_TEST_SEED ?? 20_261_127);
const count = Number(process.env.JANUS_PACKAGES_GRAPHS ?? 10);

const world = await startPackageWorld(t, { isByHand: true });
const { client, source } = world;
const driver = createDriver(t, world);

interface Node {
  readonly version: string;
  /** Numbers of packages before it, each with the beginning of a constraint on its version. */
  readonly requires: readonly { readonly number: number; readonly constraint: string }[];
  /** The plurals of its CRDs. */
  readonly plurals: readonly string[];
  /** Those of its CRDs that have an instance. */
  readonly used: readonly string[];
}

interface Graph {
  readonly nodes: readonly Node[];
  /** Numbers of packages in the order of their Deletes. */
  readonly deletes: readonly number[];
}

const numbersTo = (size: number): readonly number[] => Array.from({ length: size }, (_, number) => number);
const plurals = ['ones', 'twos'];

/** Some of the values, seldom none. */
function someOf<Value>(values: readonly Value[], most: number): fc.Arbitrary<readonly Value[]> {
  const maxLength = Math.min(values.length, most);
  const some = fc.subarray([...values], { minLength: Math.min(maxLength, 1), maxLength });
  return fc.oneof({ weight: 3, arbitrary: some }, { weight: 1, arbitrary: fc.constant([]) });
}

function nodeOf(number: number): fc.Arbitrary<Node> {
  const constraint = fc.constantFrom('>=', '=', '^', '~');
  const requires = someOf(numbersTo(number), 3).chain((numbers) =>
    fc.tuple(...numbers.map((one) => fc.record({ number: fc.constant(one), constraint }))),
  );
  return fc
    .record({ version: fc.constantFrom('v1.0.0', 'v1.2.3', 'v2.0.1'), requires, plurals: someOf(plurals, 2) })
    .chain((node) => fc.subarray([...node.plurals]).map((used) => ({ ...node, used })));
}

const graphs: fc.Arbitrary<Graph> = fc.integer({ min: 3, max: 6 }).chain((size) =>
  fc.record({
    nodes: fc.tuple(...numbersTo(size).map(nodeOf)),
    deletes: fc.shuffledSubarray([...numbersTo(size)], { minLength: 2, maxLength: 3 }),
  }),
);

/** A generated graph in the cluster. */
interface Installed {
  readonly id: string;
  readonly nodes: readonly Node[];
  /** Numbers of packages that are installed. */
  readonly present: Set<number>;
  /** Paths of instances, by their package. */
  readonly instances: Map<number, readonly string[]>;
}

const nameOf = ({ id }: Installed, number: number): string => `${id}-${number}`;
/** The hook names dependencies by their repository. */
const packageNameOf = (graph: Installed, number: number): string => `acme-${nameOf(graph, number)}`;
const groupOf = (graph: Installed, number: number): string => `${nameOf(graph, number)}.org`;

function requirersOf({ nodes, present }: Installed, number: number): readonly number[] {
  return [...present].filter((one) => nodes[one]?.requires.some((required) => required.number === number));
}

async function publish(graph: Installed): Promise<void> {
  for (const [number, { version, requires, plurals }] of graph.nodes.entries()) {
    const constraints = requires.map((one) => [
      nameOf(graph, one.number),
      `${one.constraint}${graph.nodes[one.number]?.version}`,
    ]);
    const objects = plurals.map((plural) => definitionOf(plural, groupOf(graph, number)));
    await world.publish({ name: nameOf(graph, number), tag: version, requires: Object.fromEntries(constraints), objects });
  }
}

/** Packages that no other package requires bring all others. */
async function install(t: Test, graph: Installed): Promise<void> {
  for (const [number, { version }] of graph.nodes.entries()) {
    if (requirersOf(graph, number).length > 0) continue;
    const ptx = nameOf(graph, number);
    await world.install(ptx, `${source(ptx)}:${version}`, { packageName: packageNameOf(graph, number) });
    const status = await driver.drive(ptx);
    t.equal(conditionIn(status, 'Ready')?.status, 'True', `${ptx}: ${JSON.stringify(status.outcome)}`);
  }
}

const kindOf: Readonly<Record<string, string>> = { ones: 'One', twos: 'Two' };

async function fill(graph: Installed): Promise<void> {
  for (const [number, { used }] of graph.nodes.entries()) {
    const group = groupOf(graph, number);
    for (const plural of used) {
      const object = { apiVersion: `${group}/v1beta1`, kind: kindOf[plural] ?? '', metadata: { name: 'mine' } };
      const path = `/apis/${group}/v1beta1/${plural}`;
      await waitFor(async () => (await client.create(path, object)).code === 201, `an instance of ${plural}.${group}`);
    }
    graph.instances.set(
      number,
      used.map((plural) => `/apis/${group}/v1beta1/${plural}/mine`),
    );
  }
}

/** Every CRD, Package, revision, instance, and entry of the Lock of all graphs, with its uid and its generation, or its content. */
async function everything(graph: Installed): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const add = (path: string, object: JsonObject | undefined): void => {
    found.set(path, `${textAt(object, 'metadata', 'uid')} ${at(object, 'metadata', 'generation')}`);
  };
  for (const path of [definitionPath(), ...kinds.map((plural) => packagePath(plural))])
    for (const one of (await client.list(path)).items) add(`${path}/${textAt(one, 'metadata', 'name')}`, one);
  for (const path of [...graph.instances.values()].flat()) {
    const { code, body } = await client.get(path);
    if (code === 200) add(path, body);
  }
  for (const entry of objectsAt((await client.get(lockPath)).body, 'packages'))
    found.set(`entry ${textAt(entry, 'source')}`, JSON.stringify(entry));
  return found;
}

/** The paths that a Delete of the package deletes. */
function partsOf(graph: Installed, number: number, before: ReadonlyMap<string, string>): readonly string[] {
  const name = packageNameOf(graph, number);
  const crds = graph.nodes[number]?.plurals.map((plural) => definitionPath(`${plural}.${groupOf(graph, number)}`)) ?? [];
  const revisions = [...before.keys()].filter((path) => path.startsWith(packagePath('providerrevisions', `${name}-`)));
  return [...crds, ...revisions, packagePath('providers', name), `entry ${source(nameOf(graph, number))}`].toSorted();
}

let deletes = 0;

/** Deletes the package. Returns why the Delete was refused, if it was. */
async function deleted(t: Test, graph: Installed, number: number): Promise<string | undefined> {
  deletes += 1;
  const ptx = `${nameOf(graph, number)}-gone-${deletes}`;
  const object = { apiVersion: 'pkg.crossplane.io/v1alpha1', kind: 'Transaction', metadata: { name: ptx } };
  const spec = { change: 'Delete', retryLimit: 1, delete: { source: source(nameOf(graph, number)) } };
  const before = await everything(graph);
  must(await client.create(ptxPath(), { ...object, spec }));
  const status = await driver.drive(ptx);
  const after = await everything(graph);
  const expected = expectedRefusal(graph, number);
  const reason = textAt(status, 'outcome', 'reason');
  t.equal(reason, expected, `${ptx}: ${JSON.stringify(status.outcome)}`);
  t.equal(textAt(status, 'phase'), expected === undefined ? 'Succeeded' : 'Failed', ptx);
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path));
  t.same(changed.toSorted(), expected === undefined ? partsOf(graph, number, before) : [], `${ptx}: what has changed`);
  t.same(
    changed.filter((path) => after.has(path)),
    [],
    `${ptx}: what has changed is gone`,
  );
  if (expected === undefined) graph.present.delete(number);
  return expected;
}

function expectedRefusal(graph: Installed, number: number): string | undefined {
  if (requirersOf(graph, number).length > 0) return 'RequiredByOthers';
  return (graph.instances.get(number) ?? []).length > 0 ? 'ResourcesInUse' : undefined;
}

const ends: Record<string, number> = { Succeeded: 0, RequiredByOthers: 0, ResourcesInUse: 0 };

async function deleteOne(t: Test, graph: Installed, number: number): Promise<void> {
  const end = (await deleted(t, graph, number)) ?? 'Succeeded';
  ends[end] = (ends[end] ?? 0) + 1;
}

/** Deletes the rest, the last package first. Instances are deleted once they have refused a Delete. */
async function clear(t: Test, graph: Installed): Promise<void> {
  for (const number of [...graph.present].toSorted((left, right) => right - left)) {
    await deleteOne(t, graph, number);
    if (!graph.present.has(number)) continue;
    for (const path of graph.instances.get(number) ?? []) must(await client.delete(path));
    graph.instances.delete(number);
    await deleteOne(t, graph, number);
  }
  t.same([...graph.present], []);
}

async function tried(t: Test, id: string, { nodes, deletes }: Graph): Promise<void> {
  const graph: Installed = { id, nodes, present: new Set(nodes.keys()), instances: new Map() };
  await publish(graph);
  await install(t, graph);
  await fill(graph);
  for (const number of deletes) if (graph.present.has(number)) await deleteOne(t, graph, number);
  await clear(t, graph);
}

t.test(`${count} generated graphs, JANUS_TEST_SEED=${seed}`, async (t) => {
  for (const [index, graph] of fc.sample(graphs, { seed, numRuns: count }).entries()) {
    await tried(t, `g${index}`, graph);
    if (t.passing()) continue;
    t.fail(`${index}: ${JSON.stringify(graph)}`);
    return;
  }
  t.comment(JSON.stringify(ends));
  for (const [end, number] of Object.entries(ends)) t.ok(number > 0, `${number} Deletes ended as ${end}`);
});
