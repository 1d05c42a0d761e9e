// The rule that chooses a version: it takes the first candidate that all constraints admit. Candidates for a new dependency are its
// versions in falling order. Candidates for an installed package are the installed version, then the version that its Package names, then
// the versions above the installed one in rising order. If the hook has chosen the installed version for other packages, the versions
// below it follow in falling order. The only candidate for the root is the requested version. A digest admits only itself, and is a
// candidate if a package demands it.
import { admits } from '../model/constraint.ts';
import type { Installed } from '../model/lock.ts';
import { isDigest } from '../model/reference.ts';
import { compareVersions, readVersion, type Version } from '../model/version.ts';
import type { Candidate, Chosen, Demand, Problem } from './problem.ts';

type Demands = readonly Pick<Demand, 'constraints'>[];

const ofDigest = ({ constraints }: Demands[number]): boolean => isDigest(constraints);

/** Undefined if the demands admit no candidate, or if the tags are not known yet. */
export function choose(source: string, demands: Demands, problem: Problem): Chosen | undefined {
  return problem.index.once(JSON.stringify([source, ...demands.map(({ constraints }) => constraints)]), () => {
    for (const version of candidatesFor(source, demands, !demands.some(ofDigest), problem))
      if (isAdmitted({ source, version }, demands, problem)) return { source, version };
    return undefined;
  });
}

/**
 * The versions that the rule gives for some of the demands. Of all sets of demands that admit a candidate, the largest set excludes
 * the most other candidates. If the rule gives another candidate for the largest set, it never gives this candidate.
 */
export function possibleCandidates(source: string, demands: Demands, problem: Problem): readonly Possible[] {
  const possible: Possible[] = [];
  for (const version of candidatesFor(source, demands, !demands.every(ofDigest), problem)) {
    const admitting = demands.filter((one) => isAdmitted({ source, version }, [one], problem));
    const isChosen = admitting.length > 0 && choose(source, admitting, problem)?.version === version;
    if (isChosen) possible.push({ source, version, admitting });
    if (admitting.length === demands.length) break;
  }
  return possible;
}

interface Possible extends Chosen {
  readonly admitting: Demands;
}

/** The candidates, the best first. The function lists the tags only if no candidate before them is admitted. */
function* candidatesFor(source: string, demands: Demands, hasTags: boolean, problem: Problem): Iterable<Candidate> {
  const { root, installed, index } = problem;
  const entry = installed.get(source);
  if (source === root.source || entry !== undefined) yield undefined;
  if (source === root.source) return;
  const named = namedBy(entry);
  yield* named;
  yield* new Set(demands.filter(ofDigest).map(({ constraints }) => constraints));
  if (!hasTags) return;
  const versions = inOrder(entry, index.versions(source)).map(({ text }) => text);
  yield* versions.filter((text) => !named.includes(text));
}

function namedBy(entry: Installed | undefined): readonly string[] {
  return entry?.applied === undefined ? [] : [entry.applied];
}

function inOrder(entry: Installed | undefined, falling: readonly Version[]): readonly Version[] {
  if (entry === undefined) return falling;
  const present = entry.tag === undefined ? undefined : readVersion(entry.tag);
  if (present === undefined) return [];
  const isLower = (version: Version): boolean => compareVersions(version, present) < 0;
  const higher = falling.filter((version) => !isLower(version)).reverse();
  return entry.mayGoBack === true ? [...higher, ...falling.filter(isLower)] : higher;
}

export function isAdmitted(chosen: Chosen, demands: Demands, problem: Problem): boolean {
  const { tag, digest } = tagAndDigest(chosen, problem);
  const version = tag === undefined ? undefined : readVersion(tag);
  return demands.every(({ constraints }) => {
    const constraint = problem.index.constraint(constraints);
    if (constraint.kind === 'digest') return constraint.digest === digest;
    return version !== undefined && admits(constraint, version);
  });
}

/** The tag and the digest, if they are known without the package. */
function tagAndDigest({ source, version }: Chosen, { root, installed }: Problem): Pick<Installed, 'tag' | 'digest'> {
  if (source === root.source) return { tag: isDigest(root.version) ? root.tag : root.version, digest: root.digest };
  if (version === undefined) return installed.get(source) ?? { tag: undefined, digest: undefined };
  return isDigest(version) ? { tag: undefined, digest: version } : { tag: version, digest: undefined };
}
