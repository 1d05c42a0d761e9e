// The package: its files, its programs, its size.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openCli } from '../support/cli.ts';
import { deletion, one } from './here.ts';

const cli = await openCli(t);
const read = (path: string) => readFileSync(join(cli.folder, path), 'utf8');

t.test('the package has no dependencies, three programs, the licences, and a Node version', async (t) => {
  const manifest = JSON.parse(read('package.json'));
  t.equal(manifest.dependencies, undefined);
  t.same(Object.keys(manifest.bin), ['janus', 'kubectl-janus', 'kubectl_complete-janus']);
  for (const path of Object.values(manifest.bin) as string[]) t.ok(statSync(join(cli.folder, path)).mode & 0o100, path);
  t.same(manifest.engines, { node: '>=22.23' });
  t.match(read('LICENSE'), /Apache License/);
  for (const name of ['commander', '@kubernetes/client-node', 'js-yaml', 'undici', 'log-update', 'diff', 'openid-client'])
    t.match(read('LICENSES.md'), new RegExp(`^## ${name} \\d`, 'm'));
  t.notMatch(read('LICENSES.md'), /has no file of its licence: undefined/);
});

t.test('an older Node gets one sentence and the exit code of wrong use', async (t) => {
  const old = join(cli.home, 'old.mjs');
  writeFileSync(old, "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.0' } });\n");
  const words = ['--import', old, join(cli.folder, 'bin/janus.js'), 'list'];
  t.match(await cli.run(words, { bare: true }), {
    code: 64,
    out: '',
    err: /^janus: The program needs Node 22\.23 or later, and this is Node 20\.20\.0: [^\n]+\n$/,
  });
});

t.test('the tarball is smaller than 2 MB', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'janus-pack-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const [{ size, filename }] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
      cwd: cli.folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  );
  t.ok(size < 2_000_000, `${size} bytes`);
  t.ok(existsSync(join(folder, filename)));
});

/** Files of the bundle that a command line loads: those that Node says it has run, in its report of coverage. */
function loadedBy(...words: readonly string[]): readonly string[] {
  const reports = mkdtempSync(join(cli.home, 'coverage-'));
  const args = [join(cli.folder, 'bin/janus.js'), ...words];
  spawnSync(process.execPath, args, { cwd: cli.home, env: { HOME: cli.home, NODE_V8_COVERAGE: reports }, stdio: 'ignore' });
  const loaded = readdirSync(reports).map((name) => readFileSync(join(reports, name), 'utf8'));
  return readdirSync(join(cli.folder, 'lib')).filter((file) => loaded.some((report) => report.includes(`/lib/${file}"`)));
}

/** What only these packages have in their code. */
const marks = {
  'client-node': 'KUBERNETES_SERVICE_HOST',
  undici: 'UND_ERR_CONNECT_TIMEOUT',
  'js-yaml': 'tag:yaml.org,2002:float',
  fastify: 'FST_ERR_',
};

t.test('help loads neither client-node, undici, fastify nor YAML', async (t) => {
  const textOf = (files: readonly string[]) => files.map((file) => read(join('lib', file))).join('');
  const all = textOf(readdirSync(join(cli.folder, 'lib')));
  for (const name of ['client-node', 'undici', 'js-yaml'] as const) t.ok(all.includes(marks[name]), `${name} is in the package`);
  t.notOk(all.includes(marks.fastify), 'fastify is not');
  for (const words of [['--help'], ['apply', '--help'], ['help', 'status']]) {
    const loaded = loadedBy(...words);
    t.ok(loaded.includes('main.js'), `${words.join(' ')} loads ${loaded.join(' ')}`);
    for (const [name, mark] of Object.entries(marks)) t.notOk(textOf(loaded).includes(mark), `${words.join(' ')}: no ${name}`);
  }
  t.ok(textOf(loadedBy('list')).includes(marks['client-node']), 'a command that connects does, so the test can fail');
});

