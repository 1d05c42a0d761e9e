// managedFields as sets of paths, with the operations of JavaScript's Set.
// Source of the format: k8s.io/apimachinery pkg/apis/meta/v1 ManagedFieldsEntry and structured-merge-diff, fieldpath/serialize.go.
import { isObject, type Json, type JsonObject, objectAt, objectsAt, textAt, withKey } from '../json.ts';
import { normalElement, type Path, pathOf, pathOpening } from './path.ts';

/** Paths as text (path.ts). The ancestors of a member are members only if the set contains them too. */
export type FieldSet = ReadonlySet<string>;

interface Names {
  readonly name: string;
  readonly operation: string;
  readonly apiVersion: string;
  readonly subresource: string;
}

export interface Manager extends Names {
  readonly time?: string | undefined;
  readonly fields: FieldSet;
}

export const noFields: FieldSet = new Set();

/** If two entries have equal keys, the API server treats them as one manager. */
export function managerKey(manager: Manager): string {
  return JSON.stringify([manager.name, manager.operation, manager.apiVersion, manager.subresource]);
}

/** The managers of an object. Unreadable entries are skipped. */
export function managersOf(object: Json | undefined): readonly Manager[] {
  return entriesOf(object).map(managerOf);
}

/** The managers of an object by their keys. */
export function managersByKey(object: Json | undefined): ReadonlyMap<string, Manager> {
  return new Map(managersOf(object).map((manager) => [managerKey(manager), manager]));
}

/** One set for all managers: a union of two sets copies the first, and there may be thousands of managers. */
export function unionOf(all: readonly FieldSet[]): FieldSet {
  const members = new Set<string>();
  for (const fields of all) for (const text of fields) members.add(text);
  return members;
}

function managerOf(entry: JsonObject): Manager {
  const names = {
    name: textAt(entry, 'manager') ?? '',
    operation: textAt(entry, 'operation') ?? '',
    apiVersion: textAt(entry, 'apiVersion') ?? '',
    subresource: textAt(entry, 'subresource') ?? '',
  };
  return ownerOf(names, objectAt(entry, 'fieldsV1'), textAt(entry, 'time'));
}

/** The trees that the fields of managers are parsed from. A copy with other fields has none. */
const trees = new WeakMap<Manager, JsonObject>();

/** The fieldsV1 of a manager. */
export function treeOf(manager: Manager): JsonObject {
  return trees.get(manager) ?? formatFields(manager.fields);
}

/** The manager, with that fieldsV1 and that time. */
export function ownerOf(
  { name, operation, apiVersion, subresource }: Names,
  tree: JsonObject,
  time: string | undefined,
): Manager {
  let fields: FieldSet | undefined;
  const owner = {
    name,
    operation,
    apiVersion,
    subresource,
    time,
    // The set is made when a caller requests it. For objects that no caller compares, the names alone exist.
    get fields() {
      fields ??= parseFields(tree);
      return fields;
    },
  };
  trees.set(owner, tree);
  return owner;
}

export function entryOf(manager: Manager): JsonObject {
  const entry: JsonObject = {
    manager: manager.name,
    operation: manager.operation,
    apiVersion: manager.apiVersion,
    fieldsType: 'FieldsV1',
    fieldsV1: treeOf(manager),
  };
  const timed = manager.time === undefined ? entry : withKey(entry, 'time', manager.time);
  return manager.subresource === '' ? timed : withKey(timed, 'subresource', manager.subresource);
}

export function parseFields(fieldsV1: Json | undefined): FieldSet {
  const members = new Set<string>();
  if (!isObject(fieldsV1)) return members;
  collect(fieldsV1, '', members);
  return members;
}

function collect(node: JsonObject, above: string, members: Set<string>): void {
  eachChild(node, (element, below) => {
    const opening = pathOpening(above, normalElement(element));
    if (isMember(below)) members.add(`${opening}]`);
    collect(below, opening, members);
  });
}

/** Calls `work` for the elements of one level of fieldsV1, with the fields below them. */
export function eachChild(node: JsonObject, work: (element: string, below: JsonObject) => void): void {
  for (const element of Object.keys(node)) {
    const below = node[element];
    if (element !== '.' && isObject(below)) work(element, below);
  }
}

/** `"f:a": {}` is the member a. `"f:a": {"f:b": {}}` is the member a.b alone. `"f:a": {".": {}, ...}` includes a too. */
export function isMember(below: JsonObject): boolean {
  return Object.hasOwn(below, '.') || isEmpty(below);
}

/** Whether an object that was read as JSON has no key. Cheaper than a list of its keys. */
export function isEmpty(node: JsonObject): boolean {
  for (const _ in node) return false;
  return true;
}

/** The fieldsV1 of each of the managers of an object (`managersOf`). */
export function fieldTreesOf(object: Json | undefined): readonly JsonObject[] {
  return entriesOf(object).map((entry) => objectAt(entry, 'fieldsV1'));
}

function entriesOf(object: Json | undefined): readonly JsonObject[] {
  return objectsAt(object, 'metadata', 'managedFields');
}

interface Node {
  member: boolean;
  readonly children: Map<string, Node>;
}

export function formatFields(fields: FieldSet): JsonObject {
  const root: Node = { member: false, children: new Map() };
  for (const text of [...fields].sort()) nodeAt(root, pathOf(text)).member = true;
  return formatNode(root);
}

function nodeAt(root: Node, path: Path): Node {
  let node = root;
  for (const element of path) {
    const child = node.children.get(element) ?? { member: false, children: new Map() };
    node.children.set(element, child);
    node = child;
  }
  return node;
}

function formatNode(node: Node): JsonObject {
  const children = [...node.children].map(([element, child]) => [element, formatNode(child)] as const);
  const own = node.member && children.length > 0 ? [['.', {}] as const] : [];
  return Object.fromEntries([...own, ...children]);
}

/** Whether `path` is `prefix` or lies below it. */
export function isWithin(path: Path, prefix: Path): boolean {
  return path.length >= prefix.length && prefix.every((element, index) => path[index] === element);
}
