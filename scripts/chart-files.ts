// The files that the chart has copies of, by their paths in it. Real files: archivers of sources (Flux) drop links.
import { globSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const folders = ['', 'crds/', 'monitoring/', 'served-namespace/', 'confined-metacontroller/', 'packages/', 'packages/kinds/'];
const own = folders.flatMap((folder) => globSync(`manifests/${folder}*.{yaml,json}`, { cwd: root }));
const theirs = globSync('test/fixtures/metacontroller/install/metacontroller*.yaml', { cwd: root });

export const chartFiles: Readonly<Record<string, string>> = Object.fromEntries(
  [...own, ...theirs]
    .filter((path) => !/(^manifests\/namespace|kustomization)\.yaml$/.test(path))
    .sort()
    // Helm creates what is in crds/ before it looks up the kinds of all others, and leaves what is there already.
    .map((path) => [path.replace('test/fixtures/metacontroller/install', /-crds-/.test(path) ? 'crds' : 'metacontroller'), path]),
);
