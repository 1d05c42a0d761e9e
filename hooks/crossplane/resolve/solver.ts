// Finds versions that satisfy all packages together: a solution (conflicts.ts). The solver goes by steps, and each step makes the
// changes that the rule requires. For nearly every tree, the steps settle in the solution. Otherwise there is a conflict. Then the
// solver excludes the versions of the conflict, one after the other, and settles again. If it finds no solution, it goes back
// (backtracking), within limits.
import { choose, isAdmitted } from './candidates.ts';
import { conflictIn, mayHold, type Settled } from './conflicts.ts';
import { domainsOf, within } from './domains.ts';
import type { Release } from './package-index.ts';
import { type Candidate, type Choice, type Chosen, type Domains, type Problem, type State, stateOf } from './problem.ts';

type Found =
  | { readonly kind: 'found'; readonly state: State }
  /** `settled` is the state in which the steps ended first. `isCertain` is false if the solver did not try everything. */
  | { readonly kind: 'conflict'; readonly settled: Settled; readonly isCertain: boolean }
  /** The only choice that the solver found needs this release, which cannot be read. */
  | { readonly kind: 'broken'; readonly release: Release }
  /** The index has recorded the values that are missing. */
  | { readonly kind: 'incomplete' };

const mostSteps = 10_000;
const mostTries = 2_000;
/** Packages that are looked up only for backtracking, at most. */
const mostExtraLookups = 64;

export function solve(problem: Problem): Found {
  const { index } = problem;
  const settled = settle(new Map(), problem);
  if (index.needs() !== undefined) return { kind: 'incomplete' };
  const conflict = conflictIn(settled, problem);
  if (conflict === undefined) return { kind: 'found', state: settled.state };
  const { domains, isWhole } = domainsOf(problem, index.lookups() + mostExtraLookups);
  const search: Search = { problem, tries: 0 };
  const state = index.needs() === undefined ? backtrack(settled.state, domains, search) : undefined;
  if (index.needs() !== undefined) return { kind: 'incomplete' };
  if (state !== undefined) return { kind: 'found', state };
  const broken = conflict.find(index.isBroken);
  if (broken !== undefined) return { kind: 'broken', release: broken };
  return { kind: 'conflict', settled, isCertain: isWhole && search.tries <= mostTries };
}

interface Search {
  readonly problem: Problem;
  tries: number;
}

function isOver(search: Search): boolean {
  search.tries += 1;
  return search.tries > mostTries || search.problem.index.needs() !== undefined;
}

/** A solution within the domains. */
function backtrack(start: State, domains: Domains, search: Search): State | undefined {
  if (isOver(search)) return undefined;
  const problem = within(domains, search.problem);
  const settled = settle(start.choice, problem);
  const conflict = conflictIn(settled, problem);
  if (conflict === undefined) return settled.state;
  const left = new Map(domains);
  for (const { source, version } of conflict) {
    const others = [...(left.get(source) ?? [])].filter((one) => one !== version);
    const rest = new Map(left).set(source, new Set(others));
    const found = others.length === 0 ? undefined : backtrack(settled.state, rest, search);
    if (found !== undefined) return found;
    // Any other solution has this version.
    left.set(source, new Set([version]));
  }
  return undefined;
}

/** Takes steps until nothing has to change. */
function settle(start: Choice, problem: Problem): Settled {
  const seen = new Set<string>();
  let choice: Choice = new Map([...start].filter(([source, version]) => mayHold({ source, version }, problem)));
  for (let refused: Settled | undefined; ; ) {
    const state = stateOf(choice, problem);
    const made = step(state, problem);
    if (made === undefined || problem.index.needs() !== undefined) return { state };
    refused = flipsIn(state, made.replacing, problem) ?? refused;
    if (!isNew(made.choice, seen)) return refused ?? { state };
    choice = made.choice;
  }
}

function isNew(choice: Choice, seen: Set<string>): boolean {
  const key = JSON.stringify([...choice].sort());
  const isSeen = seen.has(key) || seen.size >= mostSteps;
  seen.add(key);
  return !isSeen;
}

/** If the replaced version does not satisfy all demands, a better version may come again. */
function flipsIn(state: State, replacing: Chosen | undefined, problem: Problem): Settled | undefined {
  if (replacing === undefined) return undefined;
  const { source } = replacing;
  const replaced = { source, version: state.choice.get(source) };
  return isAdmitted(replaced, state.demands(source), problem) ? undefined : { state, flips: [replaced, replacing] };
}

interface Step {
  readonly choice: Choice;
  /** The change that replaces another version. */
  readonly replacing: Chosen | undefined;
}

/**
 * Chooses a version for every package without one, and another version for the first package that must change. Requests everything
 * that must change at once: one request after the other would take a round of requests for each.
 */
function step(state: State, problem: Problem): Step | undefined {
  const { choice, reached, demands } = state;
  const isChange = (target: Chosen): boolean => target.version !== choice.get(target.source) && mayHold(target, problem);
  const changes = [...reached].flatMap((source) => choose(source, demands(source), problem) ?? []).filter(isChange);
  if (changes.length === 0) return undefined;
  const hasVersion = ({ source }: Chosen): boolean =>
    choice.has(source) || (problem.installed.has(source) && mayHold({ source, version: undefined }, problem));
  const [replacing, ...later] = changes.filter(hasVersion);
  for (const { source, version } of later) if (version !== undefined) problem.index.fetched({ source, version });
  const made = changes.filter((change) => change === replacing || !hasVersion(change));
  return { choice: changed(choice, made), replacing };
}

function changed(choice: Choice, made: readonly Chosen[]): Choice {
  const versions = new Map<string, Candidate>([...choice, ...made.map(({ source, version }) => [source, version] as const)]);
  return new Map([...versions].filter((entry): entry is [string, string] => entry[1] !== undefined));
}
