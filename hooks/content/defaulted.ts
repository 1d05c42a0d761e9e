// What the API server may make of a value that no dry run has shown: it adds defaults, drops what is empty, and writes amounts in other
// words. That is seen where a value is owned as a whole, such as the claim templates of a StatefulSet.
import { equalJson, isList, isObject, type Json, type JsonObject } from '../model/json.ts';
import { parseQuantity } from '../model/quantity.ts';

/** Whether the API server may have stored `found` where `sent` was sent. Lists keep their length and order. */
export function mayBecome(sent: Json | undefined, found: Json | undefined): boolean {
  if (found === undefined) return isEmpty(sent);
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
