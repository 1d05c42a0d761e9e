// Writes the folder to pack: the bundle, the programs, and the licences of all packages in the bundle.
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';
import { bundle, manifestAt, root } from './bundle.ts';

const programs = ['janus', 'kubectl-janus', 'kubectl_complete-janus'] as const;

/** Code is split, so help does not load the cluster. */
const split: BuildOptions = {
  splitting: true,
  format: 'esm',
  target: 'node22.23',
  // CommonJS packages in the bundle call `require` for modules of Node.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
};

/** Writes the package into an empty folder. */
export async function writePackage(folder: string): Promise<void> {
  const { version, engines } = manifestAt(root);
  const licences = await bundle({ ...split, outdir: join(folder, 'lib') });
  mkdirSync(join(folder, 'bin'));
  for (const program of programs) {
    writeFileSync(join(folder, 'bin', `${program}.js`), starter(engines?.node ?? ''), { mode: 0o755 });
  }
  const manifest = {
    name: 'kubectl-janus',
    version,
    description: 'Several changes to a Kubernetes cluster as one Transaction: apply, follow, undo',
    license: 'Apache-2.0',
    type: 'module',
    engines,
    bin: Object.fromEntries(programs.map((program) => [program, `bin/${program}.js`])),
    files: ['bin', 'lib', 'LICENSE', 'LICENSES.md'],
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'LICENSES.md'), licences);
  writeFileSync(join(folder, 'README.md'), readFileSync(join(root, 'docs', 'cli.md')));
  setModes(folder);
}

/**
 * An older Node does not know modules that the bundle imports, and would print the bundle. `oldest`: `>=22.23`. Node keeps the code that
 * V8 has compiled in a folder that only the user can write, because Node runs what lies there.
 */
function starter(oldest: string): string {
  const [major, minor] = oldest.replace('>=', '').split('.').map(Number);
  return `#!/usr/bin/env node
import { mkdirSync, statSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

function keepCompiled() {
  try {
    const { XDG_CACHE_HOME = '', LOCALAPPDATA = '' } = process.env;
    const caches = [XDG_CACHE_HOME, LOCALAPPDATA].find(isAbsolute) ?? join(homedir(), '.cache');
    const folder = join(caches, 'kubectl-janus');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { mode, uid } = statSync(folder);
    const isPrivate = process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0);
    if (isPrivate) module.enableCompileCache(folder);
  } catch {
    // Without such a folder the program starts more slowly.
  }
}

const [major, minor] = process.versions.node.split('.').map(Number);
if (major > ${major} || (major === ${major} && minor >= ${minor})) {
  keepCompiled();
  await import('../lib/main.js');
} else {
  console.error('janus: The program needs Node ${major}.${minor} or later, and this is Node ' + process.versions.node + ': install a newer Node.');
  process.exitCode = 64;
}
`;
}

/** Sets fixed modes, because npm packs modes as they are, and the umask of a checkout may differ. */
function setModes(folder: string): void {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  for (const file of entries.filter((entry) => entry.isFile())) {
    const path = join(file.parentPath, file.name);
    chmodSync(path, statSync(path).mode & 0o100 ? 0o755 : 0o644);
  }
}
