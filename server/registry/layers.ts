// Reads package.yaml from the layers of an image. It writes nothing to disk, and reads no other file.
import { posix } from 'node:path';
import type { Header } from 'tar-stream';
import { counting, entriesOf, type Room } from './tar.ts';
import { invalid } from './trouble.ts';

const wanted = 'package.yaml';
const whiteout = '.wh.';
const opaque = '.wh..wh..opq';

interface Place {
  readonly file: string;
  readonly path: string;
}

/** The stream of `package.yaml` in an image with these layers, the lowest first. Throws a Trouble unless there is exactly one. */
export async function* packageStream(files: readonly string[]): AsyncGenerator<Uint8Array> {
  const { file, path } = await findPackage(files);
  for await (const entry of entriesOf(file, counting())) {
    if (!isWanted(entry.header) || cleaned(entry.header.name) !== path) entry.stream.resume();
    else {
      yield* entry.stream;
      return;
    }
  }
}

// From the top: a layer hides lower files by the same path or by a whiteout.
async function findPackage(files: readonly string[]): Promise<Place> {
  const room = counting();
  const places: Place[] = [];
  const hidden = new Set<string>();
  for (const file of files.toReversed()) {
    const paths = await pathsIn(file, room, hidden);
    places.push(...paths.found.map((path) => ({ file, path })));
    for (const path of [...paths.found, ...paths.hides]) hidden.add(path);
  }
  const [place, ...others] = places;
  if (place === undefined) throw invalid(`the image holds no ${wanted}`);
  if (others.length > 0) throw invalid(`the image holds ${places.length} files ${wanted}, expected one`);
  return place;
}

interface Paths {
  readonly found: string[];
  /** Paths that the layer hides in lower layers, with all that lies below them. */
  readonly hides: string[];
}

async function pathsIn(file: string, room: Room, hidden: ReadonlySet<string>): Promise<Paths> {
  const paths: Paths = { found: [], hides: [] };
  for await (const { header, stream } of entriesOf(file, room)) {
    stream.resume();
    const path = cleaned(header.name);
    paths.hides.push(...hiddenBy(path));
    if (posix.basename(path) !== wanted || isHidden(path, hidden)) continue;
    requirePlain(header);
    paths.found.push(path);
  }
  return paths;
}

function isHidden(path: string, hidden: ReadonlySet<string>): boolean {
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
  if (posix.basename(name) === wanted && (name.startsWith('/') || name.split('/').includes('..')))
    throw invalid(`${wanted} has a path that leads out of its layer`);
  return posix.normalize(name).replace(/\/$/, '');
}
