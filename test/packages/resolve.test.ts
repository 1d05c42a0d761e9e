// Resolution: a table of trees, and generated ones against a solver that tries every choice.
//
// `JANUS_TREES=100000 npm test -- test/packages/resolve.test.ts` makes more of them, JANUS_TEST_SEED other ones.
import fc from 'fast-check';
import t from 'tap';
import type { Meta } from '../../hooks/crossplane/model/package.ts';
import { keyOf, type RegistryData } from '../../hooks/crossplane/resolve/package-index.ts';
import { resolve } from '../../hooks/crossplane/resolve/resolution.ts';
import { at } from '../../hooks/objects/json.ts';
import { solutionsOf } from './solver.ts';
import { chosenOf, digestOf, knownOf, questionOf, release, resolveByNeeds, sourceOf, type World } from './trees.ts';

const runs = Number(process.env.JANUS_TREES ?? 1_000);
const seed = Number(process.env.JANUS_TEST_SEED ?? 20_261_122);

interface Row {
  readonly name: string;
  /** The first is the root. */
  readonly releases: readonly string[];
  readonly installed?: readonly string[];
  /** What the Packages of installed packages say, by name. */
  readonly said?: Readonly<Record<string, Pick<World['installed'][number], 'applied' | 'mayGoBack'>>>;
  /** Of which packages a version is read, each once. */
  readonly read?: readonly string[];
  /** What is chosen, or the reason and the message. */
  readonly expected: Readonly<Record<string, string>> | RegExp;
}

