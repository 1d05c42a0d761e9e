// Reads the files of a layer while it unpacks the layer. Limits apply to the stream.
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { constants, createGunzip, createZstdDecompress } from 'node:zlib';
import { type Extract, extract, type Header } from 'tar-stream';
import { limits } from './limits.ts';
import { invalid, Trouble, unavailable } from './trouble.ts';

/** The remaining limits. Each call throws a Trouble if a limit is exceeded. */
export interface MemoryBudget {
  take(bytes: number): void;
  entry(): void;
  extendedHeader(bytes: number): void;
}

/** The limits for all layers of a package together. */
export function counting(): MemoryBudget {
  let [bytes, entries, headers] = [0, 0, 0];
  return {
    take(more) {
      bytes += more;
      if (bytes > limits.unpackedBytes) throw invalid(`the layers unpack to more than ${limits.unpackedBytes} bytes`);
    },
    entry() {
      entries += 1;
      if (entries > limits.tarEntries) throw invalid(`the layers hold more than ${limits.tarEntries} files`);
    },
    extendedHeader(more) {
      headers += more;
      if (headers > limits.extendedHeaderBytes)
        throw invalid(`the layers hold more than ${limits.extendedHeaderBytes} bytes of extended headers`);
    },
  };
}

interface Entry {
  readonly header: Header;
  /** Must be read, or resumed, before the next entry comes. */
  readonly stream: AsyncIterable<Uint8Array> & { resume(): unknown };
}

type Content = Entry['stream'];

/** The entries of a tar file, plain, or compressed by gzip or zstd. Throws a Trouble if the file is not a tar. */
export async function* entriesOf(file: string, room: MemoryBudget): AsyncGenerator<Entry> {
  const tar = extractWithin(room);
  let trouble: unknown;
  const feeding = feed(file, room, tar).catch((error: unknown) => {
    trouble = troubleOf(error);
    tar.destroy(invalid('its input ended'));
  });
  const failed = async (error: unknown): Promise<unknown> => {
    tar.destroy();
    await feeding;
    return trouble ?? (error instanceof Trouble ? error : invalid('a layer is not a tar, or is cut'));
  };
  try {
    for await (const stream of tar) {
      room.entry();
      yield { header: stream.header, stream: guarded(stream as unknown as Content, failed) };
    }
  } catch (error) {
    throw await failed(error);
  } finally {
    tar.destroy();
    await feeding;
  }
  if (trouble !== undefined) throw trouble;
}

/** The function that tar-stream calls with each extended header, before it reads that header. Its types do not show it. */
interface ExtendedHeaders {
  _decodeLongHeader?(bytes: Uint8Array): void;
  readonly _header: { readonly type: string };
}

/** tar-stream reads any number of extended headers before it shows a file. It copies a global header into each later file. */
function extractWithin(room: MemoryBudget): Extract {
  const tar = extract();
  const open = tar as unknown as ExtendedHeaders;
  const decode = open._decodeLongHeader?.bind(tar);
  if (decode === undefined) throw new Error('tar-stream has no _decodeLongHeader: extended headers would have no bound');
  let ofGlobal = 0;
  open._decodeLongHeader = (bytes) => {
    room.extendedHeader(bytes.length + ofGlobal);
    if (open._header.type === 'pax-global-header') ofGlobal = bytes.length;
    decode(bytes);
  };
  return tar;
}

/** A file whose reader gets the errors that the reader of the list of files gets. */
function guarded(content: Content, failed: (error: unknown) => Promise<unknown>): Content {
  return {
    resume: () => content.resume(),
    async *[Symbol.asyncIterator]() {
      try {
        yield* content;
      } catch (error) {
        throw await failed(error);
      }
    },
  };
}

function troubleOf(error: unknown): unknown {
  if (error instanceof Trouble) return error;
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  if (code === 'ZSTD_error_frameParameter_windowTooLarge')
    return invalid(`a layer needs a zstd window of more than ${2 ** mostWindow} bytes`);
  return /^Z_|^ERR_|^ZSTD_/.test(code)
    ? invalid('a layer is neither gzip nor zstd, or is cut')
    : unavailable(`the cache cannot be read (${code})`);
}

async function feed(file: string, room: MemoryBudget, tar: Extract): Promise<void> {
  for await (const chunk of unpacked(file)) {
    room.take(chunk.length);
    if (tar.destroying) return;
    if (!tar.write(chunk)) await drained(tar);
  }
  tar.end(undefined);
}

function drained(tar: Extract): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      tar.off('drain', done);
      tar.off('close', done);
      resolve();
    };
    if (tar.destroyed) resolve();
    tar.on('drain', done);
    tar.on('close', done);
  });
}

async function* unpacked(file: string): AsyncGenerator<Uint8Array> {
  const unpack = await unpackerOf(file);
  const source = createReadStream(file);
  const stream: Readable = unpack === undefined ? source : pipeline(source, unpack, () => undefined);
  try {
    yield* stream;
  } finally {
    source.destroy();
    stream.destroy();
  }
}

/** The largest window of a zstd frame, as a power of two: 8 MiB, which RFC 8878 recommends for each decoder. */
const mostWindow = 23;

/** The decoder follows from the first bytes, as in go-containerregistry: media types of layers are often wrong. A plain tar has none. */
async function unpackerOf(file: string): Promise<Transform | undefined> {
  const handle = await open(file);
  try {
    const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    if (buffer.readUInt16BE(0) === 0x1f8b) return createGunzip();
    if (buffer.readUInt32BE(0) === 0x28b52ffd)
      return createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: mostWindow } });
    return undefined;
  } finally {
    await handle.close();
  }
}
