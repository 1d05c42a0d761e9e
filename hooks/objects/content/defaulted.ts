// The value that the API server may make of a value that no dry run has shown. It adds defaults, drops empty values, and writes
// amounts in other words. This matters if a manager owns a value as a whole, such as the claim templates of a StatefulSet.
// Elsewhere the API server adds keys to list items.
import { at, equalJson, isList, isObject, type Json, type JsonObject } from '../json.ts';
import { parseQuantity } from '../quantity.ts';
import type { ListKinds } from './lists.ts';
import { field, itemElement, type Path, schemaPath } from './path.ts';

/**
 * Whether the API server may have stored `found` when the engine sent `sent`. Lists keep their length and order. A null sends no
 * value: the API server drops it, or decodes it as empty and then sets its default. Source: encoding/json Unmarshal, and
 * k8s.io/apimachinery pkg/runtime/serializer/json.
 */
export function mayBecome(sent: Json | undefined, found: Json | undefined): boolean {
  if (found === undefined) return isEmpty(sent);
  if (sent === null) return true;
  if (isObject(sent) && isObject(found)) return Object.keys(sent).every((key) => mayBecome(sent[key], own(found, key)));
  if (isList(sent) && isList(found))
    return sent.length === found.length && sent.every((one, index) => mayBecome(one, found[index]));
  return equalJson(sent, found) || isSameAmount(sent, found);
}

function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function isEmpty(value: Json | undefined): boolean {
  if (isList(value)) return value.length === 0;
  return isObject(value) ? Object.values(value).every(isEmpty) : value === undefined || value === null;
}

function isSameAmount(one: Json | undefined, other: Json | undefined): boolean {
  const amounts = [one, other].map(amountOf);
  return amounts[0] !== undefined && amounts[0] === amounts[1];
}

function amountOf(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? parseQuantity(value) : undefined;
}

interface Stored {
  readonly kinds: ListKinds;
  /** Whether the sender owns the list item at the path, or a part of it. */
  readonly isOurs: (path: Path) => boolean;
}

/**
 * The value that was sent, with the keys that the API server has added to its list items. Only `found`, the value that the API
 * server stored, shows these keys. An item matches by the keys that were sent. If an item lacks a key, the key is null. The API
 * server takes a missing key from the default of the schema. Source: sigs.k8s.io/structured-merge-diff typed/helpers.go,
 * keyedAssociativeListItemToPathElement.
 */
export function withStoredKeys(sent: Json, found: Json | undefined, stored: Stored, path: Path = []): Json {
  if (isObject(sent) && isObject(found)) {
    const below = ([key, value]: readonly [string, Json]): readonly [string, Json] => [
      key,
      withStoredKeys(value, own(found, key), stored, [...path, field(key)]),
    ];
    return Object.fromEntries(Object.entries(sent).map(below));
  }
  const keys = stored.kinds.get(schemaPath(path));
  if (!isList(sent) || !isList(found) || keys === undefined || keys === 'set') return sent;
  const partnerOf = partners({ sent, found, keys, isOurs: (element) => stored.isOurs([...path, element]) });
  return sent.map((item) => {
    const partner = partnerOf(item);
    const whole = isObject(item) ? withKeysOf(item, partner, keys) : item;
    return withStoredKeys(whole, partner, stored, [...path, itemElement(whole, keys) ?? '']);
  });
}

function withKeysOf(item: JsonObject, partner: Json | undefined, keys: readonly string[]): JsonObject {
  const added = keys.filter((key) => !isSent(item, key)).map((key) => [key, at(partner, key) ?? null] as const);
  return added.length === 0 ? item : { ...item, ...Object.fromEntries(added) };
}

function isSent(item: Json, key: string): boolean {
  return (at(item, key) ?? null) !== null;
}

interface ListOf {
  readonly sent: readonly Json[];
  readonly found: readonly Json[];
  readonly keys: readonly string[];
  readonly isOurs: (element: string) => boolean;
}

/** Finds the stored item of a sent item. The function finds each stored item once. */
function partners({ sent, found, keys, isOurs }: ListOf): (item: Json) => Json | undefined {
  const hasAll = (item: Json): boolean => keys.every((key) => isSent(item, key));
  const stored = new Map(found.map((item) => [itemElement(item, keys) ?? '', item]));
  const taken = new Set(sent.filter(hasAll).map((item) => itemElement(item, keys) ?? ''));
  const open = [...stored].filter(([element]) => !taken.has(element) && isOurs(element));
  // Lists may be long: the function reads each list once for the keys that its items were sent with.
  const indexes = new Map<string, Map<string, (typeof open)[number][]>>();
  return (item) => {
    const element = itemElement(item, keys) ?? '';
    if (hasAll(item)) return stored.get(element);
    const had = keys.filter((key) => isSent(item, key));
    const index = indexes.get(had.join()) ?? Map.groupBy(open, ([, one]) => itemElement(one, had) ?? '');
    indexes.set(had.join(), index);
    const [name, partner] = index.get(itemElement(item, had) ?? '')?.find(([one]) => !taken.has(one)) ?? [];
    if (name !== undefined) taken.add(name);
    return partner;
  };
}