const rows: Row[] = [
  {
    name: 'a new dependency gets the highest version',
    releases: ['a@v1.0.0 = b >=v1.0.0', 'b@v1.0.0', 'b@v1.1.0', 'b@v2.0.0-rc.1', 'b@v3', 'b@latest'],
    expected: { b: 'v1.1.0', a: 'v1.0.0' },
  },
  {
    name: '12: a bystander that is installed has its say',
    releases: ['a@v1.0.0 = d >=v1.0.0', 'bystander@v1.0.0 = d <v2.0.0', 'd@v1.0.0', 'd@v1.5.0', 'd@v2.0.0'],
    installed: ['bystander@v1.0.0'],
    expected: { d: 'v1.5.0', a: 'v1.0.0' },
  },
  {
    name: '12: VersionConflict with what is installed',
    releases: ['a@v1.0.0 = d >=v2.0.0', 'b@v1.0.0 = d <v2.0.0', 'd@v1.0.0', 'd@v2.0.0'],
    installed: ['b@v1.0.0', 'd@v1.0.0'],
    expected:
      /^VersionConflict: No version of d satisfies every package: a requires >=v2.0.0, b requires <v2.0.0 \(installed is v1.0.0;/,
  },
  {
    name: '11: MissingDependency',
    releases: ['provider-aws-s3@v1.0.0 = provider-family-aws >=v1.1.0', 'provider-family-aws@v1.0.0'],
    expected:
      /^MissingDependency: Package provider-aws-s3 requires provider-family-aws >=v1.1.0, but no compatible version found \(.*\/provider-family-aws has v1.0.0\)$/,
  },
  {
    name: 'only incomplete tags',
    releases: ['a@v1.0.0 = b >=v1.0.0', 'b@latest', 'b@v1', 'b@v1.2'],
    expected: /^MissingDependency: .*b has no version\)$/,
  },
  {
    name: 'an installed one that fits stays, though there is a higher one',
    releases: ['a@v1.0.0 = b >=v1.0.0', 'b@v1.0.0', 'b@v1.1.0'],
    installed: ['b@v1.0.0'],
    expected: { b: 'v1.0.0', a: 'v1.0.0' },
  },
  {
    name: 'an installed one that does not fit: the lowest above it',
    releases: ['a@v1.0.0 = b >=v1.1.0', 'b@v1.0.0', 'b@v1.1.0', 'b@v1.2.0'],
    installed: ['b@v1.0.0'],
    expected: { b: 'v1.1.0', a: 'v1.0.0' },
  },
  {
    name: 'never a downgrade',
    releases: ['a@v1.0.0 = b <v2.0.0', 'b@v1.0.0', 'b@v2.0.0'],
    installed: ['b@v2.0.0'],
    expected: /^VersionConflict: .*; it goes to a lower version only if its Package names that version\)$/,
  },
  {
    name: 'an installed one that does not fit: the version that its Package names, lower or higher',
    releases: ['a@v1.0.0 = b <v2.0.0', 'b@v1.0.0', 'b@v1.1.0', 'b@v2.0.0'],
    installed: ['b@v2.0.0'],
    said: { b: { applied: 'v1.0.0' } },
    expected: { b: 'v1.0.0', a: 'v1.0.0' },
  },
  {
    name: 'an installed one that fits stays, whatever its Package names',
    releases: ['a@v1.0.0 = b >=v1.0.0', 'b@v1.0.0', 'b@v2.0.0'],
    installed: ['b@v2.0.0'],
    said: { b: { applied: 'v1.0.0' } },
    expected: { b: 'v2.0.0', a: 'v1.0.0' },
  },
  {
    name: 'one that the hook has chosen goes back to the highest version that fits',
    releases: ['a@v1.0.0 = b <v2.0.0', 'b@v1.0.0', 'b@v1.1.0', 'b@v2.0.0', 'b@v3.0.0'],
    installed: ['b@v2.0.0'],
    said: { b: { mayGoBack: true } },
    expected: { b: 'v1.1.0', a: 'v1.0.0' },
  },
  {
    name: 'one that the hook has chosen goes forward first',
    releases: ['a@v1.0.0 = b !=v2.0.0', 'b@v1.0.0', 'b@v2.0.0', 'b@v3.0.0'],
    installed: ['b@v2.0.0'],
    said: { b: { mayGoBack: true } },
    expected: { b: 'v3.0.0', a: 'v1.0.0' },
  },
  {
    name: 'what an upgrade needs no more is not added',
    releases: ['a@v1.0.0 = b >=v1.0.0; c >=v1.0.0', 'b@v1.0.0', 'b@v2.0.0 = old >=v1.0.0', 'c@v1.0.0 = b <v2.0.0', 'old@v1.0.0'],
    expected: { b: 'v1.0.0', c: 'v1.0.0', a: 'v1.0.0' },
  },
  {
    name: '13: CircularDependency with its path',
    releases: ['a@v1.0.0 = b >=v1.0.0', 'b@v1.0.0 = a >=v1.0.0'],
    expected: /^CircularDependency: .*: a -> b -> a$/,
  },
  {
    name: '13: a circle is one also where its versions do not suit',
    releases: ['a@v1.0.0 = b >=v1.0.0', 'b@v1.0.0 = c >=v1.0.0', 'c@v1.0.0 = a >=v2.0.0', 'a@v2.0.0'],
    expected: /^CircularDependency: .*: a -> b -> c -> a$/,
  },
  {
    name: 'a dependency on itself',
    releases: ['a@v1.0.0 = a >=v1.0.0'],
    expected: /^CircularDependency: .*: a -> a$/,
  },
  {
    name: 'two that exclude each other: VersionConflict',
    releases: ['a@v1.0.0 = b >=v1.0.0; c >=v1.0.0', 'b@v1.0.0 = d <v2.0.0', 'c@v1.0.0 = d >=v2.0.0', 'd@v1.0.0', 'd@v2.0.0'],
    expected: /^VersionConflict: No version of d satisfies every package: b requires <v2.0.0, c requires >=v2.0.0/,
  },
  {
    name: 'a contradiction during the search does not end it',
    releases: [
      'a@v1.0.0 = b >=v1.0.0; z >=v1.0.0',
      'b@v1.0.0',
      'b@v2.0.0 = nowhere >=v9.0.0',
      'z@v1.0.0 = b <v2.0.0',
      'nowhere@v1.0.0',
    ],
    expected: { b: 'v1.0.0', z: 'v1.0.0', a: 'v1.0.0' },
  },
  {
    name: 'dependencies come first',
    releases: ['a@v1.0.0 = b >=v1.0.0; c >=v1.0.0', 'b@v1.0.0 = d >=v1.0.0', 'c@v1.0.0 = b >=v1.0.0', 'd@v1.0.0'],
    expected: { d: 'v1.0.0', b: 'v1.0.0', c: 'v1.0.0', a: 'v1.0.0' },
  },
  {
    name: 'the root must suit those that are installed',
    releases: ['a@v2.0.0', 'b@v1.0.0 = a <v2.0.0', 'a@v1.0.0'],
    installed: ['b@v1.0.0', 'a@v1.0.0'],
    expected: /^VersionConflict: No version of a satisfies every package: b requires <v2.0.0 \(to be installed is v2.0.0\)$/,
  },
];

