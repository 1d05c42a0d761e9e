// Requests ahead of the resolution what it will require next.
import { type JsonObject, textAt } from '../../objects/json.ts';
import type { Installed } from '../model/lock.ts';
import type { Meta } from '../model/package.ts';
import { isDigest } from '../model/reference.ts';
import type { Registry, RegistryFailed } from '../registry.ts';

type List = ReturnType<Registry['tags']>;

export interface Ahead extends Registry {
  /** Requests the tags of what that package requires; it must be a valid one, and its meta is kept. */
  ahead(meta: Meta): void;
  /** Whether there are more lists, tags in them, objects or characters than are kept; what was not requested yet then fails. */
  isFull(): boolean;
}

/** Of one tree. A hundred thousand tags of one source take some 8 MiB. */
export const mostTags = 500_000;
/** Sources of one tree: hosts that its packages choose are asked for them. */
export const mostLists = 4_000;
/** In the packages of one tree: of each object its names stay in memory. */
export const mostObjects = 200_000;
/** Of those names, and of the meta objects: a few kB, packed, can hold names of some MiB. */
export const mostCharacters = 32_000_000;
const atOnce = 8;

/**
 * Requests the tags of what a package requires as soon as it is read and found valid, while others are still read: resolution requires
 * them next. Each list is requested once, a few at a time: what a package names must not fill the memory of the hook.
 */
export function listingAhead(
  registry: Registry,
  { installed, skipsDependencies }: { readonly installed: readonly Installed[]; readonly skipsDependencies: boolean },
): Ahead {
  const lists = new Map<string, List>();
  const present = new Set(installed.map(({ source }) => source));
  const [listing, reading] = [inLanes(), inLanes()];
  let [total, objects, characters] = [0, 0, 0];
  const isFull = (): boolean =>
    total > mostTags || lists.size > mostLists || objects > mostObjects || characters > mostCharacters;
  const tooMuch = (source: string): RegistryFailed => ({
    kind: 'failed',
    failure: { kind: 'invalid', message: `${source}: not read, the tree is too large` },
  });
  const listed = async (source: string): List => {
    if (isFull()) return tooMuch(source);
    const answer = await registry.tags(source);
    if (answer.kind === 'ok') total += answer.tags.length;
    return answer;
  };
  const tags = (source: string): List => {
    const known = lists.get(source);
    if (known !== undefined) return known;
    const list = listing(() => listed(source));
    lists.set(source, list);
    return list;
  };
  return {
    isFull,
    tags,
    digest: (reference) => registry.digest(reference),
    // Only in its turn it is known how much the ones before hold.
    read: (source, digest, take) =>
      reading(async () => {
        if (isFull()) return tooMuch(source);
        const answer = await registry.read(source, digest, (object) => {
          objects += 1;
          characters += namesIn(object);
          if (!isFull()) take(object);
        });
        return isFull() ? tooMuch(source) : answer;
      }),
    ahead(meta) {
      characters += JSON.stringify(meta).length;
      if (skipsDependencies || isFull()) return;
      for (const source of rangesIn(meta)) if (!present.has(source)) tags(source).catch(() => undefined);
    },
  };
}

/** Each work in order of its lane, a few at a time. */
function inLanes(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const lanes: Promise<unknown>[] = Array.from({ length: atOnce }, () => Promise.resolve());
  let count = 0;
  return (work) => {
    const lane = count % atOnce;
    count += 1;
    const result = (lanes[lane] ?? Promise.resolve()).then(work);
    lanes[lane] = result.catch(() => undefined);
    return result;
  };
}

/** Characters of an object that stay in memory. */
function namesIn(object: JsonObject): number {
  const names = [textAt(object, 'apiVersion'), textAt(object, 'kind'), textAt(object, 'metadata', 'name')];
  return names.reduce((sum, name = '') => sum + name.length, 0);
}

/** The sources of which it requires a range of versions. */
function rangesIn({ dependencies }: Meta): readonly string[] {
  return dependencies.filter(({ constraints }) => !isDigest(constraints)).map(({ package: source }) => source);
}
