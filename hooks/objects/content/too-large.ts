// Whether the engine can compare an object at all. Sets and maps hold the paths of its fields as texts (path.ts). So one long key,
// or many levels, above many fields make a small object an amount of text that no memory holds. Texts of more than 16 383
// characters collide in these sets and maps. Any client that may write an object, or its managedFields alone, can make it such an
// object.
import { at, isDeeperThan, isList, isObject, type Json, type JsonObject, mostLevels } from '../json.ts';
import { measureOf } from '../measure.ts';
import { keyNames } from './path.ts';

/**
 * The squares of the lengths of all paths may add up to this number. An object of 1.5 MB with paths of 250 characters has a tenth
 * of that.
 */
const mostText = 1e10;

const known = new WeakMap<JsonObject, string | undefined>();

/**
 * Why the engine cannot compare the object, in words. The result is remembered for the object: a large object takes a tenth of a
 * second.
 */
export function whyIncomparable(object: JsonObject | undefined): string | undefined {
  if (object === undefined) return undefined;
  if (!known.has(object)) known.set(object, isSmall(object) ? undefined : whyNot(object));
  return known.get(object);
}

/** More than any element of a path has beside its characters. */
const mostMarks = 8;

/** Whether the measure of the object shows that the engine can compare it: then no walk over 90 000 fields is necessary. */
function isSmall(object: JsonObject): boolean {
  const measure = measureOf(object);
  if (measure === undefined || measure.hasListKeys || measure.levels > mostLevels) return false;
  return measure.values * (measure.levels * (measure.longestElement + mostMarks)) ** 2 <= mostText;
}

function whyNot(object: JsonObject): string | undefined {
  if (isDeeperThan(object, mostLevels)) return `nested more than ${mostLevels} levels deep`;
  const keys = new Set<string>();
  learnKeys(at(object, 'metadata', 'managedFields'), keys);
  const budget = { left: mostText, keys };
  spend(object, 0, budget);
  return budget.left < 0 ? 'full of fields under keys that are too long' : undefined;
}

// Learns which members of list items are keys, and so parts of paths.
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

/** The walk ends once the whole budget is used. */
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

// In a long key, a character that JSON writes as several characters counts as these.
function keyLength(key: string): number {
  return 5 + (key.length > 64 ? JSON.stringify(key).length : key.length);
}

function itemLength(item: Json, keys: ReadonlySet<string>): number {
  const parts = isObject(item) ? [...keys].map((key) => at(item, key)) : [item];
  return parts.reduce<number>((sum, part) => sum + (typeof part === 'string' ? part.length + 8 : 8), 0);
}
