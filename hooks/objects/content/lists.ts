// Which lists have keys. managedFields show it: if a schema declares a list as a map or a set, the API server writes the keys of
// the list into them. It does so for built-in kinds and CustomResourceDefinitions alike. So the engine reads no schema.
import { at, isList, isObject, type Json, type JsonObject } from '../json.ts';
import { mayHaveItems } from './field-trees.ts';
import { eachChild, fieldTreesOf, isEmpty } from './fields.ts';
import { field, itemElement, keyNames, memberElement, type Path, schemaPath } from './path.ts';

/** By schemaPath: the key names of a list with keys, or `set`. The engine compares any other list as a whole. */
export type ListKinds = ReadonlyMap<string, readonly string[] | 'set'>;

/** The kinds of lists that the managedFields of these versions of one object show. */
export function listKindsOf(...objects: readonly (Json | undefined)[]): ListKinds {
  return new Map(objects.flatMap(fieldTreesOf).flatMap((tree) => [...kindsIn(tree)]));
}

/** Remembered: many functions compare the same versions, which may have 90 000 fields each. */
const known = new WeakMap<JsonObject, ListKinds>();

function kindsIn(tree: JsonObject): ListKinds {
  const found = known.get(tree);
  if (found !== undefined) return found;
  const kinds = new Map<string, readonly string[] | 'set'>();
  if (mayHaveItems(tree)) learn(tree, [], kinds);
  known.set(tree, kinds);
  return kinds;
}

function learn(node: JsonObject, path: Path, kinds: Map<string, readonly string[] | 'set'>): void {
  let list: string | undefined;
  eachChild(node, (element, below) => {
    if (!element.startsWith('f:')) {
      list ??= schemaPath(path);
      kinds.set(list, element.startsWith('k:') ? keyNames(element) : 'set');
    }
    // Most of 90 000 fields have nothing below them.
    if (!isEmpty(below)) learn(below, [...path, element], kinds);
  });
}

/** A value split into its parts: a map, a list with keys, or a set. `entries` keep the order of the value. */
export interface Parts {
  readonly kind: 'map' | 'items' | 'set';
  readonly entries: ReadonlyMap<string, Json>;
}

/**
 * The parts of a value at a path. Undefined for values that the engine compares as a whole: scalars, and lists without unique keys.
 */
export function partsOf(value: Json | undefined, path: Path, kinds: ListKinds): Parts | undefined {
  if (isObject(value)) return { kind: 'map', entries: fieldsIn(value) };
  if (!isList(value)) return undefined;
  const kind = kinds.get(schemaPath(path));
  if (kind === undefined) return undefined;
  return kind === 'set' ? unique('set', value, memberElement) : unique('items', value, (item) => itemElement(item, kind));
}

function fieldsIn(value: JsonObject): Parts['entries'] {
  const entries = new Map<string, Json>();
  for (const key of Object.keys(value)) entries.set(field(key), value[key] ?? null);
  return entries;
}

// A list may hold duplicates from before its schema declared keys: the engine compares such a list as a whole.
function unique(kind: 'items' | 'set', list: readonly Json[], elementOf: (item: Json) => string | undefined): Parts | undefined {
  const entries = new Map<string, Json>();
  for (const item of list) {
    const element = elementOf(item);
    if (element === undefined || entries.has(element)) return undefined;
    entries.set(element, item);
  }
  return { kind, entries };
}

/** The path of every value that content sets. */
export function namedPaths(value: Json, path: Path, kinds: ListKinds): readonly Path[] {
  const parts = partsOf(value, path, kinds);
  if (parts === undefined) return [path];
  return [...parts.entries].flatMap(([element, below]) => namedPaths(below, [...path, element], kinds));
}

/** The parts of an object that `names` names, too. A list that has no keys is one part. */
export function partsNamedIn(object: JsonObject, names: JsonObject, kinds: ListKinds): JsonObject {
  return sharedParts(object, names, [], kinds) as JsonObject;
}

function sharedParts(value: Json, names: Json, path: Path, kinds: ListKinds): Json {
  const [parts, named] = [partsOf(value, path, kinds), partsOf(names, path, kinds)];
  if (parts === undefined || named === undefined) return value;
  const both = [...parts.entries].flatMap(([element, below]): (readonly [string, Json])[] => {
    const name = named.entries.get(element);
    return name === undefined ? [] : [[element, sharedParts(below, name, [...path, element], kinds)]];
  });
  return assemble(parts.kind, both);
}

/** Joins parts again, in the order of the entries. */
export function assemble(kind: Parts['kind'], entries: readonly (readonly [string, Json])[]): Json {
  if (kind === 'map') return Object.fromEntries(entries.map(([element, value]) => [element.slice(2), value]));
  return entries.map(([, value]) => value);
}

