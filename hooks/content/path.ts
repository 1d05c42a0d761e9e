// Paths into objects, in the words of managedFields (FieldsV1): `f:name` a field, `k:{"name":"web"}` an item of a list with
// keys, `v:"x"` a member of a set. One notation serves ownership, differences and messages.
// Source: sigs.k8s.io/structured-merge-diff, fieldpath/serialize-pe.go.
import { at, canonicalJson, isObject, type Json, type JsonObject, parseJson } from '../model/json.ts';

export type Path = readonly string[];

export function field(name: string): string {
  return `f:${name}`;
}

/** The element of a list item with these keys, or undefined when the item lacks one of them. */
export function itemElement(item: Json, keys: readonly string[]): string | undefined {
  const found = keys.map((key) => [key, at(item, key)] as const);
  if (found.some(([, value]) => value === undefined)) return undefined;
  return `k:${canonicalJson(Object.fromEntries(found) as JsonObject)}`;
}

export function memberElement(value: Json): string {
  return `v:${canonicalJson(value)}`;
}

/** Elements as the API server wrote them may order keys otherwise: brings them to one form. */
export function normalElement(element: string): string {
  const prefix = element.slice(0, 2);
  return prefix === 'k:' || prefix === 'v:' ? prefix + canonicalJson(parseJson(element.slice(2))) : element;
}

/** The key names of a `k:` element. */
export function keyNames(element: string): readonly string[] {
  const keys = parseJson(element.slice(2));
  return isObject(keys) ? Object.keys(keys).sort() : [];
}

/** One text per path, for sets and maps. */
export function pathText(path: Path): string {
  return JSON.stringify(path);
}

export function pathOf(text: string): Path {
  return JSON.parse(text) as Path;
}

/** Many paths at once: each question takes as long as the path that is asked for, however many there are. */
interface PathSet {
  /** Whether the path is one of them, or lies below one. */
  covers(path: Path): boolean;
  /** Whether one of them is the path, or lies below it. */
  leadsTo(path: Path): boolean;
}

export function pathSet(paths: readonly Path[]): PathSet {
  const whole = new Set(paths.map(pathText));
  const above = new Set(paths.flatMap((path) => beginnings(path)));
  return {
    covers: (path) => beginnings(path).some((text) => whole.has(text)),
    leadsTo: (path) => above.has(pathText(path)),
  };
}

function beginnings(path: Path): readonly string[] {
  return Array.from({ length: path.length + 1 }, (_, length) => pathText(path.slice(0, length)));
}

/** The path with every list item and set member replaced by `*`: where in the schema it is, whichever item. */
export function schemaPath(path: Path): string {
  return pathText(path.map((element) => (element.startsWith('f:') ? element : '*')));
}

/** For people: `spec.template.spec.containers[name=web].image`. */
export function describePath(path: Path): string {
  return path.map(describeElement).join('').replace(/^\./, '');
}

/**
 * The same for an object whose values must not be shown: `spec.template.spec.containers[…].image`. Members of a set and keys of a
 * list item are values; names of fields, and of entries of a map, are none.
 */
export function describeSealedPath(path: Path): string {
  const described = path.map((element) => (element.startsWith('f:') ? describeElement(element) : '[…]'));
  return described.join('').replace(/^\./, '');
}

function describeElement(element: string): string {
  if (element.startsWith('f:')) return /^[\w-]+$/.test(element.slice(2)) ? `.${element.slice(2)}` : `[${element.slice(2)}]`;
  if (element.startsWith('v:')) return `[${element.slice(2)}]`;
  const keys = parseJson(element.slice(2));
  if (!isObject(keys)) return `[${element.slice(2)}]`;
  return `[${Object.entries(keys)
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(',')}]`;
}
