// Reads package.yaml from the layers of an image. It writes nothing to disk, and reads no other file.
import { posix } from 'node:path';
import type { Header } from 'tar-stream';
import { limits } from './limits.ts';
import { counting, entriesOf, type MemoryBudget } from './tar.ts';
import { invalid } from './trouble.ts';

const wanted = 'package.yaml';
const whiteout = '.wh.';
const opaque = '.wh..wh..opq';

/**
 * The stream of `package.yaml` in an image with these layers, the lowest first. Throws a Trouble, at the latest at its end, if the image
 * does not have exactly one.
 */
export async function* packageStream(files: readonly string[]): AsyncGenerator<Uint8Array> {
  const search: Search = { room: counting(), hidden: new Set(), found: 0 };
  // Starts at the top, because a layer hides lower files by an equal path, or by a whiteout.
  for (const file of files.toReversed()) yield* packageIn(file, search);
  if (search.found === 0) throw invalid(`the image holds no ${wanted}`);
}

interface Search {
  readonly room: MemoryBudget;
  /** Paths that the layers so far hide in lower layers, with all paths below them. */
  readonly hidden: Set<string>;
  found: number;
}

async function* packageIn(file: string, search: Search): AsyncGenerator<Uint8Array> {
  const hides: string[] = [];
  for await (const { header, stream } of entriesOf(file, search.room)) {
    const path = cleaned(header.name);
    hides.push(...hiddenBy(path));
    if (posix.basename(path) !== wanted || isHidden(path, search.hidden)) {
      stream.resume();
      continue;
    }
    requirePlain(header);
    search.found += 1;
    if (search.found > 1) throw invalid(`the image holds ${search.found} files ${wanted}, expected one`);
    hides.push(path);
    yield* stream;
  }
  for (const path of hides) search.hidden.add(path);
}

function isHidden(path: string, hidden: ReadonlySet<string>): boolean {
  if (path.split('/', limits.pathLevels + 1).length > limits.pathLevels)
    throw invalid(`${wanted} lies more than ${limits.pathLevels} levels deep in its layer`);
  const folders = path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'));
  return ['.', ...folders].some((folder) => hidden.has(folder));
}

function requirePlain(header: Header): void {
  const pax = typeof header.pax === 'object' && header.pax !== null ? Object.keys(header.pax) : [];
  if (!isWanted(header) || pax.some((key) => key.startsWith('GNU.sparse')))
    throw invalid(`${wanted} is no plain file in its layer`);
}

function isWanted({ type }: Header): boolean {
  return type === 'file' || type === 'contiguous-file';
}

function hiddenBy(path: string): readonly string[] {
  const [folder, name] = [posix.dirname(path), posix.basename(path)];
  if (name === opaque) return [folder];
  return name.startsWith(whiteout) ? [posix.join(folder, name.slice(whiteout.length))] : [];
}

function cleaned(name: string): string {
  // This check comes first, because the time to normalize a path grows with the square of its length.
  if (name.length > limits.pathCharacters) throw invalid(`a layer holds a path of more than ${limits.pathCharacters} characters`);
  if (posix.basename(name) === wanted && (name.startsWith('/') || name.split('/').includes('..')))
    throw invalid(`${wanted} has a path that leads out of its layer`);
  return posix.normalize(name).replace(/\/$/, '');
}
