// Bundles `cli/` by esbuild, and collects the licences of all that is in the bundle.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';

export const root = join(import.meta.dirname, '..', '..');

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly engines?: { readonly node: string };
}

/** Bundles as `options` say. Resolves with the text of LICENSES.md. */
export async function bundle(options: BuildOptions): Promise<string> {
  const { metafile } = await build({
    entryPoints: [join(root, 'cli', 'main.ts')],
    bundle: true,
    platform: 'node',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'error',
    absWorkingDir: root,
    ...options,
    metafile: true,
  });
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  return licencesOf([...new Set(inputs.flatMap(packageOf))].toSorted());
}

/** `node_modules/a/node_modules/@b/c/x.js` is of `node_modules/a/node_modules/@b/c`. */
function packageOf(path: string): readonly string[] {
  const [, folder] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
  return folder === undefined ? [] : [folder];
}

export function manifestAt(folder: string): Manifest {
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
