// Why a state is no solution. In a solution, every reached package has the version that the rule (candidates.ts)
// gives for the demands of that very state. Kinds agree, no package requires itself, and every package can be read.
import { installedKind } from '../model/lock.ts';
import type { PackageKind } from '../model/package.ts';
import { choose, isAdmitted } from './candidates.ts';
import { dependenciesFirst } from './cycles.ts';
import type { Chosen, Demand, Problem, State } from './problem.ts';

/** The state in which the steps of the solver ended. */
export interface Settled {
  readonly state: State;
  /** If the steps would never end: two versions of one package, in the state in which one of them is refused. */
  readonly flips?: readonly [Chosen, Chosen];
}

/** Versions of which every solution within the domains lacks at least one; undefined for a solution. */
export function conflictIn({ state, flips }: Settled, problem: Problem): readonly Chosen[] | undefined {
  const { choice, reached } = state;
  const chosen = (source: string): Chosen => ({ source, version: choice.get(source) });
  const opposed = opposedIn(state, problem)?.map(chosen);
  // In a solution that does not reach them, packages that stay may contradict each other. To exclude a version that no package
  // demands is useless.
  const isReached = opposed?.some(({ source, version }) => version !== undefined || source === problem.root.source);
  if (isReached && opposed?.every((one) => mayHold(one, problem))) return opposed;
  if (flips !== undefined) return flips;
  if (opposed !== undefined || !isStable(state, problem)) return changeable(state, problem).map(chosen);
  const broken = [...reached].map(chosen).find(problem.index.isBroken);
  return broken === undefined ? undefined : [broken];
}

/** Packages whose versions contradict each other. */
function opposedIn(state: State, problem: Problem): readonly string[] | undefined {
  const foreign = foreignKind(state, problem);
  if (foreign !== undefined) return [foreign.by, foreign.source];
  const { cycle } = dependenciesFirst(problem.root.source, state.dependencies);
  if (cycle !== undefined) return cycle;
  const [fewest] = stuckIn(state, problem)
    .map((stuck) => opponents(stuck, state, problem))
    .sort((left, right) => left.length - right.length);
  return fewest;
}

export function mayHold({ source, version }: Chosen, { root, domains }: Problem): boolean {
  return domains === undefined || source === root.source || domains.get(source)?.has(version) === true;
}

/** The packages without a version that satisfies all demands. */
export function stuckIn({ reached, demands }: State, problem: Problem): readonly string[] {
  return [...reached].filter((source) => !isPossible(source, demands(source), problem));
}

/** Whether a package may have a version that satisfies these demands, and perhaps more. */
function isPossible(source: string, demands: readonly Demand[], problem: Problem): boolean {
  const target = choose(source, demands, problem);
  if (target === undefined || mayHold(target, problem)) return target !== undefined;
  return [...(problem.domains?.get(source) ?? [])].some((version) => isAdmitted({ source, version }, demands, problem));
}

/** The fewest packages whose demands for one package no version satisfies together. The root reaches at least one of them. */
function opponents(source: string, { choice, demands }: State, problem: Problem): readonly string[] {
  const isReached = ({ by }: Demand): boolean => by === problem.root.source || choice.has(by);
  const fewest = demands(source).reduce((left, demand) => {
    const others = left.filter((one) => one !== demand);
    return others.some(isReached) && !isPossible(source, others, problem) ? others : left;
  }, demands(source));
  return fewest.map(({ by }) => by);
}

function isStable({ choice, reached, demands }: State, problem: Problem): boolean {
  const isWithin = [...(problem.domains ?? [])].every(([source, domain]) => domain.has(choice.get(source)));
  const targets = [...reached].map((source) => choose(source, demands(source), problem));
  return isWithin && targets.every((target) => target !== undefined && target.version === choice.get(target.source));
}

/**
 * Take a solution, and a package that differs from this state while all packages that lead to it do not differ. In the solution,
 * this package lacks demands that it has here, or has demands of an installed package that is upgraded here.
 */
function changeable({ choice, reached, demands }: State, { installed, domains }: Problem): readonly string[] {
  const isFree = (source: string): boolean => {
    const versions = [...(domains?.get(source) ?? [])].filter((version) => version !== undefined || installed.has(source));
    return versions.some((version) => version !== choice.get(source));
  };
  const demanding = [...reached].filter(isFree).flatMap((source) => demands(source).map(({ by }) => by));
  return [...demanding, ...[...choice.keys()].filter((source) => installed.has(source))];
}

interface Foreign extends Demand {
  readonly source: string;
  readonly found: PackageKind;
}

/** A demand for a package of another kind than the chosen one. If both packages stay as they are, their kinds differed before. */
export function foreignKind({ choice, reached, demands }: State, problem: Problem): Foreign | undefined {
  const isChanged = (source: string): boolean => source === problem.root.source || choice.has(source);
  for (const source of reached) {
    const found = chosenKind(source, choice, problem);
    const asked = demands(source).filter(({ by }) => isChanged(source) || isChanged(by));
    const foreign = asked.find(({ kind }) => kind !== found);
    if (foreign !== undefined && found !== undefined) return { ...foreign, source, found };
  }
  return undefined;
}

function chosenKind(source: string, choice: State['choice'], { root, installed, index }: Problem): PackageKind | undefined {
  if (source === root.source) return root.meta.kind;
  const version = choice.get(source);
  if (version !== undefined) return index.fetched({ source, version })?.meta.kind;
  const entry = installed.get(source);
  return entry === undefined ? undefined : installedKind(entry);
}
