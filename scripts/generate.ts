// Writes the manifests that are generated from schemas/, and the files that the chart has copies of: node scripts/generate.ts
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { chartFiles } from './chart-files.ts';
import { generatedManifests } from './generated-manifests.ts';

for (const [path, text] of Object.entries(generatedManifests))
  writeFileSync(new URL(`../manifests/${path}`, import.meta.url), text);

const root = join(import.meta.dirname, '..');
for (const [copy, original] of Object.entries(chartFiles)) {
  mkdirSync(dirname(join(root, 'charts/janus', copy)), { recursive: true });
  cpSync(join(root, original), join(root, 'charts/janus', copy));
}
