// Requests ahead of the resolution the tags that it will require next.
import { type JsonObject, textAt } from '../../objects/json.ts';
import type { WebhookFaults } from '../checks/contents.ts';
import type { Installed } from '../model/lock.ts';
import type { Meta } from '../model/package.ts';
import { isDigest } from '../model/reference.ts';
import type { Registry, RegistryFailed } from '../registry.ts';

type List = ReturnType<Registry['tags']>;

export interface Prefetch extends Registry {
  readonly webhookFaults: WebhookFaults | undefined;
  /** Requests the tags of the packages that this package requires. The package must be valid, and its meta is kept. */
  ahead(meta: Meta): void;
  /** Whether there are more lists, tags in them, objects or characters than the hook keeps. If so, every later request fails. */
  isFull(): boolean;
}

/** The limit of one tree. A hundred thousand tags of one source take some 8 MiB. */
export const mostTags = 500_000;
/** The limit of sources in one tree: packages choose the hosts that the hook requests tags from. */
export const mostLists = 4_000;
/** The limit of objects in the packages of one tree: the names of each object stay in memory. */
export const mostObjects = 200_000;
/** The limit of characters in those names and in the meta objects: a few kB, packed, can hold names of some MiB. */
export const mostCharacters = 32_000_000;
const atOnce = 8;

interface Tree {
  readonly installed: readonly Installed[];
  readonly skipsDependencies: boolean;
  readonly webhookFaults?: WebhookFaults | undefined;
}

/**
 * Requests the tags of a package's requirements as soon as the package is read and found valid, while others are still read. The
 * resolution requires these tags next. The hook requests each list once, a few lists at a time: names in a package must not fill
 * the memory of the hook.
 */
export function listingAhead(registry: Registry, { installed, skipsDependencies, webhookFaults }: Tree): Prefetch {
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
    webhookFaults,
    isFull,
    tags,
    digest: (reference) => registry.digest(reference),
    // Only in its turn does a read know how much memory the reads before it hold.
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

/** Starts each work in order of its lane, a few at a time. */
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

/** The number of characters of an object that stay in memory. */
function namesIn(object: JsonObject): number {
  const names = [textAt(object, 'apiVersion'), textAt(object, 'kind'), textAt(object, 'metadata', 'name')];
  return names.reduce((sum, name = '') => sum + name.length, 0);
}

/** The sources from which the package requires a range of versions. */
function rangesIn({ dependencies }: Meta): readonly string[] {
  return dependencies.filter(({ constraints }) => !isDigest(constraints)).map(({ package: source }) => source);
}
