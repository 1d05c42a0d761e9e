// The files that the chart copies, by their paths in the chart. They are not links, because Flux drops links in archives of sources.
import { globSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const packages = ['packages/', 'packages/beside/', 'packages/kinds/', 'packages/own/', 'packages/own/beside/'];
const folders = ['', 'crds/', 'monitoring/', 'served-namespace/', 'confined-metacontroller/', ...packages];
const own = folders.flatMap((folder) => globSync(`manifests/${folder}*.{yaml,json}`, { cwd: root }));
const theirs = globSync('test/fixtures/metacontroller/install/metacontroller*.yaml', { cwd: root });

export const chartFiles: Readonly<Record<string, string>> = Object.fromEntries(
  [...own, ...theirs]
    .filter((path) => !/(^manifests\/namespace|kustomization)\.yaml$/.test(path))
    .sort()
    // Helm creates the files in crds/ before it looks up the kinds of all other files. It does not change existing objects.
    .map((path) => [path.replace('test/fixtures/metacontroller/install', /-crds-/.test(path) ? 'crds' : 'metacontroller'), path]),
);
