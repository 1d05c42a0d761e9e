// Parses the bytes of a request as JSON. It checks bounds before it parses: a few megabytes of brackets take a hundred times as much
// memory as values.
import type { FastifyInstance } from 'fastify';
import { parseJson } from '../hooks/objects/json.ts';

// The API server stores no object deeper than 10 000 levels. etcd's limit of 1.5 MiB bounds the number of parts. So every stored
// Transaction passes, and the engine can report its faults.
const mostLevels = 10_100;
const mostParts = 1_100_000;

/** Fastify's own parser refuses the key `__proto__`, which objects may have, and rounds integers above 2^53. */
export function acceptJson(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    if (!isWithinBounds(body)) return done(refusal(413));
    try {
      done(null, parseJson(body.toString()));
    } catch {
      done(refusal(400));
    }
  });
}

function refusal(statusCode: number): Error {
  return Object.assign(new Error('the body is rejected'), { statusCode });
}

/** The level and the number of parts that each byte adds. */
const levelsOf = new Int8Array(256);
const partsOf = new Int8Array(256);
for (const byte of Buffer.from('[{')) levelsOf[byte] = 1;
for (const byte of Buffer.from(']}')) levelsOf[byte] = -1;
for (const byte of Buffer.from('[{,:')) partsOf[byte] = 1;

const added = (table: Int8Array, byte: number): number => table[byte] ?? 0;

/** Counts brackets, commas and colons outside of strings. The parser decides whether the text is JSON. */
export function isWithinBounds(bytes: Uint8Array): boolean {
  let level = 0;
  let parts = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte === quotationMark) index = endOfString(bytes, index + 1);
    level += added(levelsOf, byte);
    parts += added(partsOf, byte);
    if (level > mostLevels || parts > mostParts) return false;
  }
  return true;
}

const backslash = 0x5c;
const quotationMark = 0x22;

function endOfString(bytes: Uint8Array, start: number): number {
  let index = start;
  while (index < bytes.length && bytes[index] !== quotationMark) index += bytes[index] === backslash ? 2 : 1;
  return index;
}
