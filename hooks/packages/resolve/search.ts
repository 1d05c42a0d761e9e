// Finds versions that satisfy all packages together. A solution is a choice in which every package that the root requires has the
// version that the rule (choice.ts) gives for the demands of that very choice, kinds agree, and no package requires itself. The
// search first goes by steps, each of which makes the change that the rule requires; that succeeds for nearly every tree. If the
// steps end in a contradiction, only the order of the steps may be the cause: then the search tries alternatives, within limits.
import { byTrying } from './alternatives.ts';
import { targetOf } from './choice.ts';
import { type Choice, drawGraph, type Scene } from './graph.ts';
import type { Knowledge, Release } from './knowledge.ts';
import { brokenIn, isSolution, type State } from './solution.ts';

type Found =
  | { readonly kind: 'found'; readonly state: State }
  /** `state` is where the steps ended; `isCertain` is false if not everything was tried. */
  | { readonly kind: 'contradiction'; readonly state: State; readonly isCertain: boolean }
  /** The only choice that was found needs a release that cannot be read. */
  | { readonly kind: 'broken'; readonly release: Release }
  /** The knowledge has recorded what is missing. */
  | { readonly kind: 'incomplete' };

const mostSteps = 10_000;

export function search(scene: Scene, knowledge: Knowledge): Found {
  const ended = bySteps(scene, knowledge);
  if (ended === undefined) return { kind: 'incomplete' };
  const broken = brokenIn(ended, knowledge);
  const isStable = isSolution(ended, scene, knowledge);
  if (isStable && broken === undefined) return { kind: 'found', state: ended };
  const tried = byTrying(scene, knowledge);
  if (tried.kind !== 'none') return tried;
  if (isStable && broken !== undefined) return { kind: 'broken', release: broken };
  return { kind: 'contradiction', state: ended, isCertain: tried.isCertain };
}

function bySteps(scene: Scene, knowledge: Knowledge): State | undefined {
  let choice: Choice = new Map();
  for (const seen = new Set<string>(); seen.size < mostSteps; ) {
    const graph = drawGraph(scene, choice, knowledge);
    const next = nextChoice({ choice, graph }, scene, knowledge);
    if (knowledge.needs() !== undefined) return undefined;
    const key = [...next]
      .map(([source, version]) => `${source} ${version}`)
      .sort()
      .join('\n');
    if (next === choice || seen.has(key)) return { choice, graph };
    seen.add(key);
    choice = next;
  }
  return { choice, graph: drawGraph(scene, choice, knowledge) };
}

/**
 * Chooses a version for every new package without one. Otherwise changes the first package that must change. Otherwise returns the
 * choice itself. Requests everything that must change at once: one after the other takes a round of requests each.
 */
function nextChoice({ choice, graph }: State, scene: Scene, knowledge: Knowledge): Choice {
  const needed = [...choice].filter(([source]) => graph.reached.has(source));
  const changes = [...graph.reached].sort().flatMap((source) => {
    const version = changeOf(source, { choice, graph }, scene, knowledge);
    return version === 'as it is' ? [] : [{ source, version }];
  });
  if (changes.length === 0) return needed.length === choice.size ? choice : new Map(needed);
  const isFirst = ({ source }: Change): boolean => !choice.has(source) && !scene.installed.has(source);
  const replacing = changes.filter((change) => !isFirst(change));
  lookAt(replacing, knowledge);
  const [replaced] = replacing;
  const made = new Map<string, string | undefined>(needed);
  for (const { source, version } of [...changes.filter(isFirst), ...(replaced === undefined ? [] : [replaced])])
    made.set(source, version);
  return new Map([...made].filter((entry): entry is [string, string] => entry[1] !== undefined));
}

interface Change {
  readonly source: string;
  readonly version: string | undefined;
}

/** Requests the packages that the knowledge lacks. */
function lookAt(changes: readonly Change[], knowledge: Knowledge): void {
  for (const { source, version } of changes) if (version !== undefined) knowledge.fetched({ source, version });
}

/** The version to choose; undefined for the installed one. */
function changeOf(source: string, { choice, graph }: State, scene: Scene, knowledge: Knowledge): string | 'as it is' | undefined {
  const target = targetOf(source, graph.demands.get(source) ?? [], scene, knowledge);
  if (target.kind === 'unknown' || target.kind === 'none') return 'as it is';
  const wanted = target.kind === 'kept' ? undefined : target.version;
  return wanted === choice.get(source) ? 'as it is' : wanted;
}
