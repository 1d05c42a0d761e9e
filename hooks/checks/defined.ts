// Kinds that the API server will serve once an earlier change of the same Transaction is applied.
import type { Resource } from '../cluster.ts';
import { at, isList, isObject, type Json, textAt } from '../model/json.ts';
import { groupOf, versionOf } from '../model/reference.ts';
import type { Change } from '../model/transaction.ts';

/** The resource that an earlier change will define, and the index of that change. */
interface Defined {
  readonly resource: Resource;
  readonly by: number;
}

/** The resource for this kind, from a CustomResourceDefinition that an earlier change creates. */
export function resourceFromCreated(changes: readonly Change[], index: number): Defined | undefined {
  return resourceFrom(changes, index, ['Create']);
}

/** The resource for this kind and version, from a CustomResourceDefinition that an earlier change updates or patches. */
export function resourceFromChanged(changes: readonly Change[], index: number): Defined | undefined {
  return resourceFrom(changes, index, ['Update', 'Patch']);
}

function resourceFrom(changes: readonly Change[], index: number, types: readonly Change['type'][]): Defined | undefined {
  const wanted = changes[index]?.target;
  if (wanted === undefined) return undefined;
  const by = changes.slice(0, index).findIndex((change) => types.includes(change.type) && isDefinitionOf(change, wanted));
  const content = changes[by]?.content;
  return content === undefined ? undefined : { resource: definedResource(content, versionOf(wanted.apiVersion)), by };
}

// The name of a CustomResourceDefinition must be its plural and group. The API server will refuse any other name, so such content
// counts for nothing here.
function isDefinitionOf({ target, content }: Change, wanted: Change['target']): boolean {
  const names = at(content, 'spec', 'names');
  const group = textAt(content, 'spec', 'group');
  return (
    target.kind === 'CustomResourceDefinition' &&
    groupOf(target.apiVersion) === 'apiextensions.k8s.io' &&
    group === groupOf(wanted.apiVersion) &&
    textAt(names, 'kind') === wanted.kind &&
    target.name === `${textAt(names, 'plural')}.${group}` &&
    isServed(content, versionOf(wanted.apiVersion))
  );
}

function isServed(definition: Json | undefined, version: string): boolean {
  return at(versionIn(definition, version), 'served') === true;
}

function versionIn(definition: Json | undefined, version: string): Json | undefined {
  const versions = at(definition, 'spec', 'versions');
  return isList(versions) ? versions.find((candidate) => textAt(candidate, 'name') === version) : undefined;
}

function definedResource(content: Json, version: string): Resource {
  return {
    group: textAt(content, 'spec', 'group') ?? '',
    version,
    plural: textAt(content, 'spec', 'names', 'plural') ?? '',
    kind: textAt(content, 'spec', 'names', 'kind') ?? '',
    namespaced: textAt(content, 'spec', 'scope') === 'Namespaced',
    verbs: ['get', 'list', 'create', 'update', 'patch', 'delete'],
    statusSubresource: isObject(at(versionIn(content, version), 'subresources', 'status')),
  };
}
