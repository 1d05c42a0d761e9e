// The workflow is well formed, has no rights but to read, and runs nothing that is not pinned. GitHub alone can run it.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { buildPackaging } from '../tools/packaging/packaging.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, '.github/workflows');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

for (const file of readdirSync(folder))
  t.test(file, async (t) => {
    const path = join(folder, file);
    const { actionlint } = await buildPackaging((line) => t.comment(line));
    const { status, stdout } = spawnSync(actionlint, ['-no-color', path], { encoding: 'utf8' });
    t.equal(status, 0, stdout);
    const text = readFileSync(path, 'utf8');
    t.same(parse(text).permissions, { contents: 'read' });
    for (const [, action = ''] of text.matchAll(/uses: (\S+)/g)) t.match(action, /^actions\/[a-z-]+@[0-9a-f]{40}$/);
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

t.test('a release looks at its base first, builds on processors of both architectures, and signs what it joined', async (t) => {
  const { verify, image, publish } = jobsOf('release.yml');
  const scripts: readonly string[] = verify.steps.flatMap(({ run }: { readonly run?: string }) =>
    run === undefined ? [] : [run],
  );
  t.same(scripts, ['node scripts/release/base.ts', '.ci/run']);
  t.same([image.needs, publish.needs], ['verify', 'image']);
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
