// Lists of objects, as `kubectl get -o yaml` prints them, as the objects in them.
import { at, isList, isObject, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';

/** The value, or those of a List; Lists in Lists too. What is no object stays: nothing of a release may be left out unseen. */
export function unrolled(value: Json): readonly Json[] {
  const items = at(value, 'items');
  if (!isObject(value) || !isList(items) || !textAt(value, 'kind')?.endsWith('List')) return [value];
  return items.flatMap((item) => unrolled(isObject(item) ? typed(item, value) : item));
}

// The items of a typed list (`ConfigMapList`) may leave out what the list says.
function typed(item: JsonObject, list: JsonObject): JsonObject {
  const kind = textAt(list, 'kind')?.slice(0, -'List'.length) ?? '';
  if (kind === '' || textAt(item, 'kind') !== undefined) return item;
  return { apiVersion: textAt(list, 'apiVersion') ?? '', kind, ...item };
}
