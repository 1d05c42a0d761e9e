// Reads what a user names as a stream, within bounds of size and time: it may be a device, or a FIFO to which nothing writes.
import { constants, createReadStream, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';
import { isatty as isTerminal, ReadStream as Terminal } from 'node:tty';
import { codeOf, Problem } from '../problem.ts';

export interface Bounds {
  readonly bytes: number;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** In ms, for the whole content. */
  readonly patience?: number;
}

export const usualPatience = 30_000;

/** Throws a Problem. After Ctrl-C the content is empty. */
export async function readPath(path: string, { bytes, signal, patience = usualPatience }: Bounds): Promise<Uint8Array> {
  const ending = AbortSignal.any([AbortSignal.timeout(patience), signal]);
  try {
    return await boundedBytes(path, addAbortSignal(ending, openStream(path)), bytes);
  } catch (error) {
    if (error instanceof Problem) throw error;
    if (signal.aborted) return Buffer.of();
    const why = ending.aborted ? `no end in ${patience / 1000} s` : codeOf(error, 'unreadable');
    throw new Problem(`${path} cannot be read (${why}): correct the path after -f.`);
  }
}

// A thread that waits for a FIFO, or for a terminal, would hold up the end of the process. So neither opening nor reading blocks.
function openStream(path: string): Readable {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = fstatSync(fd);
  if (stats.isFIFO()) return new Socket({ fd, readable: true, writable: false });
  return stats.isCharacterDevice() && isTerminal(fd) ? new Terminal(fd) : createReadStream('', { fd });
}

/** Throws a Problem if there are more than `most` bytes. `name`: for its message. */
export async function boundedBytes(name: string, body: AsyncIterable<Uint8Array>, most: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > most) throw new Problem(`${name} has more than ${most / 1024 / 1024} MiB: apply it in parts.`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
