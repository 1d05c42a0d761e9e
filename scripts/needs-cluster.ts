// Decides which test files need the control plane of `npm test`: those that import a file that reads its kubeconfig, directly or not.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { importsOf, type Source } from '../test/support/sources.ts';

const root = join(import.meta.dirname, '..');

/** The variable that only `npm test` sets (test/support/client.ts). */
const asking = /\bprocess\.env\.JANUS_TEST_KUBECONFIG\b/;

/** Paths from the root of the repository, with forward slashes. */
export function needCluster(files: readonly string[]): boolean {
  return lead(files, (source) => asking.test(source.text));
}

/** Whether a test file runs on the cluster of `npm test`, or starts a control plane of its own. */
export function usesApiServer(file: string): boolean {
  return lead([file], (source) => asking.test(source.text) || source.path === 'test/controlplane/start.ts');
}

/** Whether files, or their imports, match. */
function lead(files: readonly string[], isFound: (source: Source) => boolean): boolean {
  const seen = new Set<string>();
  const visit = (path: string): boolean => {
    if (seen.has(path)) return false;
    seen.add(path);
    const file = fileOf(path);
    return file !== undefined && (isFound(file.source) || file.imports.some(visit));
  };
  return files.some(visit);
}

interface File {
  readonly source: Source;
  /** Paths of the files that it imports. */
  readonly imports: readonly string[];
}

/** The files of the repository as they are when they are first read. */
const read = new Map<string, File | undefined>();

function fileOf(path: string): File | undefined {
  if (!read.has(path)) read.set(path, readSource(path));
  return read.get(path);
}

function readSource(path: string): File | undefined {
  const file = join(root, path);
  if (!path.endsWith('.ts') || !existsSync(file)) return undefined;
  const source = { path, text: readFileSync(file, 'utf8') };
  return { source, imports: importsOf(source).map(({ target }) => target) };
}
