// Finds versions that satisfy all packages together. A solution is a choice in which every package that the root requires has the
// version that the rule (choice.ts) gives for the demands of that very choice, kinds agree, and no package requires itself. The
// search first goes by steps, each of which makes the change that the rule requires; that succeeds for nearly every tree. If the
// steps end in a contradiction, only the order of the steps may be the cause: then the search tries alternatives, within limits.
import { candidatesFor, isAdmitted, targetOf } from './choice.ts';
import { findCycle } from './cycles.ts';
import { type Choice, type Demand, drawGraph, type Graph, type Scene } from './graph.ts';
import type { Knowledge } from './knowledge.ts';

export interface State {
  readonly choice: Choice;
  readonly graph: Graph;
}

type Found =
  | { readonly kind: 'found'; readonly state: State }
  /** `state` is where the steps ended; `isCertain` is false if not everything was tried. */
  | { readonly kind: 'contradiction'; readonly state: State; readonly isCertain: boolean }
  /** The knowledge has recorded what is missing. */
  | { readonly kind: 'incomplete' };

const mostSteps = 10_000;
const mostTries = 2_000;
/** Packages that are fetched only for a try, at most. */
const mostLooks = 64;

export function search(scene: Scene, knowledge: Knowledge): Found {
  const ended = bySteps(scene, knowledge);
  if (ended === undefined) return { kind: 'incomplete' };
  if (isSolution(ended, scene, knowledge)) return { kind: 'found', state: ended };
  return byTrying(scene, knowledge, ended);
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

function isSolution({ choice, graph }: State, scene: Scene, knowledge: Knowledge): boolean {
  const isStable = [...graph.reached].every((source) => {
    const target = targetOf(source, graph.demands.get(source) ?? [], scene, knowledge);
    return target.kind === 'kept' ? !choice.has(source) : target.kind === 'version' && choice.get(source) === target.version;
  });
  return (
    isStable &&
    foreignKind({ choice, graph }, knowledge) === undefined &&
    findCycle(scene.root.source, graph.dependencies) === undefined
  );
}

/** A demand for a package of another kind than the chosen one. */
export function foreignKind(
  { choice, graph }: State,
  knowledge: Knowledge,
): (Demand & { readonly source: string; readonly found: string }) | undefined {
  for (const [source, version] of [...choice].sort()) {
    const found = knowledge.fetched({ source, version })?.meta.kind;
    const foreign = graph.demands.get(source)?.find(({ kind }) => found !== undefined && kind !== found);
    if (foreign !== undefined && found !== undefined) return { ...foreign, source, found };
  }
  return undefined;
}

interface Trying {
  readonly scene: Scene;
  readonly knowledge: Knowledge;
  readonly mostLooked: number;
  tries: number;
}

function byTrying(scene: Scene, knowledge: Knowledge, state: State): Found {
  const trying: Trying = { scene, knowledge, mostLooked: knowledge.looked() + mostLooks, tries: 0 };
  const found = completed(new Map(), new Set(), trying);
  if (found !== undefined) return { kind: 'found', state: found };
  const isCertain = !isExhausted(trying);
  return isCertain && knowledge.needs() !== undefined ? { kind: 'incomplete' } : { kind: 'contradiction', state, isCertain };
}

function isExhausted({ tries, knowledge, mostLooked }: Trying): boolean {
  return tries > mostTries || knowledge.looked() > mostLooked;
}

/** The first solution that continues the choice, with the sources in the order of their names. */
function completed(choice: Choice, decided: ReadonlySet<string>, trying: Trying): State | undefined {
  const { scene, knowledge } = trying;
  trying.tries += 1;
  const graph = drawGraph(scene, choice, knowledge);
  if (mustStop(trying) || isContradicted(choice, graph, decided, trying)) return undefined;
  const [next] = [...graph.reached].filter((source) => source !== scene.root.source && !decided.has(source)).sort();
  const state = { choice, graph };
  if (next === undefined) return isSolution(state, scene, knowledge) ? state : undefined;
  const also = new Set([...decided, next]);
  return firstOf(candidatesOf(next, graph, trying), (version) => completed(withVersion(choice, next, version), also, trying));
}

function withVersion(choice: Choice, source: string, version: string | undefined): Choice {
  return version === undefined ? choice : new Map([...choice, [source, version]]);
}

function firstOf<Item, Result>(items: readonly Item[], make: (item: Item) => Result | undefined): Result | undefined {
  for (const item of items) {
    const made = make(item);
    if (made !== undefined) return made;
  }
  return undefined;
}

function mustStop(trying: Trying): boolean {
  return isExhausted(trying) || trying.knowledge.needs() !== undefined;
}

/** Undefined stands for the installed version. */
function candidatesOf(source: string, graph: Graph, { scene, knowledge }: Trying): readonly (string | undefined)[] {
  const installed = scene.installed.get(source);
  const digests = (graph.demands.get(source) ?? [])
    .map(({ constraints }) => constraints)
    .filter((text) => text.startsWith('sha256:'));
  const tags = digests.length > 0 ? [...new Set(digests)].sort() : (candidatesFor(source, installed, knowledge) ?? []);
  return installed === undefined ? tags : [undefined, ...tags];
}

/** Decided versions contradict each other: no further decision can change that. */
function isContradicted(choice: Choice, { demands }: Graph, decided: ReadonlySet<string>, { scene, knowledge }: Trying): boolean {
  const isFixed = (source: string): boolean => decided.has(source) || source === scene.root.source;
  const isRefused = (source: string): boolean => {
    const fixed = (demands.get(source) ?? []).filter(({ by }) => isFixed(by));
    const tag = choice.get(source);
    if (tag !== undefined)
      return !isAdmitted(
        tag.startsWith('sha256:') ? { tag: undefined, digest: tag } : { tag, digest: undefined },
        fixed,
        knowledge,
      );
    return targetOf(source, fixed, scene, knowledge).kind !== 'kept';
  };
  return [...decided, scene.root.source].some(isRefused);
}
