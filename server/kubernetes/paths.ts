// Paths of the Kubernetes API. Pure.
//
// Escaping is not enough: the API server splits the path after it has unescaped it, so the name `web%2Fstatus` would address a
// subresource. This file refuses names that no object can have before the hook sends a request.
import type { Location, Resource } from '../../hooks/objects/cluster.ts';

/** The path of all objects of a resource, in one namespace or in the whole cluster. Undefined for an impossible name. */
export function collectionPath(resource: Resource, namespace: string | undefined): string | undefined {
  const root = resource.group === '' ? ['api'] : ['apis', resource.group];
  const scope = namespace === undefined ? [] : ['namespaces', namespace];
  return joined([...root, resource.version, ...scope, resource.plural]);
}

/** The path of one object or of its subresource. Undefined for an impossible name. */
export function objectPath(location: Location, subresource?: string): string | undefined {
  const collection = collectionPath(location.resource, location.namespace);
  const rest = joined([location.name, ...(subresource === undefined ? [] : [subresource])]);
  return collection === undefined || rest === undefined ? undefined : collection + rest;
}

/** The path of the resource list of `apps/v1`. Undefined for an impossible group or version. */
export function groupVersionPath(apiVersion: string): string | undefined {
  const parts = apiVersion.split('/');
  if (parts.length > 2) return undefined;
  return joined(parts.length === 1 ? ['api', ...parts] : ['apis', ...parts]);
}

function joined(segments: readonly string[]): string | undefined {
  return segments.every(isSegment) ? segments.map((segment) => `/${encodeURIComponent(segment)}`).join('') : undefined;
}

// The API server's own rule for names in paths. Text must be well-formed, or encodeURIComponent throws.
function isSegment(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..' && !/[/%]/.test(text) && text.isWellFormed();
}
