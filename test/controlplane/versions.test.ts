// Other versions of Kubernetes: their list, their build, and the answer to an unknown version.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { planOf, tableOf } from '../../scripts/matrix/table.ts';
import { usesApiServer } from '../../scripts/needs-cluster.ts';
import { readTestOptions } from '../../scripts/test-options.ts';
import { buildBinaries, isBuilt } from './build.ts';
import { findEnvtest, prebuiltBinaries } from './prebuilt.ts';
import { minors, moduleFolder, moduleText, patchOf } from './versions.ts';

const root = join(import.meta.dirname, '../..');

t.test('the options of npm test', async (t) => {
  t.same(readTestOptions(['test/hooks', '--kubernetes', '1.34', '--jobs=1', '--use-existing-cluster', '--results=a']), {
    named: ['test/hooks'],
    jobs: 1,
    all: true,
    kubernetes: '1.34',
    results: 'a',
  });
  t.same(readTestOptions(['--kubernetes=1.30']), { named: [], jobs: 4, all: true, kubernetes: '1.30' });
  t.throws(() => readTestOptions(['--bail']), /--bail/);
});

for (const [script, ...args] of [
  ['scripts/test.ts', '--kubernetes', '9.99'],
  ['scripts/test.ts', '--kubernetes=9.99', 'test/hooks'],
  ['scripts/matrix.ts', '1.34', '9.99'],
] as const)
  t.test(`${script} ${args.join(' ')}: one sentence, exit code 1, nothing changed`, async (t) => {
    const home = t.testdir({});
    const env = { PATH: process.env.PATH, HOME: home };
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { cwd: root, env, encoding: 'utf8' });
    t.equal(status, 1);
    t.equal(stderr, `--kubernetes: expected one of ${minors.join(', ')}, found "9.99".\n`);
    t.equal(stdout, '');
    t.notOk(existsSync(join(home, '.cache')));
  });

t.test('a member name of JavaScript objects is no version', async (t) => {
  for (const version of ['constructor', '', '1.3', '1.36.3']) t.throws(() => patchOf(version), /expected one of/);
});

t.test('the go.mod of another version names its parts by that version, and the Go that it was made for', async (t) => {
  const theirs = 'go 1.22.0\n\nrequire k8s.io/api v0.0.0\n\nreplace (\n\tk8s.io/api => ./staging/src/k8s.io/api\n)\n';
  const text = moduleText('1.30.14', theirs);
  t.match(text, /^require k8s\.io\/kubernetes v1\.30\.14$/m);
  t.match(text, /^\tk8s\.io\/api => k8s\.io\/api v0\.30\.14$/m);
  t.match(text, /^godebug default=go1\.22$/m);
  t.match(moduleText('1.37.2', `godebug default=go1.26\n${theirs}`), /^godebug default=go1\.26$/m);
  t.throws(() => moduleText('1.30.14', 'go 1.22.0\n'), /names no Go version, or no parts/);
});

