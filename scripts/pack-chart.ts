// `npm run pack:chart [-- FOLDER]`: packs the Helm chart, `janus-VERSION.tgz`: charts/janus with copies of the manifests that it installs.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { chartArchive } from './pack-chart/chart.ts';

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
  readonly version: string;
};
const target = resolve(process.argv[2] ?? 'dist');
mkdirSync(target, { recursive: true });
const path = join(target, `janus-${version}.tgz`);
const archive = await chartArchive();
writeFileSync(path, archive);
console.log(`${path} ${archive.length} bytes`);
