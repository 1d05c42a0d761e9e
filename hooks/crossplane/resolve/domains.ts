// Every version that a solution could hold, so that the search tries no other versions and reads no other packages. In a solution,
// a package has the version that the rule gives for demands of packages in the solution. So the search begins with the root, and
// collects all demands of the versions that it has found. For each package it adds every version that the rule gives for some of
// these demands, those of the root included.
import { possibleCandidates } from './candidates.ts';
import { type Candidate, type Chosen, type Domains, dependenciesOf, type Problem } from './problem.ts';

interface Collecting {
  readonly problem: Problem;
  /** The constraints on each source, from installed packages and from versions that were found. */
  readonly constraints: Map<string, Set<string>>;
  readonly domains: Map<string, Set<Candidate>>;
  /** The sources for which there are new constraints. */
  readonly grown: Set<string>;
}

/** `isWhole` is false if the search would have to look up more packages than `mostLookups`. */
export function domainsOf(problem: Problem, mostLookups: number): { readonly domains: Domains; readonly isWhole: boolean } {
  const collecting: Collecting = { problem, constraints: new Map(), domains: new Map(), grown: new Set() };
  const { domains, grown } = collecting;
  for (const source of problem.installed.keys()) note({ source, version: undefined }, collecting);
  grown.clear();
  const isWhole = collect(collecting, mostLookups);
  for (const domain of domains.values()) domain.add(undefined);
  return { domains, isWhole };
}

/** The problem within these domains: an installed package that may not stay demands nothing until another version is chosen. */
export function within(domains: Domains, problem: Problem): Problem {
  const installed = [...problem.installed].map(([source, entry]) => {
    const mayStay = domains.get(source)?.has(undefined) ?? true;
    return [source, mayStay ? entry : { ...entry, dependencies: [], entry: {} }] as const;
  });
  return { ...problem, installed: new Map(installed), domains };
}

/**
 * The search goes by levels, and looks up the packages of a level together. So it looks up an equal set of packages, whatever is
 * known at first.
 */
function collect(collecting: Collecting, mostLookups: number): boolean {
  const { problem, domains, grown } = collecting;
  let level: readonly Chosen[] = [{ source: problem.root.source, version: undefined }];
  while (level.length > 0 && problem.index.needs() === undefined) {
    if (!level.every((chosen) => take(chosen, collecting, mostLookups))) return false;
    const sources = [...grown].filter((source) => domains.has(source)).sort();
    grown.clear();
    level = sources.flatMap((source) => newCandidates(source, collecting));
  }
  return true;
}

/** False if the search may look up no more packages. */
function take(chosen: Chosen, collecting: Collecting, mostLookups: number): boolean {
  const { problem, domains, grown } = collecting;
  if (chosen.version !== undefined && problem.index.lookups() >= mostLookups) return false;
  domains.get(chosen.source)?.add(chosen.version);
  for (const source of note(chosen, collecting).filter((one) => !domains.has(one))) {
    domains.set(source, new Set());
    grown.add(source);
  }
  return true;
}

/** Returns which packages it requires. */
function note(chosen: Chosen, { problem, constraints, grown }: Collecting): readonly string[] {
  const dependencies = dependenciesOf(chosen, problem).filter((one) => one.package !== problem.root.source);
  for (const { package: source, constraints: text } of dependencies) {
    const known = constraints.get(source) ?? new Set();
    if (!known.has(text)) grown.add(source);
    constraints.set(source, known.add(text));
  }
  return dependencies.map((one) => one.package);
}

function newCandidates(source: string, { problem, constraints, domains }: Collecting): readonly Chosen[] {
  const { root, index } = problem;
  const ofRoot = dependenciesOf({ source: root.source, version: undefined }, problem).filter((one) => one.package === source);
  const demands = [...(constraints.get(source) ?? [])].sort().map((text) => ({ constraints: text }));
  return possibleCandidates(source, demands, problem).filter(({ version, admitting }) => {
    const isRefused = ofRoot.some((one) => !admitting.some(({ constraints: text }) => text === one.constraints));
    return !isRefused && !index.isBroken({ source, version }) && domains.get(source)?.has(version) !== true;
  });
}
