// Unrolls Lists of objects, such as `kubectl get -o yaml` prints.
import { at, isList, isObject, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';

/** The value, or the items of a List, also of nested Lists. A value that is not an object stays, so that it is reported. */
export function unrolled(value: Json): readonly Json[] {
  const items = at(value, 'items');
  if (!isObject(value) || !isList(items) || !textAt(value, 'kind')?.endsWith('List')) return [value];
  return items.flatMap((item) => unrolled(isObject(item) ? typed(item, value) : item));
}

// The items of a typed list (`ConfigMapList`) may leave out the kind that the list gives.
function typed(item: JsonObject, list: JsonObject): JsonObject {
  const kind = textAt(list, 'kind')?.slice(0, -'List'.length) ?? '';
  if (kind === '' || textAt(item, 'kind') !== undefined) return item;
  return { apiVersion: textAt(list, 'apiVersion') ?? '', kind, ...item };
}
