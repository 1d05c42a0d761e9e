// Tries, one after the other, all choices of versions that a solution could hold (possible.ts), within limits. For when the steps
// (search.ts) ended in a contradiction, for which only their order may be the cause.
import { isAdmitted, standing } from './choice.ts';
import { type Choice, drawGraph, type Graph, type Scene } from './graph.ts';
import type { Knowledge } from './knowledge.ts';
import { type Option, possibleOptions } from './possible.ts';
import { isSolution, type State } from './solution.ts';

type Tried =
  | { readonly kind: 'found'; readonly state: State }
  /** The knowledge has recorded what is missing. */
  | { readonly kind: 'incomplete' }
  /** `isCertain` is false if not everything was tried. */
  | { readonly kind: 'none'; readonly isCertain: boolean };

const mostTries = 2_000;
/** Packages that are looked up only for a try, at most. */
const mostLooks = 64;

interface Trying {
  readonly scene: Scene;
  readonly knowledge: Knowledge;
  readonly options: ReadonlyMap<string, readonly Option[]>;
  readonly admitted: Map<string, boolean>;
  tries: number;
}

export function byTrying(scene: Scene, knowledge: Knowledge): Tried {
  const possible = possibleOptions(scene, knowledge, knowledge.looked() + mostLooks);
  if (possible === undefined) return { kind: 'incomplete' };
  const trying: Trying = { scene, knowledge, options: possible.options, admitted: new Map(), tries: 0 };
  const state = completed(new Map(), new Set(), trying);
  if (state !== undefined) return { kind: 'found', state };
  return { kind: 'none', isCertain: possible.isWhole && trying.tries <= mostTries };
}

interface Open {
  readonly source: string;
  readonly options: readonly Option[];
}

/** The first solution that continues the choice, with the sources in the order of their names. */
function completed(choice: Choice, decided: ReadonlySet<string>, trying: Trying): State | undefined {
  const { scene, knowledge } = trying;
  trying.tries += 1;
  if (trying.tries > mostTries) return undefined;
  const graph = drawGraph(scene, choice, knowledge);
  const fixed = fixedDemands(graph, decided, trying);
  if ([...decided, scene.root.source].some((source) => !suits(source, choice.get(source), fixed, trying))) return undefined;
  // What only an undecided package requires is perhaps not there at the end.
  const open = [...graph.reached]
    .filter((source) => source !== scene.root.source && !decided.has(source) && fixed.get(source)?.length !== 0)
    .sort()
    .map((source): Open => ({ source, options: optionsOf(source, fixed, trying) }));
  if (open.length === 0) return isSolution({ choice, graph }, scene, knowledge) ? { choice, graph } : undefined;
  return continued(choice, decided, open, trying);
}

/** Decides at once what has a single option, and otherwise tries the options of the first source. */
function continued(choice: Choice, decided: ReadonlySet<string>, open: readonly Open[], trying: Trying): State | undefined {
  if (open.some(({ options }) => options.length === 0)) return undefined;
  const single = open.filter(({ options }) => options.length === 1);
  const [next] = open;
  if (single.length > 0 || next === undefined) return completed(...withOptions(choice, decided, single), trying);
  for (const option of next.options) {
    const made = completed(...withOptions(choice, decided, [{ source: next.source, options: [option] }]), trying);
    if (made !== undefined) return made;
  }
  return undefined;
}

function withOptions(choice: Choice, decided: ReadonlySet<string>, made: readonly Open[]): [Choice, ReadonlySet<string>] {
  const chosen = made.flatMap(({ source, options: [option] }) => (option === undefined ? [] : [[source, option] as const]));
  return [new Map([...choice, ...chosen]), new Set([...decided, ...made.map(({ source }) => source)])];
}

type Fixed = ReadonlyMap<string, readonly string[]>;

/** The constraints by packages whose version is decided: no further decision takes one back. */
function fixedDemands({ demands }: Graph, decided: ReadonlySet<string>, { scene }: Trying): Fixed {
  const isFixed = (source: string): boolean => decided.has(source) || source === scene.root.source;
  return new Map(
    [...demands].map(([source, all]) => [source, all.filter(({ by }) => isFixed(by)).map(({ constraints }) => constraints)]),
  );
}

function optionsOf(source: string, fixed: Fixed, trying: Trying): readonly Option[] {
  const { options, knowledge } = trying;
  return (options.get(source) ?? []).filter(
    (option) =>
      (option === undefined || !knowledge.isBroken({ source, version: option })) && suits(source, option, fixed, trying),
  );
}

function suits(source: string, option: Option, fixed: Fixed, { scene, knowledge, admitted }: Trying): boolean {
  return (fixed.get(source) ?? []).every((constraints) => {
    const key = JSON.stringify([source, option, constraints]);
    const known = admitted.get(key) ?? isAdmitted(standing(source, option, scene), [{ constraints }], knowledge);
    admitted.set(key, known);
    return known;
  });
}
