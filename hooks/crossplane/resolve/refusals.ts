// Why no choice is possible, in words.
import { type PackageFault, packageFault } from '../model/fault.ts';
import { shortName } from '../model/reference.ts';
import { foreignKind, type Settled, stuckIn } from './conflicts.ts';
import { dependenciesFirst } from './cycles.ts';
import type { Demand, Problem } from './problem.ts';

/** The first refusal that applies: a package of another kind, a cycle, a package without a suitable version. */
export function refusalOf({ state, flips }: Settled, isCertain: boolean, problem: Problem): PackageFault {
  const foreign = foreignKind(state, problem);
  if (foreign !== undefined)
    return packageFault(
      'InvalidPackage',
      `Package ${nameOf(foreign.by, problem)} requires ${shortName(foreign.source)} as a ${foreign.kind}, but ${foreign.source} is a ${foreign.found}`,
    );
  const { cycle } = dependenciesFirst(problem.root.source, state.dependencies);
  if (cycle !== undefined)
    return packageFault(
      'CircularDependency',
      `Packages require each other in a circle: ${cycle.map((one) => nameOf(one, problem)).join(' -> ')}`,
    );
  const source = stuckIn(state, problem)[0] ?? flips?.[0].source ?? problem.root.source;
  const refusal = unsuited(source, state.demands(source), problem);
  return isCertain ? refusal : { ...refusal, message: `${refusal.message}; not every combination of versions was tried` };
}

function unsuited(source: string, demands: readonly Demand[], problem: Problem): PackageFault {
  const present = presentVersion(source, problem);
  const [only, ...others] = demands;
  if (present === undefined && only !== undefined && others.length === 0)
    return packageFault(
      'MissingDependency',
      `Package ${nameOf(only.by, problem)} requires ${shortName(source)} ${only.constraints}, but no compatible version found (${offered(source, problem)})`,
    );
  const asked = demands.slice(0, mostNamed).map((demand) => `${nameOf(demand.by, problem)} requires ${demand.constraints}`);
  const rest = demands.length > mostNamed ? [`and ${demands.length - mostNamed} more`] : [];
  return packageFault(
    'VersionConflict',
    `No version of ${shortName(source)} satisfies every package: ${[...asked, ...rest].join(', ')} (${present ?? offered(source, problem)})`,
  );
}

const mostNamed = 10;

function presentVersion(source: string, { root, installed }: Problem): string | undefined {
  if (source === root.source) return `to be installed is ${root.tag ?? root.version}`;
  const entry = installed.get(source);
  if (entry === undefined) return undefined;
  const applied = entry.applied === undefined ? '' : `, its Package names ${entry.applied}`;
  const rule = entry.mayGoBack === true ? '' : '; it goes to a lower version only if its Package names that version';
  return `installed is ${entry.tag ?? entry.digest}${applied}${rule}`;
}

function offered(source: string, { index }: Problem): string {
  const versions = index.versions(source) ?? [];
  const named = versions.slice(0, mostNamed).map(({ text }) => text);
  return versions.length === 0
    ? `${source} has no version`
    : `${source} has ${named.join(', ')}${versions.length > mostNamed ? ', …' : ''}`;
}

function nameOf(source: string, { root }: Problem): string {
  return source === root.source ? root.name : shortName(source);
}

export function describeDemands(
  demands: readonly Demand[],
  problem: Problem,
): readonly { readonly package: string; readonly constraints: string }[] {
  return demands.map(({ by, constraints }) => ({ package: nameOf(by, problem), constraints }));
}
