// Paths into objects, in the notation of managedFields (FieldsV1): `f:name` is a field, `k:{"name":"web"}` an item of a list with
// keys, `v:"x"` a member of a set. Ownership, differences and messages all use this notation. Source:
// sigs.k8s.io/structured-merge-diff, fieldpath/serialize-pe.go.
import { at, canonicalJson, isObject, type Json, type JsonObject, parseJson } from '../json.ts';

export type Path = readonly string[];

export function field(name: string): string {
  return `f:${name}`;
}

/** The element for a list item with these keys; undefined if the item lacks one of them. */
export function itemElement(item: Json, keys: readonly string[]): string | undefined {
  const found = keys.map((key) => [key, at(item, key)] as const);
  if (found.some(([, value]) => value === undefined)) return undefined;
  return `k:${canonicalJson(Object.fromEntries(found) as JsonObject)}`;
}

export function memberElement(value: Json): string {
  return `v:${canonicalJson(value)}`;
}

/** Brings an element to one form: the API server may order its keys in another way. */
export function normalElement(element: string): string {
  const prefix = element.slice(0, 2);
  return prefix === 'k:' || prefix === 'v:' ? prefix + canonicalJson(parseJson(element.slice(2))) : element;
}

/** The key names of a `k:` element. */
export function keyNames(element: string): readonly string[] {
  const keys = parseJson(element.slice(2));
  return isObject(keys) ? Object.keys(keys).sort() : [];
}

/** A path as one string, for sets and maps. */
export function pathText(path: Path): string {
  return JSON.stringify(path);
}

/**
 * The text of the path to `element`, without its last bracket. `above` is the text of the path that contains it, empty if no path
 * does.
 */
export function pathOpening(above: string, element: string): string {
  return `${above === '' ? '[' : `${above},`}${JSON.stringify(element)}`;
}

export function pathOf(text: string): Path {
  return JSON.parse(text) as Path;
}

/** A set of paths. A lookup costs as much as the path is long, however many paths the set has. */
interface PathSet {
  /** Whether the set contains the path or an ancestor of it. */
  covers(path: Path): boolean;
  /** Whether the set contains the path or a descendant of it. */
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

/** The path with `*` for every list item and set member: the place in the schema. */
export function schemaPath(path: Path): string {
  return pathText(path.map((element) => (element.startsWith('f:') ? element : '*')));
}

/** For messages: `spec.template.spec.containers[name=web].image`. */
export function describePath(path: Path): string {
  return path.map(describeElement).join('').replace(/^\./, '');
}

/**
 * The path for messages about an object whose values messages must not show: `spec.template.spec.containers[…].image`. Members of a
 * set and keys of list items are values; names of fields and of map entries are not.
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
