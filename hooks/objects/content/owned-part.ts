// The part of an object that a field manager owns. If its next apply sends this part, the apply changes nothing.
import { isObject, type JsonObject, parseJson } from '../json.ts';
import { listKindsOf, valueAt, withValuesAt } from './lists.ts';
import { isWhole } from './owners.ts';
import { ownedBy } from './ownership.ts';
import { field, type Path, pathText } from './path.ts';

/**
 * The values that the manager owns, with the keys of the list items that contain them. Values that a subresource owns are left out.
 */
export function ownedPart(object: JsonObject, manager: string): JsonObject {
  const kinds = listKindsOf(object);
  const owned = ownedBy(object, [manager]).filter((path) => path[0] !== 'f:status' && isWhole(object, path));
  const paths = new Map([...owned, ...owned.flatMap(keysOn)].map((path) => [pathText(path), path]));
  const placed = [...paths.values()].map((path) => ({ path, value: valueAt(object, path, kinds) }));
  const part = withValuesAt({}, placed, kinds);
  return isObject(part) ? part : {};
}

/** The keys of each list item on the way to the path. */
function keysOn(path: Path): readonly Path[] {
  return path.flatMap((element, index) => (element.startsWith('k:') ? keysOf(element, path.slice(0, index + 1)) : []));
}

function keysOf(element: string, item: Path): readonly Path[] {
  const keys = parseJson(element.slice(2));
  return isObject(keys) ? Object.keys(keys).map((key) => [...item, field(key)]) : [];
}