const numbered = (name: string, count: number, major: string): string[] =>
  Array.from({ length: count }, (_, minor) => `${name}@${major}.${minor}.0`);

rows.push(
  {
    name: 'a version that is refused by two others is found although many do not suit',
    releases: [
      'a@v1.0.0 = b >=v1.0.0; c >=v1.0.0',
      'b@v2.0.0 = c <v2.0.0',
      'c@v2.0.0 = b <v2.0.0; x >=v9.0.0',
      'b@v1.0.0',
      'c@v1.0.0',
      'x@v1.0.0',
      ...numbered('c', 70, 'v0'),
    ],
    expected: { c: 'v1.0.0', b: 'v2.0.0', a: 'v1.0.0' },
  },
  {
    name: '11: MissingDependency of many versions is certain',
    releases: ['a@v1.0.0 = b >=v2.0.0; c >=v1.0.0', ...numbered('b', 70, 'v1'), ...numbered('c', 70, 'v1')],
    read: ['c'],
    expected: /^MissingDependency: Package a requires b >=v2.0.0, but no compatible version found \([^;]*\)$/,
  },
  {
    name: '11: MissingDependency further down, of one that has many versions itself, is certain',
    releases: [
      'a@v1.0.0 = b >=v1.0.0; c >=v1.0.0',
      ...numbered('b', 70, 'v1').map((one) => `${one} = x >=v9.0.0`),
      ...numbered('c', 70, 'v1'),
      'x@v1.0.0',
    ],
    read: ['b', 'c'],
    expected: /^MissingDependency: Package b requires x >=v9.0.0, but no compatible version found \([^;]*\)$/,
  },
);

function worldOf({ releases, installed = [], said = {} }: Row): World {
  const all = releases.map(release);
  const [root] = all;
  if (root === undefined) throw new Error('a tree has a root');
  return { releases: all, installed: installed.map(release).map((one) => ({ ...one, ...said[one.name] })), root };
}

for (const row of rows)
  t.test(row.name, async (t) => {
    const world = worldOf(row);
    const resolution = resolve(questionOf(world), knownOf(world.releases));
    if (resolution.kind === 'refused') t.match(`${resolution.fault.reason}: ${resolution.fault.message}`, row.expected);
    else {
      t.same(chosenOf(resolution), row.expected);
      t.same(Object.keys(chosenOf(resolution)), Object.keys(row.expected), 'in this order');
    }
    const byNeeds = resolveByNeeds(questionOf(world), knownOf(world.releases));
    t.same(byNeeds.resolution, resolution, 'the result depends only on the needed releases');
    if (row.read !== undefined) t.same(byNeeds.read.map(({ source }) => source).sort(), row.read.map(sourceOf));
  });

