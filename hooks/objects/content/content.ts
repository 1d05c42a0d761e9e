// The content of an object: the fields that people and tools write, without the fields that the API server sets itself.
import type { Resource } from '../cluster.ts';
import { at, isObject, type Json, type JsonObject, withKey, withPath } from '../json.ts';

// The API server sets these on every object; the engine never compares or restores them.
const serverMetadata = [
  'managedFields',
  'resourceVersion',
  'generation',
  'uid',
  'creationTimestamp',
  'selfLink',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
];

/** The content of an object. The status is content only if the kind has no status subresource. */
export function contentOf(object: JsonObject, resource: Pick<Resource, 'statusSubresource'>): JsonObject {
  const plain = resource.statusSubresource ? withKey(object, 'status', undefined) : object;
  return withPath(plain, ['metadata'], withoutKeys(at(object, 'metadata'), serverMetadata));
}

export function withoutKeys(value: Json | undefined, keys: readonly string[]): JsonObject {
  return isObject(value) ? Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key))) : {};
}

/**
 * The restored content as an object to PUT. It keeps the server-set metadata and the status subresource of the live object, so that
 * the write changes nothing else.
 */
export function withContent(live: JsonObject, content: JsonObject, resource: Pick<Resource, 'statusSubresource'>): JsonObject {
  const metadata = at(live, 'metadata');
  const kept = isObject(metadata)
    ? Object.fromEntries(Object.entries(metadata).filter(([key]) => serverMetadata.includes(key)))
    : {};
  const restored = at(content, 'metadata');
  const object = withKey(content, 'metadata', { ...(isObject(restored) ? restored : {}), ...kept });
  return resource.statusSubresource ? withKey(object, 'status', at(live, 'status')) : object;
}

/** The prior state as an object to POST again. */
export function asNew(prior: JsonObject): JsonObject {
  return withKey(prior, 'metadata', withoutKeys(at(prior, 'metadata'), serverMetadata));
}

export function withManagedFields(object: JsonObject, managedFields: readonly JsonObject[]): JsonObject {
  return withPath(object, ['metadata', 'managedFields'], managedFields);
}
