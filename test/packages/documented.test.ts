// docs/packages.md against the code: every reason, every bound, every exit code; and the checklist of what packages must do.
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { packageReasons } from '../../hooks/crossplane/model/fault.ts';
import { mostDependencies } from '../../hooks/crossplane/model/package.ts';
import { mostCharacters, mostLists, mostObjects, mostTags } from '../../hooks/crossplane/observe/prefetch.ts';
import { mostPackages } from '../../hooks/crossplane/observe/tree.ts';
import { mostChecks } from '../../hooks/crossplane/resolve/package-index.ts';
import { limits } from '../../server/registry/limits.ts';
import { checklist } from './checklist.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (...path: readonly string[]): string => readFileSync(join(root, ...path), 'utf8');
const page = read('docs', 'packages.md');

/** Beside those of packages: reasons of conditions that need a person's attention, or name a wait. */
const ofCoordinator = [
  'DryRunFailed',
  'FetchDenied',
  'Unavailable',
  'WaitingForLock',
  'WaitingForPackage',
  'WaitingForCrossplane',
  'CRDInstallationFailed',
  'InstallationFailed',
  'RollingBack',
  'RollbackIncomplete',
  'DeletionFailed',
  'CleanupPending',
];

t.test('each reason once, and no other', async (t) => {
  const documented = [...page.slice(page.indexOf('\n## Reasons')).matchAll(/^\| `([A-Za-z]+)` +\|/gm)].map(
    ([, reason]) => reason,
  );
  t.same(documented.toSorted(), [...packageReasons, ...ofCoordinator].toSorted());
  const code = [
    'decide/transitions',
    'decide/acquiring',
    'decide/installing',
    'decide/deleting',
    'decide/rolling-back',
    'observe/dry-run',
  ];
  const all = [...code, 'outcome/conditions'].map((name) => read('hooks', 'crossplane', `${name}.ts`)).join('\n');
  for (const reason of ofCoordinator) t.ok(all.includes(`'${reason}'`), reason);
  t.ok(documented.length > 0);
});

t.test('the bounds are those of the code', async (t) => {
  const documented = [...page.matchAll(/^\| [^|]+? +\| ([\d ]+?)( MiB)? +\|$/gm)].map(
    ([, digits = '', unit]) => Number(digits.replaceAll(' ', '')) * (unit === undefined ? 1 : 1024 * 1024),
  );
  const { manifestBytes, tags, layerBytes, unpackedBytes, tarEntries, documentBytes, levels, values, objects, documents } =
    limits;
  const { pathCharacters, pathLevels, extendedHeaderBytes } = limits;
  t.same(documented, [
    manifestBytes,
    tags,
    mostTags,
    mostPackages,
    mostLists,
    mostDependencies,
    mostChecks,
    layerBytes,
    unpackedBytes,
    tarEntries,
    pathCharacters,
    pathLevels,
    extendedHeaderBytes,
    documentBytes,
    levels,
    values,
    objects,
    documents,
    mostObjects,
    mostCharacters,
  ]);
});

t.test('the checklist', async (t) => {
  t.same(
    checklist.map(({ point }) => point),
    Array.from({ length: 58 }, (_, index) => index + 1),
  );
  for (const { point, shownBy } of checklist) {
    t.not(shownBy.length, 0, `${point} is shown, or comes later`);
    if (shownBy !== 'later')
      for (const [file, words] of shownBy) {
        t.ok(existsSync(join(root, file)), `${point}: ${file}`);
        t.ok(read(file).includes(words), `${point}: ${file} says "${words}"`);
      }
  }
});

t.test('two kinds have the plural transactions: no command leaves open which one it means', async (t) => {
  const files = [
    '*.md',
    'docs/**/*.md',
    'charts/**/*.{txt,yaml,tpl}',
    'manifests/**/*.yaml',
    'examples/**/*',
    '{hooks,server,schemas,scripts}/**/*.ts',
  ];
  const paths = files
    .flatMap((pattern) => globSync(pattern, { cwd: root }))
    .filter((path) => statSync(join(root, path)).isFile());
  const bare = (text: string): readonly string[] =>
    text.match(
      /kubectl [^\n`]*?(?:get|delete|describe|edit|patch|wait|annotate|label|explain)\b[^\n`|;&#]*?\s(?:[a-z]+,)*transactions?(?:[/, ]|\.spec|$)[^\n`]*/gim,
    ) ?? [];
  t.equal(bare('kubectl -n shop delete transaction deploy').length, 1);
  t.equal(bare('kubectl explain transaction.spec').length, 1);
  t.equal(bare('kubectl delete transactions.tx.janus.io --all && kubectl get tx,ptx -l tx.janus.io/transaction-uid').length, 0);
  t.same(
    paths.flatMap((path) => bare(read(path)).map((command) => `${path}: ${command}`)),
    [],
  );
  t.ok(paths.length > 300, `${paths.length} files`);
});
