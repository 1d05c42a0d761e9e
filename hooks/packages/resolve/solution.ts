// What a solution is: a choice in which every package that the root requires has the version that the rule (choice.ts) gives for the
// demands of that very choice, kinds agree, and no package requires itself.
import { textAt } from '../../model/json.ts';
import { kindOf, type PackageKind } from '../model/package.ts';
import { targetOf } from './choice.ts';
import { findCycle } from './cycles.ts';
import type { Choice, Demand, Graph, Scene } from './graph.ts';
import type { Knowledge, Release } from './knowledge.ts';

export interface State {
  readonly choice: Choice;
  readonly graph: Graph;
}

export function isSolution({ choice, graph }: State, scene: Scene, knowledge: Knowledge): boolean {
  const isStable = [...graph.reached].every((source) => {
    const target = targetOf(source, graph.demands.get(source) ?? [], scene, knowledge);
    return target.kind === 'kept' ? !choice.has(source) : target.kind === 'version' && choice.get(source) === target.version;
  });
  return (
    isStable &&
    foreignKind({ choice, graph }, scene, knowledge) === undefined &&
    findCycle(scene.root.source, graph.dependencies) === undefined
  );
}

/** The first release of the choice that cannot be read; what it requires is not known, and no part of the graph. */
export function brokenIn({ choice }: State, knowledge: Knowledge): Release | undefined {
  const releases = [...choice].sort().map(([source, version]) => ({ source, version }));
  return releases.find((release) => knowledge.isBroken(release));
}

interface Foreign extends Demand {
  readonly source: string;
  readonly found: PackageKind;
}

/** A demand for a package of another kind than the chosen one. Two packages that both stay as they are were so before. */
export function foreignKind({ choice, graph }: State, scene: Scene, knowledge: Knowledge): Foreign | undefined {
  const isChanged = (source: string): boolean => source === scene.root.source || choice.has(source);
  for (const source of [...graph.reached].sort()) {
    const found = chosenKind(source, choice, scene, knowledge);
    const asked = (graph.demands.get(source) ?? []).filter(({ by }) => isChanged(source) || isChanged(by));
    const foreign = asked.find(({ kind }) => kind !== found);
    if (foreign !== undefined && found !== undefined) return { ...foreign, source, found };
  }
  return undefined;
}

function chosenKind(source: string, choice: Choice, { root, installed }: Scene, knowledge: Knowledge): PackageKind | undefined {
  if (source === root.source) return root.meta.kind;
  const version = choice.get(source);
  if (version !== undefined) return knowledge.fetched({ source, version })?.meta.kind;
  const entry = installed.get(source)?.entry;
  return kindOf(textAt(entry, 'kind') ?? textAt(entry, 'type'));
}
