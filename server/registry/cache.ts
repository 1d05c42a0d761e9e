// Stores blobs on disk, by digest and by source: a blob of one repository does not count for another repository. The cache may disappear
// at any time. A blob gets its name when it is complete, and its digest is checked at every use. So a crash, another process or a broken
// disk costs only one more download.
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { invalid, Trouble, unavailable } from './trouble.ts';

interface Announced {
  readonly source: string;
  readonly digest: string;
  /** In bytes. */
  readonly size: number;
  readonly most: number;
}

export interface Cache {
  /** The path of a complete blob. Undefined if the cache does not have it, or the signal is aborted during the check of its digest. */
  find(source: string, digest: string, signal: AbortSignal): Promise<string | undefined>;
  /**
   * Stores the content and returns its path. Throws a Trouble, and stores nothing, if size or digest differ from those announced.
   */
  store(announced: Announced, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<string>;
}

const abandonedAfter = 86_400_000;
const unfinished = '.unfinished-';

/** The part of `mostBytes` that a process stores before it reads the directory again. */
const share = 1 / 16;

/** Creates a cache in that directory. It keeps at most `mostBytes`, and a sixteenth more for each other process that stores. */
export function createCache(directory: string, mostBytes: number): Cache {
  /** Bytes to store before the cache reads the directory again, which costs a `stat` for each file. */
  let left = 0;
  let isCounting = false;
  const account = async (size: number, path: string): Promise<void> => {
    left -= size;
    if (left >= 0 || isCounting) return;
    [left, isCounting] = [0, true];
    left += await makeRoom(directory, mostBytes, path)
      .then((free) => Math.min(free, mostBytes * share))
      .finally(() => {
        isCounting = false;
      });
  };
  const pathOf = (source: string, digest: string): string =>
    join(directory, `${digest.replace(':', '-')}-${createHash('sha256').update(source).digest('hex')}`);
  return {
    async find(source, digest, signal) {
      const path = pathOf(source, digest);
      const found = await digestOf(path, signal).catch(() => undefined);
      if (found === undefined) return undefined;
      if (found !== digest) {
        await rm(path, { force: true });
        return undefined;
      }
      const now = new Date();
      await utimes(path, now, now).catch(() => undefined);
      return path;
    },
    async store(announced, content) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const path = pathOf(announced.source, announced.digest);
      const temporary = `${path}${unfinished}${randomUUID()}`;
      let size = 0;
      try {
        size = await write(temporary, announced, content);
        await rename(temporary, path);
      } catch (error) {
        await rm(temporary, { force: true });
        throw troubleOf(error);
      }
      await account(size, path);
      return path;
    },
  };
}

function troubleOf(error: unknown): unknown {
  if (error instanceof Trouble || !(error instanceof Error) || !('code' in error)) return error;
  return unavailable(`the cache cannot be written (${String(error.code)})`);
}

async function digestOf(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { signal })) hash.update(chunk);
  return `sha256:${hash.digest('hex')}`;
}

/** Returns the number of bytes written. */
async function write(
  path: string,
  announced: Announced,
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<number> {
  const file = await open(path, 'wx', 0o600);
  try {
    let size = 0;
    for await (const chunk of checked(announced, content)) {
      await file.write(chunk);
      size += chunk.length;
    }
    return size;
  } finally {
    await file.close();
  }
}

/** Passes the content on. Throws when the content exceeds its limits, or at its end if size or digest are wrong. */
async function* checked(
  { digest, size, most }: Announced,
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  const bound = Math.min(size, most);
  let length = 0;
  for await (const chunk of content) {
    length += chunk.length;
    if (length > bound) throw invalid(`${digest} has more than ${bound} bytes`);
    hash.update(chunk);
    yield chunk;
  }
  if (length !== size) throw invalid(`${digest} was announced with ${size} bytes, it has ${length}`);
  const found = `sha256:${hash.digest('hex')}`;
  if (found !== digest) throw invalid(`expected content of the digest ${digest}, found ${found}`);
}

interface Stored {
  readonly path: string;
  readonly size: number;
  readonly used: number;
}

/**
 * Removes the least recently used blobs, and files of writers that died. It never removes the blob `kept`, which was just stored. Returns
 * the number of free bytes.
 */
async function makeRoom(directory: string, mostBytes: number, kept: string): Promise<number> {
  const all = await Promise.all((await readdir(directory)).map((name) => statOf(join(directory, name))));
  const stored = all.filter((one) => one !== undefined).toSorted((left, right) => left.used - right.used);
  let excess = stored.reduce((sum, { size }) => sum + size, 0) - mostBytes;
  for (const { path, size, used } of stored) {
    const isAbandoned = path.includes(unfinished) && Date.now() - used > abandonedAfter;
    if (path === kept || !(isAbandoned || (excess > 0 && !path.includes(unfinished)))) continue;
    await rm(path, { force: true });
    excess -= size;
  }
  return -excess;
}

// Another process may have removed the file meanwhile.
async function statOf(path: string): Promise<Stored | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined ? undefined : { path, size: found.size, used: found.mtimeMs };
}
