// Makes the self-contained program: a copy of the Node that runs this file, with the bundle inside (Node calls it a single executable
// application). Node 24 has no `--build-sea`, so postject writes the bundle into the copy.
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { archiveOf } from './archive.ts';
import { bundle, root } from './bundle.ts';
import { nameOfArchive, type Platform, platforms } from './platforms.ts';

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** The platform of this machine. Throws one sentence if no program is made for it. */
function platformHere(): Platform {
  const here = `${process.platform}_${architectures[process.arch] ?? process.arch}`;
  const found = platforms.find((platform) => platform === here);
  if (found === undefined) throw new Error(`expected one of ${platforms.join(', ')}, found ${here}: use the npm package there.`);
  return found;
}

/** Writes the program as `kubectl-janus` and its archive into `folder`. Resolves with the paths of both. */
export async function makeBinary(folder: string): Promise<{ readonly program: string; readonly archive: string }> {
  const [program, archive] = [join(folder, 'kubectl-janus'), join(folder, nameOfArchive(platformHere()))];
  const work = mkdtempSync(join(tmpdir(), 'janus-binary-'));
  try {
    const licences = await writeBlob(work);
    writeProgram(program, join(work, 'blob'));
    writeFileSync(archive, await packed(program, licences));
  } finally {
    rmSync(work, { recursive: true });
  }
  return { program, archive };
}

/** The bundle as Node reads it from the program, with code that V8 has compiled, because that halves the time of a start. */
async function writeBlob(work: string): Promise<string> {
  // One file, and CommonJS: Node 24 runs nothing else from within a program. `import()` would read files, and becomes `require`.
  const single = { format: 'cjs', target: 'node24', supported: { 'dynamic-import': false } } as const;
  const licences = await bundle({ ...single, outfile: join(work, 'main.cjs') });
  const config = { main: 'main.cjs', output: 'blob', disableExperimentalSEAWarning: true, useCodeCache: true };
  writeFileSync(join(work, 'config.json'), JSON.stringify(config));
  execFileSync(process.execPath, ['--experimental-sea-config', 'config.json'], {
    cwd: work,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return licences;
}

function writeProgram(program: string, blob: string): void {
  const onDarwin = process.platform === 'darwin';
  copyFileSync(process.execPath, program);
  chmodSync(program, 0o755);
  if (onDarwin) execFileSync('codesign', ['--remove-signature', program]);
  const options = ['--sentinel-fuse', 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'];
  if (onDarwin) options.push('--macho-segment-name', 'NODE_SEA');
  const postject = join(root, 'node_modules/postject/dist/cli.js');
  // It warns of sections of Node that have no name.
  execFileSync(process.execPath, [postject, program, 'NODE_SEA_BLOB', blob, ...options], { stdio: ['ignore', 'ignore', 'pipe'] });
  // macOS starts no program on arm64 without a signature. This signature names no signer.
  if (onDarwin) execFileSync('codesign', ['--sign', '-', program]);
}

async function packed(program: string, licences: string): Promise<Buffer> {
  const text = (name: string, contents: string) => ({ name, bytes: Buffer.from(contents), mode: 0o644 });
  const files = [
    { name: 'kubectl-janus', bytes: readFileSync(program), mode: 0o755 },
    text('LICENSE', readFileSync(join(root, 'LICENSE'), 'utf8')),
    text('LICENSES.md', licences),
    text('LICENSE-node', licenceOfNode()),
  ];
  return await archiveOf(files, 6);
}

/** The file beside `bin/`, in an archive of Node, or in the package for this platform that npm installs. */
function licenceOfNode(): string {
  const own = dirname(dirname(process.execPath));
  const packaged = join(own, 'node_modules', `node-${process.platform}-${process.arch}`);
  const file = [own, packaged].map((folder) => join(folder, 'LICENSE')).find((path) => existsSync(path));
  if (file === undefined) throw new Error(`expected the licence of Node in ${own}/LICENSE, found none: use an archive of Node.`);
  return readFileSync(file, 'utf8');
}
