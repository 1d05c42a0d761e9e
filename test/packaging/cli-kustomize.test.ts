// `-k`: the command line lets kustomize build a folder, or kubectl where there is no kustomize, and takes what comes out.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { readManifests } from '../../cli/input/read.ts';
import type { Io } from '../../cli/io.ts';
import { textAt } from '../../hooks/objects/json.ts';
import { buildKubectl } from '../controlplane/build.ts';
import { freeFolder } from '../support/hook-process.ts';
import { buildPackaging } from '../tools/packaging/packaging.ts';

const report = (line: string) => process.stderr.write(`${line}\n`);
const { kustomize } = await buildPackaging(report);
const kubectl = await buildKubectl(report);
const folder = freeFolder(t);
writeFileSync(join(folder, 'kustomization.yaml'), 'namePrefix: new-\nresources: [one.yaml]\n');
writeFileSync(join(folder, 'one.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: one }\n');

const io = (path: string): Io => ({
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: { PATH: `${path}:/usr/bin:/bin` },
  folder: dirname(folder),
  program: 'janus',
  interrupted: new AbortController().signal,
});
const sources = (kustomize: string) => ({ files: [], recursive: false, kustomize });

async function namesBy(path: string): Promise<readonly (string | undefined)[]> {
  return (await readManifests(sources(folder), io(path))).map(({ object }) => textAt(object, 'metadata', 'name'));
}

t.test('kustomize, and kubectl in its place', async (t) => {
  t.same(await namesBy(dirname(kustomize)), ['new-one']);
  t.same(await namesBy(dirname(kubectl)), ['new-one']);
});

t.test('a kustomization that cannot be built is one sentence; so are -f and -k together', async (t) => {
  const broken = readManifests(sources(join(folder, 'none')), io(dirname(kustomize)));
  await t.rejects(broken, { message: /^kustomize build .*none ended with 1: correct the kustomization\.$/ });
  await t.rejects(readManifests({ ...sources(folder), files: ['a.yaml'] }, io('')), { code: 64 });
});