t.test('the resolver accepts a digest', async (t) => {
  const digest = digestOf('b', 'v1.0.0');
  const with2 = (second: string) =>
    worldOf({ name: '', releases: [`a@v1.0.0 = b ${digest}; c >=v1.0.0`, `c@v1.0.0 = b ${second}`, 'b@v1.0.0'], expected: {} });
  const resolved = (world: World) => resolve(questionOf(world), knownOf(world.releases));
  t.same(chosenOf(resolved(with2(digest))), { b: digest, c: 'v1.0.0', a: 'v1.0.0' }, 'is taken as it is');
  t.equal(chosenOf(resolved(with2('>=v1.0.0'))), 'VersionConflict', 'mixed with a range');
  t.equal(chosenOf(resolved(with2(digestOf('b', 'v2.0.0')))), 'VersionConflict', 'two of them');
  const installed = { ...with2(digest), installed: [{ name: 'b', version: 'v1.0.0' }] };
  t.match(resolved(installed), { kind: 'resolved', packages: [{ change: 'kept', digest }, {}, {}] }, 'that is installed');
});

t.test('the tag beside the digest of the root satisfies ranges, and both are in the Lock', async (t) => {
  const world: World = {
    releases: [release('a@v1.2.0'), release('b@v1.0.0 = a >=v1.1.0')],
    installed: [release('b@v1.0.0')],
    root: { name: 'a', version: 'v1.2.0' },
  };
  const { root, installed } = questionOf(world);
  const { digest } = root;
  const by = (tag: Readonly<Record<string, string>>) =>
    resolve({ installed, root: { ...root, version: digest, ...tag } }, knownOf([]));
  const resolution = by({ tag: 'v1.2.0' });
  t.match(resolution, { kind: 'resolved' });
  t.match(resolution.kind === 'resolved' ? resolution.lock.find((entry) => at(entry, 'source') === sourceOf('a')) : undefined, {
    version: `v1.2.0@${digest}`,
  });
  t.equal(chosenOf(by({})), 'VersionConflict', 'a digest alone satisfies no range');
  t.match(by({ tag: 'v1.0.0' }), { kind: 'refused', fault: { message: /to be installed is v1.0.0/ } });
});

t.test('the resolver refuses a package of another kind', async (t) => {
  const world: World = {
    releases: [
      { ...release('a@v1.0.0'), requires: [{ name: 'b', constraints: '>=v1.0.0', kind: 'Function' }] },
      release('b@v1.0.0'),
    ],
    installed: [],
    root: { name: 'a', version: 'v1.0.0' },
  };
  t.match(resolve(questionOf(world), knownOf(world.releases)), {
    kind: 'refused',
    fault: { reason: 'InvalidPackage', message: /^Package a requires b as a Function, but .*\/b is a Provider$/ },
  });
});

t.test('the resolver refuses another kind for installed packages and for the root', async (t) => {
  const demanding = (by: string, name: string) => ({
    ...release(`${by}@v1.0.0`),
    requires: [{ name, constraints: '>=v1.0.0', kind: 'Function' as const }],
  });
  const chosenWith = (releases: World['releases'], ...installed: readonly string[]) =>
    resolve(
      questionOf({ releases, installed: installed.map(release), root: { name: 'a', version: 'v1.0.0' } }),
      knownOf(releases),
    );
  t.match(
    chosenWith([demanding('a', 'b'), release('b@v1.0.0')], 'b@v1.0.0'),
    {
      kind: 'refused',
      fault: { reason: 'InvalidPackage', message: /^Package a requires b as a Function, but .*b is a Provider$/ },
    },
    'one that stays',
  );
  t.match(
    chosenWith([release('a@v1.0.0'), demanding('b', 'a')], 'b@v1.0.0'),
    {
      kind: 'refused',
      fault: { reason: 'InvalidPackage', message: /^Package b requires a as a Function, but .*a is a Provider$/ },
    },
    'the root, for one that stays',
  );
  t.match(
    chosenWith([release('a@v1.0.0 = b >=v1.0.0'), demanding('c', 'b'), release('b@v1.0.0')], 'b@v1.0.0', 'c@v1.0.0'),
    { kind: 'resolved' },
    'two that stay do not matter',
  );
});

