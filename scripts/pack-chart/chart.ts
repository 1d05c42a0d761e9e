// The Helm chart: the files of charts/janus, and copies of the manifests that it installs.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { archiveOf } from '../pack-cli/archive.ts';

const root = join(import.meta.dirname, '../..');
const packages = ['packages/', 'packages/beside/', 'packages/kinds/', 'packages/own/', 'packages/own/beside/'];
const folders = ['', 'crds/', 'monitoring/', 'served-namespace/', 'confined-metacontroller/', ...packages];

/** The contents of the files, by their paths in the chart. */
export function chartFiles(): ReadonlyMap<string, Buffer> {
  const manifests = folders.flatMap((folder) => globSync(`manifests/${folder}*.{yaml,json}`, { cwd: root }));
  const metacontroller = globSync('test/fixtures/metacontroller/install/metacontroller*.yaml', { cwd: root });
  const copies = [...manifests, ...metacontroller]
    .filter((path) => !/(^manifests\/namespace|kustomization)\.yaml$/.test(path))
    // Helm creates the files in crds/ before it looks up the kinds of all other files. It does not change existing objects.
    .map((path) => [path.replace('test/fixtures/metacontroller/install', /-crds-/.test(path) ? 'crds' : 'metacontroller'), path]);
  const own = globSync('**/*.*', { cwd: join(root, 'charts/janus') }).map((path) => [path, `charts/janus/${path}`]);
  const files = [...own, ...copies].map(([path = '', source = '']) => [path, readFileSync(join(root, source))] as const);
  return new Map(files.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Packs the chart as Helm does, but without times and owners. */
export async function chartArchive(): Promise<Buffer> {
  const files = [...chartFiles()].map(([path, bytes]) => ({ name: `janus/${path}`, bytes, mode: 0o644 }));
  return await archiveOf(files, 9);
}
