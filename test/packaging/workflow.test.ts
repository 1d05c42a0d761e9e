// The workflow is well formed, has no rights but to read, and runs nothing that is not pinned. GitHub alone can run it.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { platforms } from '../../scripts/pack-cli/platforms.ts';
import { buildPackaging } from '../tools/packaging/packaging.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, '.github/workflows');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** By commit, of GitHub itself. */
const pinnedAction = /^(actions\/[a-z-]+|github\/codeql-action\/(init|analyze))@[0-9a-f]{40}$/;

for (const file of readdirSync(folder))
  t.test(file, async (t) => {
    const path = join(folder, file);
    const { actionlint } = await buildPackaging((line) => t.comment(line));
    const { status, stdout } = spawnSync(actionlint, ['-no-color', path], { encoding: 'utf8' });
    t.equal(status, 0, stdout);
    const text = readFileSync(path, 'utf8');
    t.same(parse(text).permissions, { contents: 'read' });
    const versionless = new Set([...text.matchAll(/uses: (\S+)/g)].map(([, action = '']) => action));
    for (const action of versionless) t.match(action, pinnedAction, action);
    for (const [, action = ''] of text.matchAll(/uses: (\S+) # v\d+\.\d+\.\d+$/gm)) versionless.delete(action);
    t.same([...versionless], [], 'each pin names its version, which Dependabot renews');
    for (const [, script = ''] of text.matchAll(/npm run ([a-z]+)/g)) t.type(manifest.scripts[script], 'string', script);
  });

const jobsOf = (file: string) => parse(readFileSync(join(folder, file), 'utf8')).jobs;
const scriptOf = (job: { readonly steps: readonly { readonly run?: string }[] }): string =>
  job.steps.map(({ run = '' }) => run).join('\n');

t.test('a night tries every case of both campaigns, in parts that end in time', async (t) => {
  const { strategy, ...job } = jobsOf('nightly.yml').faults;
  const { part, of } = strategy.matrix;
  t.same(of, ['', '--packages']);
  t.ok(part.length >= 4);
  t.same(
    part,
    part.map((_: number, index: number) => index),
  );
  t.match(scriptOf(job), `npm run faults -- \${{ matrix.of }} --every ${part.length} --seed \${{ matrix.part }}`);
  t.equal(strategy['fail-fast'], false, 'one part ends no other');
});

t.test('each change is tried by all tests, in four jobs', async (t) => {
  const { strategy, ...job } = jobsOf('ci.yml').everything;
  t.same(strategy.matrix.shard, [1, 2, 3, 4]);
  t.match(scriptOf(job), `npm run test:all -- --shard \${{ matrix.shard }}/4`);
});

t.test(
  'the nightly workflow tries everything of which npm test tries a share, and the other versions of Kubernetes',
  async (t) => {
    const runs: readonly string[] = jobsOf('nightly.yml').shares.strategy.matrix.include.map(({ run }: { run: string }) => run);
    const shares = runs.map((run) => /^(JANUS_[A-Z_]+)=\w+ npm test -- (\S+)$/.exec(run)).filter((match) => match !== null);
    t.same(
      shares.map(([, variable]) => variable),
      [
        ...['JANUS_ROUND_TRIPS', 'JANUS_HISTORIES', 'JANUS_PLANS', 'JANUS_CORPUS'],
        ...['JANUS_PACKAGES_EACH', 'JANUS_PACKAGES_GRAPHS', 'JANUS_PACKAGES_HISTORIES'],
      ],
    );
    for (const [, variable, file = ''] of shares)
      t.ok(readFileSync(join(root, file), 'utf8').includes(`process.env.${variable}`), `${file} reads ${variable}`);
    t.same(runs.slice(shares.length), ['npm run sabotage', 'npm ci && npm run mutants', 'npm run test:all', 'npm run matrix']);
  },
);

t.test('each change is scanned, sources and workflows, and only that job may write its results', async (t) => {
  const { on } = parse(readFileSync(join(folder, 'code-scanning.yml'), 'utf8'));
  t.same([on.push, 'pull_request' in on, on.schedule.length], [{ branches: ['main'] }, true, 1]);
  const { codeql, ...others } = jobsOf('code-scanning.yml');
  t.same(others, {});
  t.same(codeql.permissions, { contents: 'read', 'security-events': 'write' });
  t.same(codeql.strategy.matrix, { language: ['javascript-typescript', 'actions'] });
  const steps: readonly { readonly uses: string; readonly with: unknown }[] = codeql.steps;
  const [checkout = '', init = '', analyze = ''] = steps.map(({ uses }) => uses);
  t.match(checkout, /^actions\/checkout@/);
  t.match(init, /^github\/codeql-action\/init@/);
  t.equal(analyze, init.replace('/init@', '/analyze@'), 'both of one release');
  t.same(steps[1]?.with, { languages: `\${{ matrix.language }}`, 'build-mode': 'none' });
});

t.test('a release checks its base first, builds on processors of both architectures, and signs the joined image', async (t) => {
  const { verify, image, binaries, assets, publish } = jobsOf('release.yml');
  const scripts: readonly string[] = verify.steps.flatMap(({ run }: { readonly run?: string }) =>
    run === undefined ? [] : [run],
  );
  t.same(scripts, ['node scripts/release/base.ts', '.ci/run', 'npm run test:all']);
  t.same([image.needs, binaries.needs, assets.needs, publish.needs], ['verify', 'verify', 'binaries', ['image', 'assets']]);
  t.same(image.strategy.matrix.include, [
    { architecture: 'amd64', runner: 'ubuntu-24.04' },
    { architecture: 'arm64', runner: 'ubuntu-24.04-arm' },
  ]);
  t.equal(image['runs-on'], `\${{ matrix.runner }}`);
  const build = scriptOf(image);
  for (const part of ['--platform "linux/$ARCHITECTURE" ', '--sbom=true', '--provenance=mode=max', 'push-by-digest=true'])
    t.ok(build.includes(part), part);
  t.notMatch(build + scriptOf(publish), /qemu|linux\/amd64,linux/);
  t.same(Object.keys(image.outputs), ['amd64', 'arm64'], 'the digests, which the next job joins');
  t.match(scriptOf(publish), `imagetools create --tag "$IMAGE:\${TAG#v}" "$IMAGE@$AMD64" "$IMAGE@$ARM64"`);
  t.match(scriptOf(publish), 'sign --yes "$IMAGE@$image"');
});

interface Step {
  readonly run?: string;
  readonly uses?: string;
  readonly with?: { readonly name?: string; readonly path?: string };
}

interface Job {
  readonly permissions?: object;
  readonly env?: object;
  readonly steps: readonly Step[];
}

t.test('a release publishes the assets that another job made, without a right to write', async (t) => {
  const { assets, publish } = jobsOf('release.yml');
  t.match(scriptOf(assets), 'npm run release -- "$TAG" build/release build/binaries');
  t.equal(assets.permissions, undefined, 'those of the workflow: to read');
  const artifactOf = (steps: readonly Step[], action: string) =>
    steps
      .filter(({ uses = '' }) => uses.startsWith(`actions/${action}-artifact@`))
      .map(({ with: { name, path } = {} }) => [name, path]);
  t.same(artifactOf(assets.steps, 'upload'), [['assets', 'build/release']]);
  t.same(artifactOf(publish.steps, 'download'), artifactOf(assets.steps, 'upload'));
});

t.test('each platform makes its self-contained program, of a Node whose sum is checked', async (t) => {
  const { binaries, assets } = jobsOf('release.yml');
  t.same(
    binaries.strategy.matrix.include.map(({ node }: { node: string }) => node.replace('-', '_').replace('x64', 'amd64')),
    platforms,
  );
  t.match(
    scriptOf(binaries),
    /shasum --algorithm 256 --check\n[\s\S]*build\/node\/bin\/node scripts\/pack-binary\.ts build\/binaries/,
  );
  const { with: upload } = binaries.steps.find(({ uses = '' }) => uses.startsWith('actions/upload-artifact@'));
  const { with: download } = assets.steps.find(({ uses = '' }) => uses.startsWith('actions/download-artifact@'));
  t.same(upload, { name: `binary-\${{ matrix.node }}`, path: 'build/binaries/*.tar.gz', 'if-no-files-found': 'error' });
  t.same(download, { pattern: 'binary-*', 'merge-multiple': true, path: 'build/binaries' });
});

t.test('a job that may sign runs no npm, and no job shows a token to all of its steps', async (t) => {
  const jobs = readdirSync(folder).flatMap((file) =>
    Object.entries<Job>(jobsOf(file)).map(([name, job]) => [`${file} ${name}`, job] as const),
  );
  const signing = jobs.filter(([, { permissions = {} }]) => 'id-token' in permissions);
  t.same(
    signing.map(([name]) => name),
    ['release.yml publish', 'site.yml publish'],
  );
  for (const [name, job] of signing) {
    t.notMatch(scriptOf(job), /\b(npm|npx|node)\b|\.ci\//, name);
    t.notMatch(JSON.stringify(job), 'actions/setup-node', name);
  }
  for (const [name, { env = {} }] of jobs) t.notMatch(JSON.stringify(env), /token/i, name);
});
