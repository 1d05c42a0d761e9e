// Reads the files of a layer while unpacking it, within limits that apply while it streams.
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { type Extract, extract, type Header } from 'tar-stream';
import { limits } from './limits.ts';
import { invalid, Trouble, unavailable } from './trouble.ts';

/** How much may still be unpacked. Each call throws a Trouble if it is too much. */
export interface Room {
  take(bytes: number): void;
  entry(): void;
  extendedHeader(bytes: number): void;
}

/** The limits for all layers of a package together. */
export function counting(): Room {
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

/** The entries of a tar file, plain or gzipped. Throws a Trouble if the file is not a tar. */
export async function* entriesOf(file: string, room: Room): AsyncGenerator<Entry> {
  const tar = extractWithin(room);
  let trouble: unknown;
  const feeding = feed(file, room, tar).catch((error: unknown) => {
    trouble = troubleOf(error);
    tar.destroy(invalid('its input ended'));
  });
  const failed = async (error: unknown): Promise<unknown> => {
    tar.destroy();
    await feeding;
    return trouble ?? (error instanceof Trouble ? error : invalid('a layer is no tar, or is cut'));
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

/** What tar-stream calls with each extended header, before it reads that header. Its types do not show it. */
interface ExtendedHeaders {
  _decodeLongHeader?(bytes: Uint8Array): void;
  readonly _header: { readonly type: string };
}

/** tar-stream reads extended headers before it shows a file, however many there are, and copies a global one into each that follows. */
function extractWithin(room: Room): Extract {
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

/** A file whose reader gets the same errors as who reads the list of files. */
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
  return /^Z_|^ERR_/.test(code) ? invalid('a layer is no gzip, or is cut') : unavailable(`the cache cannot be read (${code})`);
}

async function feed(file: string, room: Room, tar: Extract): Promise<void> {
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
  const isPacked = await startsAsGzip(file);
  const source = createReadStream(file);
  const stream: Readable = isPacked ? pipeline(source, createGunzip(), () => undefined) : source;
  try {
    yield* stream;
  } finally {
    source.destroy();
    stream.destroy();
  }
}

async function startsAsGzip(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return buffer.readUInt16BE(0) === 0x1f8b;
  } finally {
    await handle.close();
  }
}
