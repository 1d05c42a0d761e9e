// Reloads files that are replaced while the hook runs, such as mounted Secrets. The hook uses them if they changed and are valid.
import { readFileSync } from 'node:fs';

/** Text by path, without files that cannot be read. */
export type Files = ReadonlyMap<string, string>;

export type Parsed<Value> =
  | { readonly kind: 'ok'; readonly value: Value }
  | { readonly kind: 'faults'; readonly faults: readonly string[] };

interface Source<Value> {
  readonly paths: readonly string[];
  readonly parse: (files: Files) => Parsed<Value>;
}

export interface Followed<Value> {
  /** The last valid value. */
  readonly value: Value;
  /** Reads the files; undefined if they are unchanged. */
  readAgain(): Parsed<Value> | undefined;
}

/** Reads for the first time, when there is no earlier value to keep. */
export function follow<Value>({ paths, parse }: Source<Value>): Parsed<Followed<Value>> {
  let seen = read(paths);
  const first = parse(seen);
  if (first.kind === 'faults') return first;
  let { value } = first;
  const followed: Followed<Value> = {
    get value() {
      return value;
    },
    readAgain() {
      const found = read(paths);
      if (paths.every((path) => found.get(path) === seen.get(path))) return undefined;
      seen = found;
      const parsed = parse(found);
      if (parsed.kind === 'ok') value = parsed.value;
      return parsed;
    },
  };
  return { kind: 'ok', value: followed };
}

function read(paths: readonly string[]): Files {
  return new Map(paths.flatMap((path) => entryOf(path)));
}

function entryOf(path: string): readonly (readonly [string, string])[] {
  try {
    return [[path, readFileSync(path, 'utf8')]];
  } catch {
    return [];
  }
}
