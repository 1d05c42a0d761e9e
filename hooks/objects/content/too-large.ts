// Whether an object can be compared at all. Sets and maps hold the paths of its fields as texts (path.ts), so one long key, or many
// levels, above many fields make a small object an amount of text that no memory holds; and texts of more than 16 383 characters
// collide in them. Whoever may write an object, or its managedFields alone, can make it such a one.
import { at, isDeeperThan, isList, isObject, type Json, type JsonObject, mostLevels } from '../json.ts';
import { keyNames } from './path.ts';

/** Of the squares of the lengths of all paths. An object of 1.5 MB with paths of 250 characters has a tenth of that. */
const mostText = 1e10;

const known = new WeakMap<JsonObject, string | undefined>();

/** Why the object cannot be compared, in words. Remembered for the object: a large one takes a tenth of a second. */
export function whyIncomparable(object: JsonObject | undefined): string | undefined {
  if (object === undefined) return undefined;
  if (!known.has(object)) known.set(object, whyNot(object));
  return known.get(object);
}

function whyNot(object: JsonObject): string | undefined {
  if (isDeeperThan(object, mostLevels)) return `nested more than ${mostLevels} levels deep`;
  const keys = new Set<string>();
  learnKeys(at(object, 'metadata', 'managedFields'), keys);
  const budget = { left: mostText, keys };
  spend(object, 0, budget);
  return budget.left < 0 ? 'full of fields under keys that are too long' : undefined;
}

// Which members of list items are keys, and so parts of paths.
function learnKeys(value: Json | undefined, keys: Set<string>): void {
  if (isList(value)) for (const item of value) learnKeys(item, keys);
  if (isObject(value)) for (const element of Object.keys(value)) learnElement(element, value[element], keys);
}

function learnElement(element: string, below: Json | undefined, keys: Set<string>): void {
  const names = element.startsWith('k:') ? keyNames(element) : [];
  for (const name of names) keys.add(name);
  learnKeys(below, keys);
}

interface Budget {
  left: number;
  readonly keys: ReadonlySet<string>;
}

/** No further than that all is gone. */
function spend(value: Json, length: number, budget: Budget): void {
  budget.left -= length * length;
  if (isList(value)) spendOnList(value, length, budget);
  else if (isObject(value)) spendOnMap(value, length, budget);
}

function spendOnMap(map: JsonObject, length: number, budget: Budget): void {
  for (const key of Object.keys(map)) {
    if (budget.left < 0) return;
    spend(map[key] ?? null, length + keyLength(key), budget);
  }
}

function spendOnList(list: readonly Json[], length: number, budget: Budget): void {
  for (const item of list) {
    if (budget.left < 0) return;
    spend(item, length + itemLength(item, budget.keys), budget);
  }
}

// What is written as several characters counts as they do, where there are many.
function keyLength(key: string): number {
  return 5 + (key.length > 64 ? JSON.stringify(key).length : key.length);
}

function itemLength(item: Json, keys: ReadonlySet<string>): number {
  const parts = isObject(item) ? [...keys].map((key) => at(item, key)) : [item];
  return parts.reduce<number>((sum, part) => sum + (typeof part === 'string' ? part.length + 8 : 8), 0);
}