t.test('Node keeps compiled code in a folder that only the user can write, or nowhere', async (t) => {
  const caches = mkdtempSync(join(cli.home, 'caches-'));
  const kept = join(caches, 'kubectl-janus');
  const help = (env: Readonly<Record<string, string>>) =>
    spawnSync(process.execPath, [join(cli.folder, 'bin/janus.js'), '--help'], { cwd: cli.home, env: { PATH: '', ...env } });
  t.equal(help({ XDG_CACHE_HOME: caches }).status, 0);
  t.equal(statSync(kept).mode & 0o777, 0o700);
  t.ok(readdirSync(kept, { recursive: true }).length > 1, 'it holds compiled code');
  rmSync(kept, { recursive: true });
  mkdirSync(kept);
  chmodSync(kept, 0o777);
  t.equal(help({ XDG_CACHE_HOME: caches }).status, 0);
  t.same(readdirSync(kept), [], 'others can write that folder');
  const home = mkdtempSync(join(cli.home, 'home-'));
  t.equal(help({ XDG_CACHE_HOME: 'relative', HOME: home }).status, 0);
  t.same(readdirSync(join(home, '.cache')), ['kubectl-janus']);
  t.equal(help({ HOME: '/dev/null' }).status, 0, 'without any folder');
});

t.test('without a cluster: file names move no cursor, an empty path is no folder, and anchors may repeat', async (t) => {
  const named = await cli.run(['lint', '-f', '\u001b[31mred.yaml']);
  t.match(named, { code: 3, out: '', err: /\\u\{1b\}\[31mred\.yaml cannot be read/ });
  t.notOk(named.err.includes('\u001b'));
  t.match(await cli.run(['lint', '-f', '']), { code: 64, err: /-f and -k need a path/ });
  const change = (index: number, labels: string) =>
    `  - {type: Apply, content: {apiVersion: v1, kind: ConfigMap, metadata: {name: c${index}, labels: ${labels}}}}`;
  const changes = Array.from({ length: 150 }, (_, index) => change(index, index === 0 ? '&l {app: shop}' : '*l'));
  const head = 'apiVersion: tx.janus.io/v1alpha1\nkind: Transaction\nmetadata: {name: a, namespace: a}';
  const file = cli.write('anchors.yaml', `${head}\nspec:\n  serviceAccountName: a\n  changes:\n${changes.join('\n')}\n`);
  t.match(await cli.run(['lint', '-f', file]), { code: 0, out: '', err: '' });
  const latin = join(cli.home, 'latin.yaml');
  writeFileSync(latin, Buffer.from(`${head}\nspec: {serviceAccountName: pä}\n`, 'latin1'));
  t.match(await cli.run(['lint', '-f', latin]), { code: 3, out: '', err: /latin\.yaml is not UTF-8/ });
});

t.test('the program has an exit code for a silent API server, and for wrong use', async (t) => {
  const config = {
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    ...{ users: [{ name: 'u', user: { token: 'a' } }], 'current-context': 'c' },
  };
  const env = { KUBECONFIG: cli.write('silent.json', JSON.stringify(config)) };
  const good = cli.write('tx.json', JSON.stringify(deletion));
  const bad = cli.write('bad.json', JSON.stringify({ ...deletion, spec: { ...deletion.spec, changes: [{ type: 'Update' }] } }));
  const none = cli.write('cm.json', JSON.stringify(one));
  const silent = /^janus: https:\/\/127\.0\.0\.1:1 gives no answer /;
  const usage = /^janus: [^\n]+\n$/;
  const rows: readonly (readonly [string, number, RegExp])[] = [
    [`lint -f ${good}`, 0, /^$/],
    [`lint -f ${bad}`, 2, /^$/],
    [`lint -f ${none}`, 3, /There is no Transaction in these files/],
    [`plan -f ${good}`, 3, silent],
    ['diff one', 3, silent],
    [`apply -f ${good} --wait`, 1, silent],
    ['status one --watch', 1, silent],
    ...['undo one --yes', 'abort one --yes', 'retry one --yes'].map((words) => [`${words} --wait`, 1, silent] as const),
    ...['list', 'history', 'locks', `rbac -f ${good}`, 'status one'].map((words) => [words, 1, silent] as const),
    ['version', 0, /^$/],
    ['completion bash', 0, /^$/],
    ['plan', 64, usage],
    ['diff', 64, usage],
    ['lint', 64, usage],
    ['apply', 64, usage],
    ['status --bogus', 64, usage],
    ['undo', 64, usage],
    ['lst', 64, usage],
  ];
  for (const [words, code, err] of rows) t.match(await cli.run(words.split(' '), { env }), { code, err }, words);
});

t.test('a program whose output is closed ends with an error', async (t) => {
  const help = cli.start(['--help']);
  help.process.stdout?.destroy();
  t.equal((await help.finished).code, 141);
});
