// Bundles `cli/` by esbuild, and collects the licences of all that is in the bundle.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';

export const root = join(import.meta.dirname, '..', '..');

const http = "module.exports = require('http');";

/** What the program loads in place of whole packages, because all that it loads at a start takes time. */
const less: Readonly<Record<string, string>> = {
  // What `server/kubernetes` uses of undici, and what client-node names.
  undici: `
    Object.assign(require('undici/lib/dispatcher/dispatcher.js').prototype, require('undici/lib/api/index.js'));
    exports.Pool = require('undici/lib/dispatcher/pool.js');
    exports.Agent = require('undici/lib/dispatcher/agent.js');
    exports.ProxyAgent = require('undici/lib/dispatcher/proxy-agent.js');`,
  // No connection uses HTTP/2, and undici works without it.
  'node:http2': 'exports.constants = {};',
  // Clients of all kinds, which nothing calls, and proxies that `server/kubernetes/kubeconfig.ts` refuses.
  './gen/index.js': 'exports.createConfiguration = exports.ServerConfiguration = undefined;',
  'socks-proxy-agent': 'exports.SocksProxyAgent = undefined;',
  socks: 'exports.SocksClient = undefined;',
  // If a module imports it, Node loads fetch and WebSocket as well. If a module requires it, Node does not.
  http,
  'node:http': http,
};

const lean: Plugin = {
  name: 'lean',
  setup(build) {
    const names = Object.keys(less).map((name) => name.replaceAll('.', '\\.'));
    build.onResolve({ filter: new RegExp(`^(${names.join('|')})$`) }, ({ path, namespace }) =>
      namespace === 'lean' ? undefined : { path, namespace: 'lean' },
    );
    build.onLoad({ filter: /^/, namespace: 'lean' }, ({ path }) => ({ contents: less[path] ?? '', resolveDir: root }));
  },
};

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
    plugins: [lean],
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
