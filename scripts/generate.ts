// Writes the manifests that are generated from schemas/: node scripts/generate.ts
import { writeFileSync } from 'node:fs';
import { generatedManifests } from './generated-manifests.ts';

for (const [path, text] of Object.entries(generatedManifests))
  writeFileSync(new URL(`../manifests/${path}`, import.meta.url), text);
