// A release: its assets have equal bytes each time, the chart in it is one that Helm renders, its version is in one place, and what
// must not be released is refused in one sentence, with nothing written.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse, parseAllDocuments } from 'yaml';
import { type Assets, makeAssets, notesOf } from '../../scripts/release/assets.ts';
import { refusalOf } from '../../scripts/release/base.ts';
import { openHelm } from '../packaging/helm.ts';
import { openKustomize } from '../packaging/kustomize.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const manifest = JSON.parse(read('package.json'));
const { version } = manifest as { readonly version: string };
const render = await openKustomize(t);
const helm = await openHelm(t);
const changelog = `# Changelog\n\n## [Unreleased]\n\n## [${version}] - 2026-12-01\n\n### Added\n\n- One.\n\n## [0.0.1]\n\n- Older.\n`;
const packedName = `kubectl-janus-${version}.tgz`;
const commandLine = new Map([[packedName, Buffer.from('packed')]]);
const make = (packed: Assets = commandLine) => makeAssets({ version, changelog, render, commandLine: packed });

/** As `npm run release` has it packed, by a user with that umask; npm may ask no registry. */
function pack(umask: string): Assets {
  const folder = t.testdir({});
  const shell = `umask ${umask} && exec "$0" scripts/pack-cli.ts "$1"`;
  const env = { ...process.env, npm_config_offline: 'true' };
  const { status, stderr } = spawnSync('sh', ['-c', shell, process.execPath, folder], { cwd: root, env, encoding: 'utf8' });
  t.equal(status, 0, stderr);
  return new Map([[packedName, readFileSync(join(folder, packedName))]]);
}

t.test('two runs make equal bytes, the packed command line too, and checksums of them', async (t) => {
  const [once, again] = [await make(pack('022')), await make(pack('077'))];
  t.same([...once.keys()], [...again.keys()]);
  for (const [name, bytes] of once) t.ok(bytes.equals(again.get(name) ?? Buffer.alloc(0)), name);
  const sums = String(once.get('checksums.txt')).trim().split('\n');
  t.same(
    sums,
    [...once]
      .filter(([name]) => name !== 'checksums.txt')
      .map(([name, bytes]) => `${createHash('sha256').update(bytes).digest('hex')}  ${name}`)
      .sort(),
  );
  t.equal(String(once.get('release-notes.md')), '### Added\n\n- One.\n');
});

t.test('the chart of a release is rendered by Helm as that of the repository, of real files', async (t) => {
  const archive = join(t.testdir({}), `janus-${version}.tgz`);
  writeFileSync(archive, (await make()).get(`janus-${version}.tgz`) ?? '');
  const args = ['--namespace', 'janus-system', '--set', 'token.create=false'];
  const rendered = helm.run('template', 'janus', archive, ...args);
  t.equal(rendered.status, 0, rendered.text);
  t.equal(rendered.text, helm.run('template', 'janus', helm.chart, ...args).text);
});

t.test('both manifests hold the engine of this version, one of them Metacontroller as well', async (t) => {
  const assets = await make();
  for (const [name, count] of [
    ['install.yaml', 0],
    ['install-with-metacontroller.yaml', 1],
  ] as const) {
    const text = String(assets.get(name));
    t.ok(text.includes(`ghcr.io/janus-io/janus-on-metacontroller:${version}`), name);
    t.equal(parseAllDocuments(text).filter((document) => document.get('kind') === 'StatefulSet').length, count);
  }
});

t.test('package.json has the version; the other files agree', async (t) => {
  const { version: ofChart, appVersion, annotations } = parse(read('charts/janus/Chart.yaml'));
  t.same([ofChart, appVersion], [version, version]);
  t.ok(annotations['artifacthub.io/images'].includes(`:${version}\n`));
  t.equal(JSON.parse(read('package-lock.json')).version, version);
  t.equal(parse(read('manifests/kustomization.yaml')).images[0].newTag, version);
  for (const path of ['manifests/deployment.yaml', 'scripts/kind.ts', 'README.md'])
    t.ok(read(path).includes(`janus-on-metacontroller:${version}`), path);
  t.ok(read('Dockerfile').includes(`ARG VERSION=${version}\n`));
});

t.test('the README installs and verifies this version', async (t) => {
  const [install = '', verify = ''] = read('README.md').match(/^(helm install|cosign verify) .*$/gm) ?? [];
  t.match(install, ` --version ${version} `);
  t.match(verify, new RegExp(`:${version} .*@refs/tags/v${version}$`));
});

t.test('the image is built only on a base that is pinned by digest', async (t) => {
  const dockerfile = read('Dockerfile');
  const pinned = dockerfile.replaceAll(/^(FROM \S+:[^\s@]+)\S*/gm, `$1@sha256:${'0a'.repeat(32)}`);
  t.equal(refusalOf(pinned), undefined);
  t.match(refusalOf(pinned.replace(/@sha256:\w+/, '')), /expected one base in all FROM lines/);
  t.match(
    refusalOf(pinned.replaceAll(/@sha256:\w+/g, '')),
    /expected a base pinned by digest, node:\S+-alpine@sha256:…, found node:/,
  );
  const refusal = refusalOf(dockerfile);
  const { status, stderr } = spawnSync(process.execPath, ['scripts/release/base.ts'], { cwd: root, encoding: 'utf8' });
  t.same([status, stderr], refusal === undefined ? [0, ''] : [1, `${refusal}\n`]);
  const [before = ''] = read('.github/workflows/release.yml').split('run: .ci/run');
  t.match(before, 'run: node scripts/release/base.ts', 'before anything is run, made or published');
});

t.test('no link is in the repository', async (t) => {
  const { stdout } = spawnSync('git', ['ls-files', '--stage'], { cwd: root, encoding: 'utf8' });
  t.same(
    stdout.split('\n').filter((line) => line.startsWith('120000')),
    [],
  );
});

t.test('refused in one sentence, with exit code 1 and nothing written', async (t) => {
  const folder = join(t.testdir({}), 'release');
  const hasEntry = read('CHANGELOG.md').includes(`\n## [${version}]`);
  const cases = [
    [['v9.9.9', folder], `expected the tag v${version}, as in package.json, found "v9.9.9".`],
    [[], `expected the tag v${version}, as in package.json, found "".`],
    ...(hasEntry
      ? []
      : [[[`v${version}`, folder], `CHANGELOG.md has no entry "## [${version}]": write what changed in this version.`] as const]),
  ] as const;
  for (const [args, said] of cases) {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/release/release.ts', ...args], {
      cwd: root,
      encoding: 'utf8',
    });
    t.equal(status, 1);
    t.equal(stderr, `npm run release: ${said}\n`);
    t.notOk(existsSync(folder));
  }
  t.throws(() => notesOf('# Changelog\n\n## [Unreleased]\n', version), { message: /has no entry/ });
});
