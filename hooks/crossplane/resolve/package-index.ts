// The values that a resolution has read from the registries, and the values that it still has to read.
import { type Constraint, readConstraint } from '../model/constraint.ts';
import type { Meta } from '../model/package.ts';
import { compareVersions, readCompleteVersion, type Version } from '../model/version.ts';

/** A package that was fetched. */
export interface Fetched {
  readonly digest: string;
  readonly meta: Meta;
}

/** The values that were read so far. A source without tags has an empty list. */
export interface RegistryData {
  /** By source. */
  readonly tags: ReadonlyMap<string, readonly string[]>;
  /** By source and version, `SOURCE VERSION`. */
  readonly packages: ReadonlyMap<string, Fetched>;
  /** Packages that no client can read. A choice that needs one of them is not possible. By source and version. */
  readonly broken: { has(key: string): boolean };
}

/** A tag or a digest of a source. */
export interface Release {
  readonly source: string;
  readonly version: string;
}

export function keyOf({ source, version }: Release): string {
  return `${source} ${version}`;
}

/** The values that must be read before the answer is known; sorted. */
export interface Needs {
  readonly tags: readonly string[];
  readonly packages: readonly Release[];
}

/** The requirements of a hostile package could take minutes of the processor. The hook would serve no call in that time. */
export class OverBudget extends Error {}

/**
 * The limit for one tree: terms of constraints that are compared, and requirements that are drawn for its choices, in all rounds of
 * its resolution. A tree of 200 packages takes some ten thousand.
 */
export const mostChecks = 5_000_000;

/** Lists stay as they were read, so the index puts them in order once for all rounds. */
const ordered = new WeakMap<readonly string[], readonly Version[]>();

/**
 * Complete versions in falling order. If versions differ only after `+`, their texts order them: the order of the tags does not
 * matter.
 */
function inOrder(tags: readonly string[]): readonly Version[] {
  const versions = tags.map(readCompleteVersion).filter((version) => version !== undefined);
  return versions.sort((left, right) => compareVersions(right, left) || (left.text < right.text ? -1 : 1));
}

export type PackageIndex = ReturnType<typeof createIndex>;

/** Looks values up, and records missing values. `spent`: checks of the rounds before. */
export function createIndex(known: RegistryData, spent: number) {
  const constraints = new Map<string, Constraint>();
  const lookups = new Set<string>();
  const remembered = new Map<string, unknown>();
  const missing = { tags: new Set<string>(), packages: new Map<string, Release>() };
  let checks = spent;
  const charge = (more: number): void => {
    checks += more;
    if (checks > mostChecks) throw new OverBudget(`more than ${mostChecks} terms of constraints would have to be compared`);
  };
  return {
    /**
     * Complete versions in falling order. If the tags were not read, the list is empty, and the index records the tags as missing.
     */
    versions(source: string): readonly Version[] {
      const tags = known.tags.get(source);
      if (tags === undefined) missing.tags.add(source);
      const versions = tags === undefined ? [] : (ordered.get(tags) ?? inOrder(tags));
      if (tags !== undefined) ordered.set(tags, versions);
      return versions;
    },
    /** Undefined if the package was not fetched. The index records it as missing unless it is broken. */
    fetched(release: Release): Fetched | undefined {
      const key = keyOf(release);
      lookups.add(key);
      if (!known.packages.has(key) && !known.broken.has(key)) missing.packages.set(key, release);
      return known.packages.get(key);
    },
    isBroken: (one: { readonly source: string; readonly version: string | undefined }): one is Release =>
      one.version !== undefined && known.broken.has(`${one.source} ${one.version}`),
    constraint(text: string): Constraint {
      const constraint = constraints.get(text) ?? readConstraint(text) ?? { kind: 'range', text, anyOf: [] };
      constraints.set(text, constraint);
      charge(constraint.kind === 'digest' ? 1 : constraint.anyOf.reduce((sum, { terms }) => sum + terms.length, 1));
      return constraint;
    },
    /** The index does not look again for a value that it has found. */
    once<Found>(key: string, find: () => Found): Found {
      if (!remembered.has(key)) remembered.set(key, find());
      return remembered.get(key) as Found;
    },
    /** Counts work against `mostChecks`; throws OverBudget beyond. */
    charge,
    /** How many terms were compared, and requirements drawn, so far. */
    checks: (): number => checks,
    /** How many packages were looked up, known or not. */
    lookups: (): number => lookups.size,
    /** The missing values that were looked up. */
    needs(): Needs | undefined {
      if (missing.tags.size === 0 && missing.packages.size === 0) return undefined;
      const packages = [...missing.packages].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, release]) => release);
      return { tags: [...missing.tags].sort(), packages };
    },
  };
}