t.test('dependencies that are not to be resolved are recorded', async (t) => {
  const question = questionOf(worldOf({ name: '', releases: ['a@v1.0.0 = b >=v1.0.0', 'b@v0.1.0'], expected: {} }));
  const resolution = resolve({ ...question, root: { ...question.root, skipsDependencies: true } }, knownOf([]));
  t.match(resolution, { kind: 'resolved', packages: [{ name: 'a' }], lock: [{ dependencies: [{ package: sourceOf('b') }] }] });
});

t.test('8, 28: the whole Lock, unchanged entries as they were', async (t) => {
  const world = worldOf({
    name: '',
    releases: [
      'provider-aws-s3@v1.0.0 = provider-family-aws >=v1.1.0',
      'provider-family-aws@v1.1.0',
      'provider-gcp-compute@v0.9.0',
    ],
    installed: ['provider-gcp-compute@v0.9.0'],
    expected: {},
  });
  const question = questionOf(world);
  const odd = question.installed.map((one) => ({ ...one, entry: { ...one.entry, type: 'Provider', novel: 1 } }));
  const resolution = resolve({ ...question, installed: odd }, knownOf(world.releases));
  const [digest, root] = [digestOf('provider-family-aws', 'v1.1.0'), digestOf('provider-aws-s3', 'v1.0.0')];
  t.match(resolution, {
    lock: [
      { source: sourceOf('provider-gcp-compute'), type: 'Provider', novel: 1 },
      { name: `acme-provider-family-aws-${digest.slice(7, 19)}`, version: `v1.1.0@${digest}`, dependencies: [] },
      {
        name: `provider-aws-s3-${root.slice(7, 19)}`,
        kind: 'Provider',
        source: sourceOf('provider-aws-s3'),
        dependencies: [{ package: sourceOf('provider-family-aws'), kind: 'Provider', constraints: '>=v1.1.0' }],
      },
    ],
  });
  t.notOk(at(resolution.kind === 'resolved' ? resolution.lock[1] : undefined, 'novel'));
});

t.test('a large tree: 500 packages, ten versions each', async (t) => {
  const releases = Array.from({ length: 500 }, (_, index) =>
    Array.from({ length: 10 }, (_, minor) => {
      const needed = [index + 1, index + 7, index * 2 + 1].filter((one) => one < 500).map((one) => `p${one} >=v1.${minor % 4}.0`);
      return release(`p${index}@v1.${minor}.0${needed.length > 0 ? ` = ${needed.join('; ')}` : ''}`);
    }),
  ).flat();
  const world: World = { releases, installed: [], root: { name: 'p0', version: 'v1.9.0' } };
  const { resolution, read } = resolveByNeeds(questionOf(world), knownOf(releases));
  t.match(resolution, { kind: 'resolved' });
  t.equal(resolution.kind === 'resolved' && resolution.packages.length, 500);
  t.equal(read.length, 499, 'each is fetched once');
});

const names = ['a', 'b', 'c', 'd'];

/** What a generated tree is made of. */
interface Stuff {
  readonly versions: readonly string[];
  readonly constraints: (name: string) => fc.Arbitrary<string>;
  /** Packages name other versions than those that are installed, and the hook has chosen some. */
  readonly isSaid?: boolean;
}

const ranges = ['>=v1.0.0', '<v2.0.0', '>=v1.1.0', 'v1.0.0', '>=v2.0.0', '<v1.1.0', '!=v1.1.0'];
const plain: Stuff = { versions: ['v1.0.0', 'v1.1.0', 'v2.0.0'], constraints: () => fc.constantFrom(...ranges) };
const said: Stuff = { ...plain, isSaid: true };
const many = ['v1.0.0', 'v1.1.0-rc.1', 'v1.1.0', 'v1.2.0', 'v2.0.0-rc.1', 'v2.0.0'];
const rich: Stuff = {
  versions: many,
  constraints: (name) =>
    fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...ranges, '>=v1.1.0-0', '>=v2.0.0-0', '<v2.0.0-0', '!=v1.2.0', '<v1.2.0') },
      { weight: 1, arbitrary: fc.constantFrom(...['v1.0.0', 'v2.0.0'].map((version) => digestOf(name, version))) },
    ),
};

