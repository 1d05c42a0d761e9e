// Lists of objects, as `kubectl get -o yaml` prints them, as the objects in them.
import { at, isList, isObject, type JsonObject, textAt } from '../../hooks/model/json.ts';

/** The object, or those of a List; Lists in Lists too. */
export function unrolled(object: JsonObject): readonly JsonObject[] {
  const items = at(object, 'items');
  if (!isList(items) || !textAt(object, 'kind')?.endsWith('List')) return [object];
  return items.filter(isObject).flatMap((item) => unrolled(typed(item, object)));
}

// The items of a typed list (`ConfigMapList`) may leave out what the list says.
function typed(item: JsonObject, list: JsonObject): JsonObject {
  const kind = textAt(list, 'kind')?.slice(0, -'List'.length) ?? '';
  if (kind === '' || textAt(item, 'kind') !== undefined) return item;
  return { apiVersion: textAt(list, 'apiVersion') ?? '', kind, ...item };
}
