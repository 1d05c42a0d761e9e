// Why no choice is possible, in words.
import { type PackageFault, packageFault } from '../model/fault.ts';
import { shortName } from '../model/reference.ts';
import { targetOf } from './choice.ts';
import { findCycle } from './cycles.ts';
import type { Demand, Scene } from './graph.ts';
import type { Knowledge } from './knowledge.ts';
import { foreignKind, type State } from './solution.ts';

/** The first refusal that applies: a package of another kind, a cycle, a package without a suitable version. */
export function refusalOf(state: State, isCertain: boolean, scene: Scene, knowledge: Knowledge): PackageFault {
  const foreign = foreignKind(state, scene, knowledge);
  if (foreign !== undefined)
    return packageFault(
      'InvalidPackage',
      `Package ${nameOf(foreign.by, scene)} requires ${shortName(foreign.source)} as a ${foreign.kind}, but ${foreign.source} is a ${foreign.found}`,
    );
  const cycle = findCycle(scene.root.source, state.graph.dependencies);
  if (cycle !== undefined)
    return packageFault(
      'CircularDependency',
      `Packages require each other in a circle: ${cycle.map((one) => nameOf(one, scene)).join(' -> ')}`,
    );
  const source = [...state.graph.reached].sort().find((one) => isUnsuited(one, state, scene, knowledge)) ?? scene.root.source;
  const refusal = unsuited(source, state, scene, knowledge);
  return isCertain ? refusal : { ...refusal, message: `${refusal.message}; not every combination of versions was tried` };
}

function isUnsuited(source: string, { graph }: State, scene: Scene, knowledge: Knowledge): boolean {
  return targetOf(source, graph.demands.get(source) ?? [], scene, knowledge).kind === 'none';
}

function unsuited(source: string, { graph }: State, scene: Scene, knowledge: Knowledge): PackageFault {
  const demands = graph.demands.get(source) ?? [];
  const present = presentVersion(source, scene);
  const [only, ...others] = demands;
  if (present === undefined && only !== undefined && others.length === 0)
    return packageFault(
      'MissingDependency',
      `Package ${nameOf(only.by, scene)} requires ${shortName(source)} ${only.constraints}, but no compatible version found (${offered(source, knowledge)})`,
    );
  const asked = demands.slice(0, mostNamed).map((demand) => `${nameOf(demand.by, scene)} requires ${demand.constraints}`);
  const rest = demands.length > mostNamed ? [`and ${demands.length - mostNamed} more`] : [];
  return packageFault(
    'VersionConflict',
    `No version of ${shortName(source)} satisfies every package: ${[...asked, ...rest].join(', ')} (${present ?? offered(source, knowledge)})`,
  );
}

const mostNamed = 10;

function presentVersion(source: string, { root, installed }: Scene): string | undefined {
  if (source === root.source) return `to be installed is ${root.tag ?? root.version}`;
  const entry = installed.get(source);
  return entry === undefined ? undefined : `installed is ${entry.tag ?? entry.digest}; a package is never downgraded`;
}

function offered(source: string, knowledge: Knowledge): string {
  const versions = knowledge.versions(source) ?? [];
  const named = versions.slice(0, mostNamed).map(({ text }) => text);
  return versions.length === 0
    ? `${source} has no version`
    : `${source} has ${named.join(', ')}${versions.length > mostNamed ? ', …' : ''}`;
}

function nameOf(source: string, { root }: Scene): string {
  return source === root.source ? root.name : shortName(source);
}

export function describeDemands(
  demands: readonly Demand[],
  scene: Scene,
): readonly { readonly package: string; readonly constraints: string }[] {
  return demands.map(({ by, constraints }) => ({ package: nameOf(by, scene), constraints }));
}
