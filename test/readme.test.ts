// What README.md, CONTRIBUTING.md and docs/reference.md name is there, and what they list is complete.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { formatDuration } from '../hooks/objects/time.ts';
import { mostChanges } from '../hooks/transactions/checks/validity.ts';
import { mayFollow, phases } from '../hooks/transactions/model/phase.ts';
import { annotations, defaultTimeouts } from '../hooks/transactions/model/transaction.ts';
import { conditionTypes, undoRefused } from '../hooks/transactions/outcome/conditions.ts';
import { planOf } from '../scripts/matrix/table.ts';
import { apiServerOf, readConfig } from '../server/config.ts';
import { patchOf } from './controlplane/versions.ts';

const root = join(import.meta.dirname, '..');
const read = (...path: readonly string[]): string => readFileSync(join(root, ...path), 'utf8');
const readme = read('README.md');
const contributing = read('CONTRIBUTING.md');
const reference = read('docs', 'reference.md');
const hookReadme = read('examples', 'hook', 'README.md');
const manifest = JSON.parse(read('package.json'));

/** What is set as code, in the text and in blocks. */
function codeOf(markdown: string): readonly string[] {
  return [...markdown.matchAll(/```\w*\n([\s\S]*?)```|`([^`\n]+)`/g)].map(([, block, inline]) => block ?? inline ?? '');
}

function section(title: string, document = reference): string {
  const [, text = ''] = document.split(`## ${title}\n`);
  return text.split(/^#+ /m)[0] ?? '';
}

/** The cells of a table's rows, without its header. */
function rowsOf(title: string, document = reference): readonly (readonly string[])[] {
  const [, , ...rows] = section(title, document)
    .split('\n')
    .filter((line) => line.startsWith('|'));
  return rows.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const named = (cell = ''): readonly string[] => [...cell.matchAll(/`([^`:]+)[^`]*`/g)].map(([, name = '']) => name);

for (const [file, text] of [
  ['README.md', readme],
  ['CONTRIBUTING.md', contributing],
  ['docs/reference.md', reference],
  ['examples/hook/README.md', hookReadme],
] as const) {
  t.test(`${file}: the scripts that it names exist`, async (t) => {
    const scripts = codeOf(text).flatMap((code) =>
      [...code.matchAll(/npm (?:run )?(?!ci\b|install\b)([a-z]+(?::[a-z]+)?)/g)].map(([, script = '']) => script),
    );
    for (const script of new Set(scripts)) t.type(manifest.scripts[script], 'string', script);
  });

  t.test(`${file}: the paths that it names exist`, async (t) => {
    const top = /(?<![\w./-])(?:cli|examples|docs|hooks|manifests|schemas|scripts|server|test)\/[\w./-]*/g;
    const paths = codeOf(text).flatMap((code) => code.match(top) ?? []);
    for (const path of new Set(paths)) t.ok(existsSync(join(root, path.replace(/\.$/, ''))), path);
  });

  t.test(`${file}: the annotations that it names are known`, async (t) => {
    const found = [...text.matchAll(/(?<!transaction\.)tx\.janus\.io\/(?!v1alpha1)[a-z0-9-]+/g)].map(([name]) => name);
    for (const name of new Set(found)) t.ok((Object.values(annotations) as string[]).includes(name), name);
  });
}

t.test('the README is short, and holds the two commands that do all set-up', async (t) => {
  t.ok(readme.split('\n').length <= 120);
  t.match(section('Try it', readme), /^npm run demo .*\nnpm test /m);
});

t.test('the example of docs/concepts.md is that of manifests/examples', async (t) => {
  const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(read('docs', 'concepts.md')) ?? [];
  t.same(parse(example), parse(read('manifests', 'examples', 'deploy-v2.yaml')));
});

t.test('each annotation that a user sets is explained', async (t) => {
  const { createdBy: _ours, appliedBy: _too, ...forUsers } = annotations;
  t.same(
    rowsOf('Annotations')
      .flatMap(([name]) => named(name))
      .sort(),
    Object.values(forUsers).sort(),
  );
});

t.test('the phases, and the possible next phases', async (t) => {
  const rows = rowsOf('Phases').map(([phase, , next]) => [named(phase)[0], [...named(next)].sort()]);
  const legal = phases.map((phase) => [phase, phases.filter((next) => mayFollow(phase, next)).sort()]);
  t.same(rows.toSorted(), legal.toSorted());
});

t.test('the conditions', async (t) => {
  t.same(
    rowsOf('Conditions')
      .flatMap(([names]) => named(names))
      .sort(),
    [...conditionTypes, undoRefused].sort(),
  );
});

t.test('the variables of the hook and their defaults', async (t) => {
  const read = readConfig({ KUBECONFIG: 'file' }, ['--insecure']);
  t.equal(read.kind, 'ok');
  const pod = apiServerOf({ KUBERNETES_SERVICE_HOST: 'host' });
  const { port, host, engineNamespace, logLevel, bodyLimit, callBudget, readAge, parallel } =
    read.kind === 'ok' ? read.config : ({} as never);
  t.same(
    rowsOf('Environment').map(([name, fallback]) => [named(name)[0], named(fallback)[0] ?? '']),
    [
      ['PORT', String(port)],
      ['HOST', host],
      ['KUBECONFIG', ''],
      ['JANUS_SERVICE_ACCOUNT_DIRECTORY', pod?.kind === 'pod' ? pod.directory : ''],
      ['JANUS_NAMESPACE', engineNamespace],
      ['JANUS_NAMESPACES', ''],
      ['LOG_LEVEL', logLevel],
      ['JANUS_BODY_LIMIT', String(bodyLimit)],
      ['JANUS_CALL_BUDGET', formatDuration(callBudget)],
      ['JANUS_LOOK_AGE', formatDuration(readAge)],
      ['JANUS_PARALLEL', String(parallel)],
      ['JANUS_TOKEN_DIRECTORY', ''],
      ['JANUS_TLS_CERTIFICATE', ''],
      ['JANUS_TLS_KEY', ''],
      ['JANUS_TLS_CLIENT_AUTHORITY', ''],
      ['JANUS_PACKAGES', 'false'],
      ['JANUS_PACKAGES_NAMESPACE', 'janus-packages'],
      ['JANUS_PACKAGES_CACHE', ''],
      ['JANUS_PACKAGES_HTTP_HOSTS', ''],
      ['JANUS_PACKAGES_CROSSPLANE', 'absent'],
      ['JANUS_PACKAGES_WEBHOOK_SECRET', ''],
      ['JANUS_PACKAGES_OWN', 'none'],
      ['JANUS_PACKAGES_AUTHORITY', ''],
      ['JANUS_PACKAGES_TRUSTED_ROOT', ''],
      ['JANUS_PACKAGES_PROXY', ''],
      ['JANUS_PACKAGES_NO_PROXY', ''],
      ['JANUS_CROSSPLANE_VERSION', ''],
    ],
  );
  const broken = Object.fromEntries(rowsOf('Environment').map(([name]) => [named(name)[0], '\n']));
  const faults = readConfig({ ...broken, KUBECONFIG: '' });
  t.equal(faults.kind === 'faults' && faults.faults.length, rowsOf('Environment').length, 'each of them is read');
});

t.test('the flags of Metacontroller are those of the component', async (t) => {
  const flags = (text: string): readonly string[] => [...new Set(text.match(/--[a-z-]+=\d+/g))].sort();
  t.same(
    flags(section('Install', read('docs', 'upgrade.md'))),
    flags(read('manifests', 'tuned-metacontroller', 'kustomization.yaml')),
  );
});

t.test('the limits', async (t) => {
  const limits = section('Limits');
  t.match(limits, new RegExp(`\\| ${mostChanges} changes `));
  for (const [name, milliseconds] of Object.entries(defaultTimeouts))
    t.match(limits, `\`${name}\` \`${formatDuration(milliseconds)}\``);
});

t.test('the versions that it was measured on are those of the suite and of npm run matrix', async (t) => {
  const text = section('Measured on', contributing);
  const [, metacontroller] = /ref=v(\S+)/.exec(read('examples', 'install', 'kustomization.yaml')) ?? [];
  for (const version of [
    `Kubernetes ${patchOf()} `,
    `Node ${manifest.devDependencies.node} `,
    `Metacontroller ${metacontroller}.`,
  ])
    t.ok(text.includes(version), version);
  const rows = rowsOf('Measured on', contributing);
  t.same(rows.map(([version]) => version).toSorted(), planOf([]).versions.map(patchOf).toSorted());
  for (const [version = '', passed, failed] of rows) t.ok(Number(passed) > 1_000 && /^\d+$/.test(failed ?? ''), version);
});

t.test('every example of the hook is in the table of its README', async (t) => {
  const folders = readdirSync(join(root, 'examples', 'hook'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const listed = [...hookReadme.matchAll(/^\| `([a-z-]+)` +\|/gm)].map(([, name]) => name);
  t.same(listed.toSorted(), folders.map(({ name }) => name).sort());
});
