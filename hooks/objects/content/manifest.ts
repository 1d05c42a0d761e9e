// What generators leave in manifests and nobody means: a status, and timestamps that are null.
import type { Resource } from '../cluster.ts';
import { isList, isObject, type Json, type JsonObject, withKey } from '../json.ts';

/** The manifest without these parts. A kind without a status subresource has its status as content, which stays. */
export function withoutGeneratedParts(
  manifest: JsonObject,
  { statusSubresource }: Pick<Resource, 'statusSubresource'>,
): JsonObject {
  const plain = statusSubresource ? withKey(manifest, 'status', undefined) : manifest;
  return withoutNullTimestamps(plain);
}

/** The parts that are dropped, in words; undefined if there are none. */
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

// The same object again where it has none.
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
