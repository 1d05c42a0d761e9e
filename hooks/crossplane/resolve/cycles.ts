// Packages in the order of their dependencies, and packages that require each other in a cycle.
import type { Dependency } from '../model/package.ts';

type Dependencies = ReadonlyMap<string, readonly Dependency[]>;

interface Order {
  /** Each source after all its dependencies, if there is no cycle. Equal graphs result in equal orders. */
  readonly order: readonly string[];
  /** The first cycle found, each source once and the first one again. */
  readonly cycle: readonly string[] | undefined;
}

/** Depth first, in the order of the names. */
export function dependenciesFirst(from: string, dependencies: Dependencies): Order {
  const [entered, left] = [new Set<string>(), new Set<string>()];
  let cycle: readonly string[] | undefined;
  const open = [{ source: from, isLeft: false }];
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    const { source, isLeft } = step;
    if (isLeft) left.add(source);
    else if (!entered.has(source)) {
      entered.add(source);
      const needed = [...new Set((dependencies.get(source) ?? []).map((one) => one.package))].sort().reverse();
      open.push({ source, isLeft: true }, ...needed.map((one) => ({ source: one, isLeft: false })));
    } else if (!left.has(source)) cycle ??= [...trailFrom(source, entered, left), source];
  }
  return { order: [...left], cycle };
}

/** The sources that the walk has entered and not left, from that source on. */
function trailFrom(source: string, entered: ReadonlySet<string>, left: ReadonlySet<string>): readonly string[] {
  const trail = [...entered].filter((one) => !left.has(one));
  return trail.slice(trail.indexOf(source));
}
