// What a resolution knows of the registries, and what it still has to read.
import { admits, type Constraint, readConstraint } from '../model/constraint.ts';
import type { Meta } from '../model/package.ts';
import { compareVersions, readCompleteVersion, type Version } from '../model/version.ts';

/** A package that was fetched. */
export interface Fetched {
  readonly digest: string;
  readonly meta: Meta;
}

/** What was read so far. A source without tags has an empty list. */
export interface Known {
  /** By source. */
  readonly tags: ReadonlyMap<string, readonly string[]>;
  /** By source and version, `SOURCE VERSION`. */
  readonly packages: ReadonlyMap<string, Fetched>;
  /** Those that cannot be read, whoever reads them: a choice that needs one is none. By source and version. */
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

/** What must be read before the answer is known; sorted. */
export interface Needs {
  readonly tags: readonly string[];
  readonly packages: readonly Release[];
}

/** Looks values up, and records what is missing. */
export interface Knowledge {
  /** Complete versions in falling order; undefined, and recorded as missing, if the tags were not read. */
  versions(source: string): readonly Version[] | undefined;
  /** Undefined if the package was not fetched; recorded as missing unless it is broken. */
  fetched(release: Release): Fetched | undefined;
  isBroken(release: Release): boolean;
  constraint(text: string): Constraint;
  /** Counts work against `mostChecks`; throws TooMuch beyond. */
  spend(checks: number): void;
  /** The missing values that were looked up. */
  needs(): Needs | undefined;
  /** How many packages were looked up, known or not. */
  looked(): number;
  /** How many terms were compared, and requirements drawn, so far. */
  checks(): number;
  /** The first of these versions that all constraints admit; what was found before is not looked for again. */
  firstAdmitted(key: string, find: () => string | undefined): string | undefined;
}

/** What a hostile package requires could take minutes of the processor, in which the hook serves nobody. */
export class TooMuch extends Error {}

/**
 * Terms of constraints that are compared for one tree, and requirements that are drawn for its choices, in all rounds of its resolution;
 * one of 200 packages takes some ten thousand.
 */
export const mostChecks = 5_000_000;

/** Lists stay as they were read, so they are put in order once for all rounds. */
const ordered = new WeakMap<readonly string[], readonly Version[]>();

function inOrder(tags: readonly string[]): readonly Version[] {
  const known = ordered.get(tags);
  if (known !== undefined) return known;
  const versions = tags
    .map(readCompleteVersion)
    .filter((version) => version !== undefined)
    .sort(falling);
  ordered.set(tags, versions);
  return versions;
}

/** `spent`: checks of the rounds before. */
export function consult(known: Known, spent: number): Knowledge {
  const read = new Map<string, Constraint>();
  const looked = new Set<string>();
  const admitted = new Map<string, string | undefined>();
  let checks = spent;
  const spend = (more: number): void => {
    checks += more;
    if (checks > mostChecks) throw new TooMuch(`more than ${mostChecks} terms of constraints would have to be compared`);
  };
  const missing = { tags: new Set<string>(), packages: new Map<string, Release>() };
  return {
    versions(source) {
      const tags = known.tags.get(source);
      if (tags === undefined) missing.tags.add(source);
      return tags === undefined ? undefined : inOrder(tags);
    },
    fetched(release) {
      looked.add(keyOf(release));
      const found = known.packages.get(keyOf(release));
      if (found === undefined && !known.broken.has(keyOf(release))) missing.packages.set(keyOf(release), release);
      return found;
    },
    isBroken: (release) => known.broken.has(keyOf(release)),
    constraint(text) {
      const constraint = read.get(text) ?? readConstraint(text) ?? { kind: 'range', text, anyOf: [] };
      read.set(text, constraint);
      spend(weightOf(constraint));
      return constraint;
    },
    spend,
    needs() {
      if (missing.tags.size === 0 && missing.packages.size === 0) return undefined;
      const keys = [...missing.packages.keys()].sort();
      return { tags: [...missing.tags].sort(), packages: keys.flatMap((key) => missing.packages.get(key) ?? []) };
    },
    looked: () => looked.size,
    checks: () => checks,
    firstAdmitted(key, find) {
      if (!admitted.has(key)) admitted.set(key, find());
      return admitted.get(key);
    },
  };
}

function weightOf(constraint: Constraint): number {
  if (constraint.kind === 'digest') return 1;
  return constraint.anyOf.reduce((sum, { terms }) => sum + terms.length, 1);
}

/** Versions that differ only after `+` are ordered by their texts, so that the order of the tags does not matter. */
function falling(left: Version, right: Version): number {
  return compareVersions(right, left) || (left.text < right.text ? -1 : 1);
}

export function satisfies(version: Version, constraints: readonly Constraint[]): boolean {
  return constraints.every((constraint) => admits(constraint, version));
}
