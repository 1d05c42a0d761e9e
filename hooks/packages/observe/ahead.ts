// Requests ahead of the resolution what it will require next.
import type { JsonObject } from '../../model/json.ts';
import type { Installed } from '../model/lock.ts';
import { isMeta, readMeta } from '../model/package.ts';
import { isDigest } from '../model/reference.ts';
import type { Registry } from '../registry.ts';

interface Asked {
  readonly installed: readonly Installed[];
  readonly skipsDependencies: boolean;
}

/**
 * Requests the tags of what a package requires as soon as its meta object is read, while others are still read: resolution requires
 * them next. Each list is requested once.
 */
export function listingAhead(registry: Registry, { installed, skipsDependencies }: Asked): Registry {
  const lists = new Map<string, ReturnType<Registry['tags']>>();
  const present = new Set(installed.map(({ source }) => source));
  const tags = (source: string): ReturnType<Registry['tags']> => {
    const list = lists.get(source) ?? registry.tags(source);
    lists.set(source, list);
    return list;
  };
  const ahead = (object: JsonObject): void => {
    for (const source of skipsDependencies ? [] : rangesIn(object)) if (!present.has(source)) tags(source).catch(() => undefined);
  };
  return {
    tags,
    digest: (reference) => registry.digest(reference),
    read: (source, digest, take) =>
      registry.read(source, digest, (object) => {
        take(object);
        ahead(object);
      }),
  };
}

/** Of a meta object, the sources of which it requires a range of versions. */
function rangesIn(object: JsonObject): readonly string[] {
  const meta = isMeta(object) ? readMeta(object) : '';
  if (typeof meta === 'string') return [];
  return meta.dependencies.filter(({ constraints }) => !isDigest(constraints)).map(({ package: source }) => source);
}
