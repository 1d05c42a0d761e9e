// Kinds that the API server will serve after the engine has applied an earlier change of this Transaction.
import type { Resource } from '../../objects/cluster.ts';
import { versionIn } from '../../objects/definitions.ts';
import { at, isObject, type Json, textAt } from '../../objects/json.ts';
import { versionOf } from '../../objects/reference.ts';
import { type Change, type Way, wayOf } from '../model/change.ts';
import { isCrdOf } from '../model/crds.ts';

/** The resource that an earlier change will define, and the index of that change. */
interface Defined {
  readonly resource: Resource;
  readonly by: number;
}

/** The resource for this kind, from a CustomResourceDefinition that an earlier change creates. */
export function resourceFromCreated(changes: readonly Change[], index: number): Defined | undefined {
  return resourceFrom(changes, index, ['Create']);
}

/** The resource for this kind and version, from a CustomResourceDefinition that an earlier change updates, patches or applies. */
export function resourceFromChanged(changes: readonly Change[], index: number): Defined | undefined {
  return resourceFrom(changes, index, ['Update', 'Patch']);
}

function resourceFrom(changes: readonly Change[], index: number, ways: readonly Way[]): Defined | undefined {
  const wanted = changes[index]?.target;
  if (wanted === undefined) return undefined;
  const by = changes.slice(0, index).findIndex((change) => ways.includes(wayOf(change.type, true)) && isCrdOf(change, wanted));
  const content = changes[by]?.content;
  return content === undefined ? undefined : { resource: definedResource(content, versionOf(wanted.apiVersion)), by };
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
    scale: isObject(at(versionIn(content, version), 'subresources', 'scale')),
  };
}
