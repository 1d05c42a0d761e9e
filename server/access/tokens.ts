// The bearer tokens that callers may send. Kept as digests, compared in constant time, never logged.
import { createHash, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import type { Files, Parsed } from './files.ts';

export interface Tokens {
  readonly count: number;
  accepts(token: string): boolean;
}

const shortest = 32;
const longest = 1024;

// RFC 6750. Metacontroller trims white space around the token, and the hook trims it, too.
const shape = /^[A-Za-z0-9._~+/-]+=*$/;

export function tokenPaths(directory: string): readonly [current: string, previous: string] {
  return [join(directory, 'current'), join(directory, 'previous')];
}

/** `previous` is optional. If the file exists, the hook accepts its token as well as `current`. */
export function parseTokens([currentPath, previousPath]: readonly [string, string], files: Files): Parsed<Tokens> {
  const [current, previous] = [files.get(currentPath), files.get(previousPath)];
  const faults = [
    ...(current === undefined
      ? [`${currentPath}: expected a file with a token, found none that can be read`]
      : faultsOf(currentPath, current)),
    ...(previous === undefined ? [] : faultsOf(previousPath, previous)),
  ];
  if (faults.length > 0) return { kind: 'faults', faults };
  const digests = [current, previous].filter((text) => text !== undefined).map((text) => digestOf(text.trim()));
  return { kind: 'ok', value: { count: digests.length, accepts: (token) => isAmong(digests, digestOf(token)) } };
}

function faultsOf(path: string, text: string): readonly string[] {
  const { length } = text.trim();
  if (length < shortest || length > longest)
    return [`${path}: expected a token of ${shortest} to ${longest} characters, found ${length}`];
  return shape.test(text.trim())
    ? []
    : [`${path}: expected a token of letters, digits and -._~+/ with = at its end only, found other characters`];
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

// The function compares all digests, so that its time reveals neither the matching digest nor a matching prefix.
function isAmong(digests: readonly Buffer[], digest: Buffer): boolean {
  return digests.map((one) => timingSafeEqual(one, digest)).includes(true);
}
