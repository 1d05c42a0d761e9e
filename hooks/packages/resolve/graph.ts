// The demands of packages if these versions are chosen.
import type { Installed } from '../model/lock.ts';
import type { Dependency, Meta, PackageKind } from '../model/package.ts';
import type { Knowledge } from './knowledge.ts';

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
  /** Its dependencies are recorded, not resolved. */
  readonly skipsDependencies: boolean;
}

/** The installed packages by source, without those that the root replaces, and the root. */
export interface Scene {
  readonly root: Root;
  readonly installed: ReadonlyMap<string, Installed>;
}

/** Versions (tags or digests) that differ from what is installed, by source. */
export type Choice = ReadonlyMap<string, string>;

export interface Demand {
  /** The source of the package that demands. */
  readonly by: string;
  readonly constraints: string;
  readonly kind: PackageKind;
}

export interface Graph {
  /** The packages that the root requires, directly or not, including itself. */
  readonly reached: ReadonlySet<string>;
  /** Demands by the source of the demanded package, from reached packages and from all installed ones. */
  readonly demands: ReadonlyMap<string, readonly Demand[]>;
  /** The demands of each package, by its source. */
  readonly dependencies: ReadonlyMap<string, readonly Dependency[]>;
}

/** Costs as much as there are demands: a choice may be one of many that are tried. */
export function drawGraph(scene: Scene, choice: Choice, knowledge: Knowledge): Graph {
  const dependencies = new Map<string, readonly Dependency[]>();
  const reached = new Set<string>();
  const open = [scene.root.source];
  for (let source = open.pop(); source !== undefined; source = open.pop()) {
    if (reached.has(source)) continue;
    reached.add(source);
    const asked = dependenciesOf(source, scene, choice, knowledge);
    dependencies.set(source, asked);
    open.push(...asked.map((one) => one.package));
  }
  for (const [source, entry] of scene.installed) if (!dependencies.has(source)) dependencies.set(source, entry.dependencies);
  knowledge.spend([...dependencies.values()].reduce((sum, all) => sum + all.length, 0));
  return { reached, dependencies, demands: demandsOf(dependencies) };
}

export function dependenciesOf(
  source: string,
  { root, installed }: Scene,
  choice: Choice,
  knowledge: Knowledge,
): readonly Dependency[] {
  if (source === root.source) return root.skipsDependencies ? [] : root.meta.dependencies;
  const version = choice.get(source);
  if (version === undefined) return installed.get(source)?.dependencies ?? [];
  return knowledge.fetched({ source, version })?.meta.dependencies ?? [];
}

function demandsOf(dependencies: ReadonlyMap<string, readonly Dependency[]>): ReadonlyMap<string, readonly Demand[]> {
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
