// Which package takes the place of which, of a Replace.
import { type JsonObject, objectsAt, textAt } from '../../objects/json.ts';

/** A package that leaves, and the package that takes its place, by their sources. */
export interface PackageReplacement {
  readonly source: string;
  readonly by: string;
}

export function readReplaced(stored: JsonObject): readonly PackageReplacement[] {
  return objectsAt(stored, 'replaced').map((one) => ({ source: textAt(one, 'source') ?? '', by: textAt(one, 'by') ?? '' }));
}

const mostNamed = 20;

/** For people. Undefined if no package leaves. */
export function describeReplaced(replaced: readonly PackageReplacement[] = []): string | undefined {
  if (replaced.length === 0) return undefined;
  const named = replaced.slice(0, mostNamed).map(({ source, by }) => `${by} replaces ${source}`);
  const more = replaced.length > mostNamed ? [`and ${replaced.length - mostNamed} more`] : [];
  return [...named, ...more].join(', ');
}
