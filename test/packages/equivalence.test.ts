// Which package of a new tree takes the place of which package that leaves, and what the Lock has after a Replace.
import t from 'tap';
import { equivalenceOf, type PackageDefinitions } from '../../hooks/crossplane/checks/equivalence.ts';
import { lockEntry } from '../../hooks/crossplane/model/lock.ts';
import { readPackageTransaction } from '../../hooks/crossplane/model/package-transaction.ts';
import { packagesAfter, reachableFrom } from '../../hooks/crossplane/model/replacement.ts';
import type { JsonObject } from '../../hooks/objects/json.ts';

const of = (source: string, definitions: readonly string[] = [], kind: PackageDefinitions['kind'] = 'Provider') => ({
  source: `r.example.org/${source}`,
  kind,
  definitions: definitions.map((name) => `CustomResourceDefinition ${name}`),
});
const named = { source: 'r.example.org/a/root', by: 'r.example.org/b/stack' };

interface Row {
  readonly what: string;
  readonly leaving: readonly PackageDefinitions[];
  readonly coming: readonly PackageDefinitions[];
  readonly pairs?: readonly string[];
  readonly faults?: readonly RegExp[];
}

const rows: readonly Row[] = [
  {
    what: 'the user names the successor of the source; others are found by the last part of the repository',
    leaving: [of('a/root'), of('a/family', ['x'])],
    coming: [of('b/family', ['x']), of('b/stack')],
    pairs: ['a/root b/stack', 'a/family b/family'],
  },
  {
    what: 'a package is found by its definitions if no package has its name',
    leaving: [of('a/root'), of('a/old-name', ['x', 'y'])],
    coming: [of('b/new-name', ['x', 'y', 'z']), of('b/stack')],
    pairs: ['a/root b/stack', 'a/old-name b/new-name'],
  },
  {
    what: 'one package may take the place of two',
    leaving: [of('a/root', ['z']), of('a/one', ['x']), of('a/two', ['y'])],
    coming: [of('b/stack', ['x', 'y', 'z'])],
    pairs: ['a/root b/stack', 'a/one b/stack', 'a/two b/stack'],
  },
  {
    what: 'a package of another kind is no successor',
    leaving: [of('a/root'), of('a/family', [], 'Function')],
    coming: [of('b/family'), of('b/stack')],
    faults: [
      /^Function r\.example\.org\/a\/family: .* with the name family, found none; the new tree is r\.example\.org\/b\/family/,
    ],
  },
  {
    what: 'two packages of one name are ambiguous',
    leaving: [of('a/root'), of('a/family')],
    coming: [of('b/family'), of('c/family'), of('b/stack')],
    faults: [/found r\.example\.org\/b\/family, r\.example\.org\/c\/family: publish/],
  },
  {
    what: 'each definition that is missing is named',
    leaving: [of('a/root', ['x', 'y'])],
    coming: [of('b/stack', ['x'])],
    faults: [/^CRD y of r\.example\.org\/a\/root is in no package of the tree of r\.example\.org\/b\/stack/],
  },
];

for (const { what, leaving, coming, pairs = [], faults = [] } of rows)
  t.test(what, async (t) => {
    const found = equivalenceOf({ leaving, coming, named });
    const shown = found.replaced.map(({ source, by }) => `${source} ${by}`.replaceAll('r.example.org/', ''));
    if (pairs.length > 0) t.same(shown, pairs);
    t.equal(found.faults.length, faults.length);
    for (const [index, pattern] of faults.entries()) t.match(found.faults[index]?.message, pattern);
  });

const entry = (source: string, tag: string, ...needs: readonly string[]): JsonObject => {
  const dependencies = needs.map((one) => ({
    package: `r.example.org/${one}`,
    kind: 'Provider' as const,
    constraints: '>=v1.0.0',
  }));
  const name = `${source.replace('/', '-')}-${tag}`;
  return lockEntry({ name, source: `r.example.org/${source}`, tag, digest: undefined, dependencies }, 'Provider');
};

t.test('only the entries of the two trees change, although somebody has edited the Lock', async (t) => {
  const spec = { package: 'r.example.org/b/stack:v1.0.0' };
  const package_ = { apiVersion: 'pkg.crossplane.io/v1', kind: 'Provider', metadata: { name: 'stack' }, spec };
  const ptx = readPackageTransaction({
    metadata: { name: 'moved', uid: 'u' },
    spec: { change: 'Replace', replace: { source: named.source, package: package_ } },
    status: {
      phase: 'Deleting',
      replaced: [named],
      proposedLockPackages: [entry('other/one', 'v1.0.0'), entry('b/family', 'v1.1.0'), entry('b/stack', 'v1.0.0', 'b/family')],
    },
  });
  const present = [
    entry('a/root', 'v1.0.0'),
    entry('other/one', 'v2.0.0'),
    entry('b/family', 'v1.0.0'),
    entry('late/one', 'v1.0.0'),
  ];
  t.same(packagesAfter(ptx, { packages: present }), [
    entry('other/one', 'v2.0.0'),
    entry('b/family', 'v1.1.0'),
    entry('late/one', 'v1.0.0'),
    entry('b/stack', 'v1.0.0', 'b/family'),
  ]);
});

t.test('the hook finds the requirements of a source also in a circle', async (t) => {
  const requiring = (source: string, ...needs: readonly string[]) => ({
    source,
    dependencies: needs.map((one) => ({ package: one, kind: 'Provider' as const, constraints: '*' })),
  });
  const all = [requiring('a', 'b'), requiring('b', 'a', 'gone'), requiring('c', 'a')];
  t.same([...reachableFrom(['a'], all)].toSorted(), ['a', 'b']);
});