/** The value at a path, through fields, list items and set members; undefined if nothing is there. */
export function valueAt(root: Json | undefined, path: Path, kinds: ListKinds): Json | undefined {
  let value = root;
  for (const [index, element] of path.entries()) {
    value = childrenOf(value, path.slice(0, index), kinds)(element);
    if (value === undefined) return undefined;
  }
  return value;
}

// A map may have very many fields, and callers find each of them by path. It would cost too much to build the parts of the whole map
// each time.
function childrenOf(value: Json | undefined, path: Path, kinds: ListKinds): (element: string) => Json | undefined {
  if (isObject(value)) return (element) => fieldOf(value, element);
  const parts = partsOf(value, path, kinds);
  return (element) => parts?.entries.get(element);
}

/**
 * The topmost paths at which the first value has something, and the second has nothing. A list that holds duplicates has each of its
 * items, too: the API server keeps the owners of the items that such a list shares with another one.
 */
export function goneValues(
  before: Json | undefined,
  after: Json | undefined,
  kinds: ListKinds,
  path: Path = [],
): readonly Path[] {
  const [own, left] = [itemsOf(before, path, kinds), itemsOf(after, path, kinds)];
  // Most of 90 000 fields are equal texts.
  const differing = [...own.elements()].filter((element) => own.get(element) !== left.get(element));
  return differing.flatMap((element) => {
    const [below, same] = [[...path, element], left.get(element)];
    if (same === undefined) return [below];
    return same === several ? [] : goneValues(own.get(element), same, kinds, below);
  });
}

/** Stands for the items of a list that have one element. */
const several: Json = [];

interface Items {
  readonly elements: () => Iterable<string>;
  readonly get: (element: string) => Json | undefined;
}

function itemsOf(value: Json | undefined, path: Path, kinds: ListKinds): Items {
  if (isObject(value)) return { elements: () => Object.keys(value).map(field), get: (element) => fieldOf(value, element) };
  const kind = kinds.get(schemaPath(path));
  const found = isList(value) && kind !== undefined ? byElement(value, kind) : new Map<string, Json>();
  return { elements: () => found.keys(), get: (element) => found.get(element) };
}

function byElement(list: readonly Json[], kind: readonly string[] | 'set'): ReadonlyMap<string, Json> {
  const found = new Map<string, Json>();
  for (const item of list) {
    const element = kind === 'set' ? memberElement(item) : itemElement(item, kind);
    if (element !== undefined) found.set(element, found.has(element) ? several : item);
  }
  return found;
}

function fieldOf(value: JsonObject, element: string): Json | undefined {
  return element.startsWith('f:') ? at(value, element.slice(2)) : undefined;
}

/** A copy in which the value at a path is replaced, added (at the end of its list), or removed if `value` is undefined. */
export function withValueAt(root: Json | undefined, path: Path, value: Json | undefined, kinds: ListKinds): Json | undefined {
  return withValuesAt(root, [{ path, value }], kinds);
}

/** A path and its new value. */
interface Placed {
  readonly path: Path;
  readonly value?: Json | undefined;
}

/**
 * A copy in which the values at many paths are set. No path may be inside another path. The function copies the values around the
 * paths once.
 */
export function withValuesAt(root: Json | undefined, placed: readonly Placed[], kinds: ListKinds): Json | undefined {
  return placed.length === 0 ? root : replace(root, { placed, kinds, depth: 0 });
}

interface Replacement {
  /** Paths that are equal up to `depth`. */
  readonly placed: readonly Placed[];
  readonly kinds: ListKinds;
  readonly depth: number;
}

function replace(node: Json | undefined, { placed, kinds, depth }: Replacement): Json | undefined {
  const [first] = placed;
  const element = first?.path[depth];
  if (first === undefined || element === undefined) return first?.value;
  const parts = partsOf(node ?? emptyFor(element), first.path.slice(0, depth), kinds);
  if (parts === undefined) return node;
  const entries = withChildren(parts.entries, { placed, kinds, depth });
  return node === undefined && entries.size === 0 ? undefined : assemble(parts.kind, [...entries]);
}

function withChildren(before: Parts['entries'], { placed, kinds, depth }: Replacement): Parts['entries'] {
  const entries = new Map(before);
  for (const [element, some] of Map.groupBy(placed, ({ path }) => path[depth] ?? '')) {
    const child = replace(entries.get(element), { placed: some, kinds, depth: depth + 1 });
    if (child === undefined) entries.delete(element);
    else entries.set(element, child);
  }
  return entries;
}

function emptyFor(element: string): Json {
  return element.startsWith('f:') ? {} : [];
}
