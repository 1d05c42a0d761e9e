// Parts that generators leave in manifests and no author means: a status, and timestamps that are null.
import type { Resource } from '../cluster.ts';
import { isList, isObject, type Json, type JsonObject, withKey } from '../json.ts';

/** The manifest without these parts. If a kind has no status subresource, its status is content, and stays. */
export function withoutGeneratedParts(
  manifest: JsonObject,
  { statusSubresource }: Pick<Resource, 'statusSubresource'>,
): JsonObject {
  const plain = statusSubresource ? withKey(manifest, 'status', undefined) : manifest;
  return withoutNullTimestamps(plain);
}

/** The parts that the engine drops, in words. Undefined if the manifest has no such parts. */
export function generatedNote(
  manifest: Json | undefined,
  { statusSubresource }: Pick<Resource, 'statusSubresource'>,
): string | undefined {
  if (!isObject(manifest)) return undefined;
  const parts = [
    ...(statusSubresource && Object.hasOwn(manifest, 'status') ? ['status'] : []),
    ...(withoutNullTimestamps(manifest) === manifest ? [] : ['creationTimestamp: null']),
  ];
  return parts.length === 0 ? undefined : `of its content these are not sent: ${parts.join(', ')}`;
}

const timestamp = 'creationTimestamp';

// If the object has no such timestamp, the result is the object itself.
function withoutNullTimestamps(object: JsonObject): JsonObject {
  let changed: JsonObject = object;
  for (const [key, value] of Object.entries(object)) {
    const plain =
      key === 'metadata' && isObject(value) && value[timestamp] === null ? withKey(value, timestamp, undefined) : value;
    const clean = cleanValue(plain);
    if (clean !== value) changed = withKey(changed, key, clean);
  }
  return changed;
}

function cleanValue(value: Json): Json {
  if (isObject(value)) return withoutNullTimestamps(value);
  if (!isList(value)) return value;
  const clean = value.map(cleanValue);
  return clean.some((one, index) => one !== value[index]) ? clean : value;
}
