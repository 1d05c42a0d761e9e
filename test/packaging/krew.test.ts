// The manifest for krew names the archive of each platform with its sum. The validator of krew's index accepts it, and refuses a broken one.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { nameOfArchive, platforms } from '../../scripts/pack-cli/platforms.ts';
import { krewManifest } from '../../scripts/release/krew.ts';
import { buildKrew } from '../tools/krew/krew.ts';

const validator = await buildKrew((line) => t.comment(line));
const template = readFileSync(join(import.meta.dirname, '../../packaging/krew.yaml'), 'utf8');
const archives = new Map(platforms.map((platform) => [nameOfArchive(platform), Buffer.from(platform)]));
const manifest = krewManifest(template, '1.2.3', archives);

/** It downloads nothing: what is behind `uri` does not exist before a release. */
function validate(text: string) {
  const file = join(t.testdir({}), 'janus.yaml');
  writeFileSync(file, text);
  const { status, stderr } = spawnSync(validator, ['-manifest', file, '-skip-install'], { encoding: 'utf8' });
  return { status, stderr };
}

t.test('every platform has its archive, and the sum of that archive', async (t) => {
  const { metadata, spec } = parse(manifest);
  t.same([metadata.name, spec.version], ['janus', 'v1.2.3']);
  t.same(
    spec.platforms,
    platforms.map((platform) => {
      const [os, arch] = platform.split('_');
      return {
        selector: { matchLabels: { os, arch } },
        uri: `https://github.com/janus-io/janus-on-metacontroller/releases/download/v1.2.3/kubectl-janus_${platform}.tar.gz`,
        sha256: createHash('sha256').update(platform).digest('hex'),
        bin: 'kubectl-janus',
      };
    }),
  );
});

t.test('the validator of krew accepts the manifest, and refuses one that breaks a rule', async (t) => {
  const { status, stderr } = validate(manifest);
  t.equal(status, 0, stderr);
  for (const [whole, broken, found] of [
    ['name: janus', 'name: kubectl-janus/', /name/],
    ['version: "v1.2.3"', 'version: "1.2.3"', /version/],
    [/sha256: .*/, 'sha256: "0"', /sha256/],
    ['bin: kubectl-janus', 'binary: kubectl-janus', /`bin` has to be set/],
  ] as const) {
    const refused = validate(manifest.replace(whole, broken));
    t.not(refused.status, 0, broken);
    t.match(refused.stderr, found);
  }
});

t.test('a missing archive is named', async (t) => {
  const [first = ''] = archives.keys();
  t.throws(() => krewManifest(template, '1.2.3', new Map([...archives].slice(1))), new RegExp(`^${first} is missing: `));
});
