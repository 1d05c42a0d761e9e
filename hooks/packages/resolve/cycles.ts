// Packages that require each other in a cycle.
import type { Dependency } from '../model/package.ts';

/** The first cycle found from that source, each source once and the first one again; depth first, in the order of the names. */
export function findCycle(from: string, dependencies: ReadonlyMap<string, readonly Dependency[]>): readonly string[] | undefined {
  const done = new Set<string>();
  const trail: string[] = [];
  const nextOf = (source: string): string[] =>
    [...new Set((dependencies.get(source) ?? []).map((one) => one.package))].sort().reverse();
  const open = [{ source: from, depth: 0 }];
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    for (const left of trail.splice(step.depth)) done.add(left);
    const start = trail.indexOf(step.source);
    if (start >= 0) return [...trail.slice(start), step.source];
    if (done.has(step.source)) continue;
    trail.push(step.source);
    open.push(...nextOf(step.source).map((source) => ({ source, depth: trail.length })));
  }
  return undefined;
}

/** Each source after all its dependencies, as far as there is no cycle; the same order for equal graphs. */
export function dependenciesFirst(from: string, dependencies: ReadonlyMap<string, readonly Dependency[]>): readonly string[] {
  const order: string[] = [];
  const entered = new Set<string>();
  const open = [{ source: from, isLeft: false }];
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    const { source, isLeft } = step;
    if (isLeft) order.push(source);
    else if (!entered.has(source)) {
      entered.add(source);
      const needed = [...new Set((dependencies.get(source) ?? []).map((one) => one.package))].sort().reverse();
      open.push({ source, isLeft: true }, ...needed.map((one) => ({ source: one, isLeft: false })));
    }
  }
  return order;
}
