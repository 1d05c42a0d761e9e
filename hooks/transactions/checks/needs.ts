// Which targets of a Transaction need which other targets. An object that stays does not work without the objects that it names
// (needed-names.ts), and without the definition of its kind. It also does not work without the servers behind a Service that the
// API server calls for it.

import { at, isObject, type Json, type JsonObject, listAt, textAt } from '../../objects/json.ts';
import { groupOf, kindOfReference, type Reference } from '../../objects/reference.ts';
import { selects } from '../../objects/selector.ts';
import { isCrd } from '../model/crds.ts';
import { type Named, namesIn, podTemplateOf, servicesCalledBy } from './needed-names.ts';

/** A target of the Transaction, with the object that stays; undefined if no object stays, or if its content is not known. */
interface Item {
  readonly index: number;
  readonly target: Reference;
  readonly object: JsonObject | undefined;
}

/** By the index of an item: the indexes of the items that it needs. Not transitive. */
export type Needs = ReadonlyMap<number, ReadonlySet<number>>;

export function needsOf(items: readonly Item[]): Needs {
  const all = indexed(items);
  return new Map(items.map((item) => [item.index, neededBy(item, all)]));
}

/**
 * The changes that the undo keeps with the items `left`: by the index of an item that must be kept, the index of an item that needs
 * it.
 */
export function keptWith(items: readonly Item[], left: ReadonlySet<number>): ReadonlyMap<number, number> {
  const all = indexed(items);
  const kept = new Map<number, number>();
  const next = items.filter(({ index }) => left.has(index));
  for (const item of next)
    for (const index of neededBy(item, all)) {
      const needed = all.byIndex.get(index);
      if (needed === undefined || left.has(index) || kept.has(index)) continue;
      kept.set(index, item.index);
      next.push(needed);
    }
  return kept;
}

interface Indexed {
  readonly byIndex: ReadonlyMap<number, Item>;
  readonly byName: ReadonlyMap<string, Item>;
  readonly definitions: readonly Item[];
  /** What makes Pods. */
  readonly workloads: readonly Item[];
  readonly roles: readonly Item[];
}

function indexed(items: readonly Item[]): Indexed {
  return {
    byIndex: new Map(items.map((item) => [item.index, item])),
    byName: new Map(items.map((item) => [keyOf({ ...item.target, kind: kindOfReference(item.target) }), item])),
    definitions: items.filter(isCrd),
    workloads: items.filter(({ object }) => podTemplateOf(object) !== undefined),
    roles: items.filter(({ target }) => kindOfReference(target) === clusterRole),
  };
}

function keyOf({ kind, namespace, name }: Named): string {
  return [kind, namespace ?? '', name].join('|');
}

function neededBy({ index, target, object }: Item, all: Indexed): ReadonlySet<number> {
  if (object === undefined) return new Set();
  const named = namesIn(object, target.namespace).flatMap((name) => itemsOf(name, all));
  const answering = servicesCalledBy(object).flatMap((name) => itemsOf(name, all).flatMap((service) => behind(service, all)));
  const definitions = all.definitions.filter((definition) => isDefinitionOf(definition, target));
  const parts = partsOf(object, all);
  const needed = new Set([...named, ...answering, ...definitions, ...parts].map((item) => item.index));
  needed.delete(index);
  return needed;
}

const clusterRole = 'rbac.authorization.k8s.io/ClusterRole';

/** The ClusterRoles whose rules a controller copies into the object. */
function partsOf(object: JsonObject, { roles }: Indexed): readonly Item[] {
  const selectors = listAt(object, 'aggregationRule', 'clusterRoleSelectors');
  return selectors.flatMap((selector) => roles.filter((role) => selects({ spec: { selector } }, labelsOf(role.object))));
}

function itemsOf(named: Named, { byName }: Indexed): readonly Item[] {
  const item = byName.get(keyOf(named));
  return item === undefined ? [] : [item];
}

/** What makes the Pods that a Service sends requests to. */
function behind({ target, object }: Item, { workloads }: Indexed): readonly Item[] {
  if (object === undefined) return [];
  const near = workloads.filter((workload) => workload.target.namespace === target.namespace);
  return near.filter((workload) => selects(object, labelsOf(podTemplateOf(workload.object))));
}

function labelsOf(template: Json | undefined): JsonObject {
  const labels = at(template, 'metadata', 'labels');
  return isObject(labels) ? labels : {};
}

// If the content of a definition is not known, it counts for all kinds of its group: its name ends with the group.
function isDefinitionOf({ target, object }: Item, { apiVersion, kind }: Reference): boolean {
  const group = groupOf(apiVersion);
  if (object === undefined) return target.name.slice(target.name.indexOf('.') + 1) === group;
  return textAt(object, 'spec', 'group') === group && textAt(object, 'spec', 'names', 'kind') === kind;
}