function worldsOf({ versions, constraints, isSaid = false }: Stuff): fc.Arbitrary<World> {
  const places = 3 * versions.length;
  const requirement = fc
    .constantFrom(...names.slice(1))
    .chain((name) => constraints(name).map((text) => ({ name, constraints: text })));
  const requirements = fc.uniqueArray(requirement, { maxLength: 2, selector: ({ name }) => name });
  return fc
    .record({
      requires: fc.array(requirements, { minLength: places, maxLength: places }),
      there: fc.array(fc.boolean(), { minLength: places, maxLength: places }),
      root: fc.uniqueArray(requirement, { minLength: 1, maxLength: 3, selector: ({ name }) => name }),
      installed: fc.subarray(names.slice(1)),
      which: fc.nat(versions.length - 1),
      applied: fc.array(fc.nat(versions.length), { minLength: 3, maxLength: 3 }),
      chosen: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
    })
    .map(({ requires, there, root, installed, which, applied, chosen }) => {
      const releases = names.slice(1).flatMap((name, index) =>
        versions.flatMap((version, at) => {
          const place = index * versions.length + at;
          return there[place] || at === which ? [{ name, version, requires: requires[place] ?? [] }] : [];
        }),
      );
      return {
        releases: [{ name: 'a', version: 'v1.0.0', requires: root }, ...releases],
        installed: installed.map((name, index) => {
          const version = versions[which] ?? '';
          const next = releases.find((one) => one.name === name && one.version === versions[applied[index] ?? 0])?.version;
          const isOther = isSaid && next !== undefined && next !== version;
          return {
            ...{ name, version },
            ...(isOther && { applied: next }),
            ...(isSaid && !isOther && chosen[index] === true ? ({ mayGoBack: true } as const) : {}),
          };
        }),
        root: { name: 'a', version: 'v1.0.0' },
      };
    });
}

const sorted = (one: object): string => JSON.stringify(Object.entries(one).sort());

function shuffled<Item>(items: readonly Item[], chance: Iterator<number>): Item[] {
  const drawn = items.map((item) => [chance.next().value, item] as const);
  return drawn.sort(([left], [right]) => left - right).map(([, item]) => item);
}

/** A digest that is demanded exists, whatever tags there are: what it holds requires nothing. */
function everyDigest(known: RegistryData): RegistryData {
  const packages = new Map(known.packages);
  for (const name of names)
    for (const version of many) {
      const digest = digestOf(name, version);
      const key = keyOf({ source: sourceOf(name), version: digest });
      const meta: Meta = { kind: 'Provider', name, labels: {}, dependencies: [], crossplane: undefined, capabilities: [] };
      if (!packages.has(key)) packages.set(key, { digest, meta });
    }
  return { ...known, packages };
}

/** What does not hold of what was chosen. */
function faultOf(world: World, chosen: ReturnType<typeof chosenOf>, chance: Iterator<number>): string | undefined {
  const solutions = solutionsOf(world).map(sorted);
  if ((typeof chosen !== 'string') !== solutions.length > 0) return `a solution iff there is one: ${solutions}`;
  if (typeof chosen !== 'string' && !solutions.includes(sorted(chosen))) return `it is not among ${solutions}`;
  const other = { ...world, releases: shuffled(world.releases, chance), installed: shuffled(world.installed, chance) };
  const again = chosenOf(resolveByNeeds(questionOf(other), everyDigest(knownOf(other.releases))).resolution);
  return JSON.stringify(again) === JSON.stringify(chosen) ? undefined : `in another order ${JSON.stringify(again)}`;
}

