// The files of a folder. The command line refuses an entry that is not a regular file before it reads anything, because the user has not
// named that entry.
import { type Dirent, readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, Problem } from '../problem.ts';

interface Found {
  readonly files: readonly string[];
  /** Each with what it is. */
  readonly unfit: readonly string[];
}

/** The extensions that kubectl reads. */
const extensions = ['.yaml', '.yml', '.json'];

/** The files at that path, and of all folders below it if `recursive`. Throws a Problem. */
export function filesAt(path: string, recursive: boolean): Found {
  if (!attempt(path, () => statSync(path)).isDirectory()) return { files: [path], unfit: [] };
  return filesIn(path, recursive);
}

function filesIn(folder: string, recursive: boolean): Found {
  const entries = attempt(folder, () => readdirSync(folder, { withFileTypes: true }));
  const found = entries
    .toSorted((left, right) => (left.name < right.name ? -1 : 1))
    .map((entry) => foundAt(join(folder, entry.name), entry, recursive));
  return { files: found.flatMap(({ files }) => files), unfit: found.flatMap(({ unfit }) => unfit) };
}

const nothing: Found = { files: [], unfit: [] };

function foundAt(path: string, entry: Dirent, recursive: boolean): Found {
  if (entry.isDirectory()) return recursive ? filesIn(path, true) : nothing;
  const what = entry.isSymbolicLink() ? linkedAt(path, recursive) : unfitIn(entry);
  if (what !== undefined) return { files: [], unfit: [`${path} is ${what}`] };
  return { files: extensions.some((extension) => path.endsWith(extension)) ? [path] : [], unfit: [] };
}

/** Why what is there cannot be read; undefined if it is a regular file. */
function unfitIn(one: Dirent | Stats): string | undefined {
  if (one.isFile()) return undefined;
  if (one.isFIFO()) return 'a FIFO';
  return one.isSocket() ? 'a socket' : 'a device';
}

/** A link to a folder may lead in a circle. Without `recursive`, it is left out as folders are. */
function linkedAt(path: string, recursive: boolean): string | undefined {
  try {
    const linked = statSync(path);
    if (linked.isDirectory()) return recursive ? 'a link to a folder' : undefined;
    const what = unfitIn(linked);
    return what === undefined ? undefined : `a link to ${what}`;
  } catch (error) {
    const code = codeOf(error, 'unreadable');
    return code === 'ELOOP' ? 'a link in a circle' : `a link that leads nowhere (${code})`;
  }
}

/** Throws a Problem if the action fails. */
export function attempt<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw new Problem(`${path} cannot be read (${codeOf(error, 'unreadable')}): correct the path after -f.`);
  }
}
