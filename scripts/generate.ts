// `npm run generate`: writes the manifests and docs/api.md from schemas/, and the version of Node in documents.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiPage } from './api-page.ts';
import { generatedManifests } from './generated-manifests.ts';
import { namingNode, withNode } from './node-versions.ts';

for (const [path, text] of Object.entries(generatedManifests))
  writeFileSync(new URL(`../manifests/${path}`, import.meta.url), text);

const root = join(import.meta.dirname, '..');
writeFileSync(join(root, 'docs/api.md'), apiPage());

const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
for (const path of namingNode)
  writeFileSync(join(root, path), withNode(path, readFileSync(join(root, path), 'utf8'), devDependencies.node));
