// Writes the folder to pack: the bundle, the programs, and the licences of all packages in the bundle.
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..', '..');
const programs = ['janus', 'kubectl-janus', 'kubectl_complete-janus'] as const;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly engines?: { readonly node: string };
}

/** Writes the package into an empty folder. */
export async function writePackage(folder: string): Promise<void> {
  const { version, engines } = manifestAt(root);
  const bundled = await bundle(join(folder, 'lib'));
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
  writeFileSync(join(folder, 'LICENSES.md'), licencesOf(bundled));
  writeFileSync(join(folder, 'README.md'), readFileSync(join(root, 'docs', 'cli.md')));
  setModes(folder);
}

/** An older Node does not know modules that the bundle imports, and would print the bundle. `oldest`: `>=22.19`. */
function starter(oldest: string): string {
  const [major, minor] = oldest.replace('>=', '').split('.').map(Number);
  return `#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number);
if (major > ${major} || (major === ${major} && minor >= ${minor})) await import('../lib/main.js');
else {
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

/** Bundles into `folder`. Resolves with the folders of the packages in the bundle. Code is split, so help does not load the cluster. */
async function bundle(folder: string): Promise<readonly string[]> {
  const { metafile } = await build({
    entryPoints: [join(root, 'cli', 'main.ts')],
    outdir: folder,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node22.19',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'error',
    absWorkingDir: root,
    // CommonJS packages in the bundle call `require` for modules of Node.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  return [...new Set(inputs.flatMap(packageOf))].toSorted();
}

/** `node_modules/a/node_modules/@b/c/x.js` is of `node_modules/a/node_modules/@b/c`. */
function packageOf(path: string): readonly string[] {
  const [, folder] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
  return folder === undefined ? [] : [folder];
}

function manifestAt(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

function licencesOf(folders: readonly string[]): string {
  const parts = folders.map((folder) => {
    const { name, version, license } = manifestAt(join(root, folder));
    return `## ${name} ${version}: ${license}\n\n\`\`\`\n${licenceIn(join(root, folder)).trim()}\n\`\`\`\n`;
  });
  return `# Licences of the contents of this package\n\n${parts.join('\n')}`;
}

function licenceIn(folder: string): string {
  const file = readdirSync(folder).find((name) => /^(licen[cs]e|copying)/i.test(name));
  if (file !== undefined && existsSync(join(folder, file))) return readFileSync(join(folder, file), 'utf8');
  return `The package has no file of its licence: ${manifestAt(folder).license}.`;
}