for (const [kind, stuff, count] of [
  ['plain', plain, runs],
  ['with Packages that name other versions', said, runs / 2],
  ['with prereleases and digests', rich, runs / 4],
] as const)
  t.test(`${count} generated trees, ${kind}, JANUS_TEST_SEED=${seed}`, async (t) => {
    const counts = { resolved: 0, refused: 0 };
    const property = fc.property(worldsOf(stuff), fc.infiniteStream(fc.nat()), (world, chance) => {
      const chosen = chosenOf(resolve(questionOf(world), everyDigest(knownOf(world.releases))));
      counts[typeof chosen === 'string' ? 'refused' : 'resolved'] += 1;
      const fault = faultOf(world, chosen, chance);
      if (fault !== undefined) throw new Error(`${JSON.stringify(chosen)}: ${fault}`);
    });
    const { failed, errorInstance, counterexample } = fc.check(property, { seed, numRuns: count });
    t.notOk(failed, `${String(errorInstance ?? 'all hold')}\n${JSON.stringify(counterexample?.[0] ?? '')}`);
    t.ok(counts.resolved > count / 10 && counts.refused > count / 10, JSON.stringify(counts));
  });

t.test(
  'a package that requires one source a thousand times, of a hundred thousand versions, is refused in moments',
  async (t) => {
    const requires = Array.from({ length: 1_000 }, (_, index) => ({ name: 'b', constraints: `>=v0.0.${index}` }));
    const root = { name: 'a', version: 'v1.0.0', requires: [...requires, { name: 'b', constraints: '>=v2.0.0' }] };
    const tags = Array.from({ length: 100_000 }, (_, index) => `v1.${index}.0`);
    const known = { tags: new Map([[sourceOf('b'), tags]]), packages: new Map(), broken: new Set<string>() };
    const question = questionOf({ releases: [root], installed: [], root });
    const refused = resolve(question, known);
    t.match(refused, {
      kind: 'refused',
      fault: { reason: 'InvalidPackage', message: /a: more than 5000000 terms of constraints/ },
    });
  },
);

t.test('each tried version adds its own cost', async (t) => {
  const many = (letter: string, count: number): readonly string[] =>
    Array.from({ length: count }, (_, index) => `${letter}${index}`);
  const worldOf = (packages: number, each: number): World => {
    const [bs, ps, qs] = [many('b', 11), many('p', packages), many('q', each)];
    const need = (name: string, constraints = '>=v1.0.0') => ({ name, constraints });
    const pairs = bs.map((name) => [name, `${name}c`] as const);
    const root = { name: 'a', version: 'v1.0.0', requires: [...pairs.flat(), 'h', 'i', 'j', ...ps].map((name) => need(name)) };
    const plain = (name: string, version: string) => ({ name, version, requires: [] });
    const refusing = (name: string, other: string) => [
      { name, version: 'v2.0.0', requires: [need(other, '<v2.0.0')] },
      plain(name, 'v1.0.0'),
    ];
    // Of each pair, either one may have its second version. That three refuse each other in a circle rules out every choice.
    const releases = [
      root,
      ...pairs.flatMap(([one, other]) => [...refusing(one, other), ...refusing(other, one)]),
      ...refusing('h', 'i'),
      ...refusing('i', 'j'),
      ...refusing('j', 'h'),
      ...ps.map((name) => ({ name, version: 'v1.0.0', requires: qs.map((one) => need(one)) })),
      ...qs.map((name) => plain(name, 'v1.0.0')),
    ];
    return { releases, installed: [], root };
  };
  const resolved = (world: World) => resolveByNeeds(questionOf(world), knownOf(world.releases)).resolution;
  t.match(resolved(worldOf(20, 5)), {
    kind: 'refused',
    fault: {
      reason: 'VersionConflict',
      message: /^No version of h satisfies every package: a requires >=v1.0.0, j requires <v2.0.0 .*; not every combination/,
    },
  });
  t.match(resolved(worldOf(250, 20)), {
    kind: 'refused',
    fault: { reason: 'InvalidPackage', message: /a: more than 5000000 terms/ },
  });
});
