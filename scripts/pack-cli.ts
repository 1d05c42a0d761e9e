// `npm run pack:cli [-- FOLDER]`: packs the command line as one package without dependencies, `kubectl-janus-VERSION.tgz`, for Node 22.23
// or later. Only the command line is bundled (docs/decisions/0039-a-bundle-for-the-cli.md).
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { writePackage } from './pack-cli/package.ts';

const target = resolve(process.argv[2] ?? 'dist');
const folder = mkdtempSync(join(tmpdir(), 'janus-cli-'));
try {
  mkdirSync(target, { recursive: true });
  await writePackage(folder);
  const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', target], { cwd: folder, encoding: 'utf8' });
  const [{ filename, size }] = JSON.parse(packed) as [{ filename: string; size: number }];
  console.log(`${join(target, filename)} ${size} bytes`);
} finally {
  rmSync(folder, { recursive: true });
}
