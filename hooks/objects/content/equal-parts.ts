// Two versions of one object mostly hold equal texts and equal owned fields. The engine keeps both versions of each target, so it keeps
// the equal parts once.
import { at, isObject, type Json, type JsonObject, objectsAt, withKey, withKeys } from '../json.ts';
import { measureOf, remember } from '../measure.ts';
import { withManagedFields } from './content.ts';
import { isSameTree } from './field-trees.ts';

/** Characters: a shorter text takes less memory than a copy of the map around it. */
const longText = 4_096;

/** The object, with the long texts and the owned fields of the other version where both are equal. */
export function sharing(object: JsonObject, other: JsonObject): JsonObject {
  const shared = withTreesOf(withTextsOf(object, other), other);
  const measure = measureOf(object);
  if (measure !== undefined) remember(shared, measure);
  return shared;
}

function withTextsOf(map: JsonObject, other: JsonObject): JsonObject {
  const changed = new Map<string, Json>();
  for (const key of Object.keys(map)) {
    const theirs = at(other, key);
    if (isSameText(map[key], theirs)) changed.set(key, theirs);
  }
  for (const [key, below, theirs] of mapsIn(map, other)) {
    const shared = withTextsOf(below, theirs);
    if (shared !== below) changed.set(key, shared);
  }
  return changed.size === 0 ? map : withKeys(map, changed);
}

function mapsIn(map: JsonObject, other: JsonObject): readonly (readonly [string, JsonObject, JsonObject])[] {
  return Object.keys(map).flatMap((key) => {
    const [own, theirs] = [map[key], at(other, key)];
    return isObject(own) && isObject(theirs) ? [[key, own, theirs] as const] : [];
  });
}

function isSameText(own: Json | undefined, theirs: Json | undefined): theirs is string {
  return typeof own === 'string' && own.length > longText && own === theirs;
}

function withTreesOf(object: JsonObject, other: JsonObject): JsonObject {
  const known = objectsAt(other, 'metadata', 'managedFields')
    .map((entry) => at(entry, 'fieldsV1'))
    .filter(isObject);
  const entries = objectsAt(object, 'metadata', 'managedFields').map((entry) => {
    const tree = at(entry, 'fieldsV1');
    const same = isObject(tree) ? known.find((one) => isSameTree(tree, one)) : undefined;
    return same === undefined ? entry : withKey(entry, 'fieldsV1', same);
  });
  return entries.length === 0 ? object : withManagedFields(object, entries);
}
