// The package to resolve, and the demands of packages on each other if certain versions are chosen.
import type { Installed } from '../model/lock.ts';
import type { Dependency, Meta, PackageKind } from '../model/package.ts';
import type { PackageIndex } from './package-index.ts';

/** The package to resolve. */
export interface Root {
  readonly source: string;
  /** The name that messages use for it. */
  readonly name: string;
  /** The requested tag or digest. */
  readonly version: string;
  /** The tag that was requested beside a digest. */
  readonly tag?: string;
  readonly digest: string;
  readonly meta: Meta;
  /** The resolution records its dependencies, and does not resolve them. */
  readonly skipsDependencies: boolean;
}

export interface Problem {
  readonly root: Root;
  /** The installed packages by source, without the packages that the root replaces. */
  readonly installed: ReadonlyMap<string, Installed>;
  readonly index: PackageIndex;
  /** Undefined as long as any version may be chosen. */
  readonly domains?: Domains;
}

/**
 * A tag or a digest. Undefined means the version of the root. For any other package it means the package as it is: installed, or
 * absent.
 */
export type Candidate = string | undefined;

/** The versions that may be chosen, by source, for the packages that the root may reach. */
export type Domains = ReadonlyMap<string, ReadonlySet<Candidate>>;

/** A package in a version. */
export interface Chosen {
  readonly source: string;
  readonly version: Candidate;
}

/** Versions (tags or digests) that differ from the installed versions, by source. */
export type Choice = ReadonlyMap<string, string>;

export interface Demand {
  /** The source of the package that demands. */
  readonly by: string;
  readonly constraints: string;
  readonly kind: PackageKind;
}

/** A choice, and its consequences. */
export interface State {
  /** The versions of the choice, without packages that are not reached. */
  readonly choice: Choice;
  /** The packages that the root requires, directly or not, including itself; in the order of their names. */
  readonly reached: ReadonlySet<string>;
  /** The demands for each package, from reached packages and from all installed packages. */
  readonly demands: (source: string) => readonly Demand[];
  /** The demands of each package, by its source. */
  readonly dependencies: ReadonlyMap<string, readonly Dependency[]>;
}

/** The cost grows with the number of demands: the search may try many choices. */
export function stateOf(choice: Choice, problem: Problem): State {
  const dependencies = new Map<string, readonly Dependency[]>();
  const open = [problem.root.source];
  for (let source = open.pop(); source !== undefined; source = open.pop()) {
    if (dependencies.has(source)) continue;
    const asked = dependenciesOf({ source, version: choice.get(source) }, problem);
    dependencies.set(source, asked);
    open.push(...asked.map((one) => one.package));
  }
  const reached = new Set([...dependencies.keys()].sort());
  const needed = new Map([...choice].filter(([source]) => reached.has(source)));
  for (const [source, entry] of problem.installed) if (!dependencies.has(source)) dependencies.set(source, entry.dependencies);
  problem.index.charge([...dependencies.values()].reduce((sum, all) => sum + all.length, 0));
  const demands = demandsOf(dependencies);
  return { choice: needed, reached, demands: (source) => demands.get(source) ?? [], dependencies };
}

export function dependenciesOf({ source, version }: Chosen, { root, installed, index }: Problem): readonly Dependency[] {
  if (source === root.source) return root.skipsDependencies ? [] : root.meta.dependencies;
  if (version === undefined) return installed.get(source)?.dependencies ?? [];
  return index.fetched({ source, version })?.meta.dependencies ?? [];
}

function demandsOf(dependencies: State['dependencies']): ReadonlyMap<string, readonly Demand[]> {
  const demands = new Map<string, Demand[]>();
  for (const by of [...dependencies.keys()].sort()) {
    for (const { package: source, constraints, kind } of dependencies.get(by) ?? []) {
      const known = demands.get(source) ?? [];
      known.push({ by, constraints, kind });
      demands.set(source, known);
    }
  }
  return demands;
}