// Go is stood in for: the real one takes ten minutes for a version. `npm run matrix` takes it.
t.test('another version is built from the modules of its last patch release, once, beside the pinned one', async (t) => {
  const folder = t.testdir({
    theirs: 'go 1.24.0\n\nreplace k8s.io/api => ./staging/src/k8s.io/api\n',
    go: `#!/bin/sh
echo "$*" >> "$(dirname "$0")/asked"
case "$1" in
env) echo go99.0.0 ;;
mod) [ ! -e "$(dirname "$0")/offline" ] || { echo 'dial tcp: no route' >&2; exit 1; }
  printf '{"GoMod": "%s/theirs"}' "$(dirname "$0")" ;;
list) touch go.sum ;;
build) while [ "$1" != -o ]; do shift; done; touch "$2/kube-apiserver" ;;
esac
`,
  });
  chmodSync(join(folder, 'go'), 0o755);
  const { PATH } = process.env;
  t.teardown(() => Object.assign(process.env, { PATH }));
  Object.assign(process.env, { PATH: `${folder}:${PATH}` });
  const env = { XDG_CACHE_HOME: join(folder, 'cache'), JANUS_KUBERNETES: '1.34' };
  const cached = join(folder, 'cache/janus');
  const build = () => buildBinaries(() => undefined, env);

  writeFileSync(join(folder, 'offline'), '');
  await t.rejects(build(), { message: 'Kubernetes 1.34.4: go could not download its module:\ndial tcp: no route' });
  t.same(readdirSync(cached), [], 'nothing half made is left');
  writeFileSync(join(folder, 'go'), readFileSync(join(folder, 'go'), 'utf8').replace('/offline', '/online'));
  t.notOk(isBuilt(env));
  const binaries = await build();
  t.ok(isBuilt(env));
  const [tools = '', module] = readdirSync(cached).sort();
  t.match(tools, /^controlplane-1\.34\.4-[0-9a-f]{16}$/);
  t.equal(module, 'kubernetes-1.34.4');
  t.equal(binaries['kube-apiserver'], join(cached, tools, 'kube-apiserver'));
  t.match(readFileSync(join(cached, 'kubernetes-1.34.4/go.mod'), 'utf8'), '\tk8s.io/api => k8s.io/api v0.34.4\n');
  const asked = readFileSync(join(folder, 'asked'), 'utf8');
  t.match(asked, 'mod download -json k8s.io/kubernetes@v1.34.4\n');
  t.match(asked, /^build .*\.gitVersion=v1\.34\.4 .*\.gitMinor=34 /m);

  t.same(await build(), binaries);
  t.equal(readFileSync(join(folder, 'asked'), 'utf8'), asked, 'the second time Go is asked nothing');
  t.equal(moduleFolder(patchOf(), env), import.meta.dirname, 'the pinned one has its go.mod here');
});

t.test('tests that use the API server run on another version', async (t) => {
  t.ok(usesApiServer('test/scenarios/changes/types.test.ts'));
  t.ok(usesApiServer('test/packaging/installs.test.ts'), 'a control plane of its own');
  t.notOk(usesApiServer('test/hooks/objects/json.test.ts'));
});

t.test('the matrix: the oldest, the newest, and three below it; or those that are named', async (t) => {
  t.same(planOf([]).versions, [minors[0], minors[minors.length - 4], minors.at(-1)]);
  t.same(planOf(['1.34', 'test/scenarios']), { versions: ['1.34'], rest: ['test/scenarios'] });
  const table = tableOf([
    { version: '1.30.14', passed: 3, failures: ['a > b\n  why', 'c'] },
    { version: '1.34.4', passed: 4, failures: ['c'] },
  ]);
  t.match(table, '| 1.30.14 | 3 | 2 | a > b |\n| 1.34.4 | 4 | 1 | nothing |\n\nFailed on each: c\n');
});

t.test('ready programs of a folder that is named, without Go; a folder that lacks one is refused', async (t) => {
  const folder = t.testdir({
    etcd: '',
    'kube-apiserver': '',
    'kube-controller-manager': '',
    part: { etcd: '', 'kube-apiserver': '' },
  });
  for (const name of ['etcd', 'kube-apiserver', 'kube-controller-manager', 'part/etcd', 'part/kube-apiserver'])
    chmodSync(join(folder, name), 0o755);
  const report = (line: string) => t.fail(line);
  const found = await buildBinaries(report, { PATH: '', HOME: '', JANUS_CONTROL_PLANE: folder });
  t.equal(found['kube-controller-manager'], join(folder, 'kube-controller-manager'));
  t.throws(
    () => prebuiltBinaries({ JANUS_CONTROL_PLANE: join(folder, 'part') }),
    /found no kube-controller-manager in .*part; add/,
  );
  t.same(findEnvtest({ KUBEBUILDER_ASSETS: join(folder, 'part') })?.missing, ['kube-controller-manager']);
  t.same(findEnvtest({ KUBEBUILDER_ASSETS: folder })?.missing, []);
  t.equal(findEnvtest({ KUBEBUILDER_ASSETS: join(folder, 'none') }), undefined);
});
