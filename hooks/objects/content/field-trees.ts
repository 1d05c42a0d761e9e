// managedFields as the trees that the API server sends (fieldsV1). An object may have 90 000 fields, and its versions mostly differ in a
// few of them. So the functions here compare and change trees without a set of all paths.
import { createHash } from 'node:crypto';
import { at, isObject, type Json, type JsonObject, withKeys } from '../json.ts';
import { eachChild, isEmpty, isMember } from './fields.ts';
import { normalElement, type Path } from './path.ts';

interface Written {
  readonly digest: string;
  /** False if the tree certainly has neither list items nor set members. */
  readonly mayHaveItems: boolean;
}

const known = new WeakMap<JsonObject, Written>();

function writtenOf(tree: JsonObject): Written {
  const found = known.get(tree);
  if (found !== undefined) return found;
  const text = JSON.stringify(tree);
  const made = { digest: createHash('sha256').update(text).digest('base64'), mayHaveItems: /"[kv]:/.test(text) };
  known.set(tree, made);
  return made;
}

/** False if the tree certainly has neither list items nor set members. */
export function mayHaveItems(tree: JsonObject): boolean {
  return writtenOf(tree).mayHaveItems;
}

/** Reads what comparisons need of a tree, which they then find. For 45 000 fields that takes some hundredths of a second. */
export function learnTree(tree: JsonObject): void {
  writtenOf(tree);
}

/** Whether both trees are equal texts: the API server writes equal sets as equal texts. */
export function isSameTree(tree: JsonObject, other: JsonObject): boolean {
  return tree === other || writtenOf(tree).digest === writtenOf(other).digest;
}

/** Whether both trees have the same members. */
export function hasSameMembers(tree: JsonObject, other: JsonObject): boolean {
  return isSameTree(tree, other) || (gainedMembers(tree, other).length === 0 && gainedMembers(other, tree).length === 0);
}

/** The members of a tree. */
export function membersOf(tree: JsonObject): readonly Path[] {
  return gainedMembers(tree, undefined);
}

/** The members of a tree that the other tree lacks. */
export function gainedMembers(tree: JsonObject, before: JsonObject | undefined): readonly Path[] {
  if (before !== undefined && isSameTree(tree, before)) return [];
  const gained: Path[] = [];
  const walk = (node: JsonObject, other: JsonObject | undefined, path: Path): void => {
    eachChild(node, (element, below) => {
      const same = childAt(other, element);
      if (isEmpty(below) && hasMember(same)) return;
      const here = [...path, normalElement(element)];
      if (isMember(below) && !hasMember(same)) gained.push(here);
      walk(below, same, here);
    });
  };
  walk(tree, before, []);
  return gained;
}

function hasMember(below: JsonObject | undefined): boolean {
  return below !== undefined && isMember(below);
}

/** The fields below an element. */
export function childAt(node: JsonObject | undefined, element: string): JsonObject | undefined {
  const below = node === undefined ? undefined : at(node, keyOf(node, element));
  return isObject(below) ? below : undefined;
}

/** By the node of a tree: the keys of list items and set members, by their elements. */
const itemKeys = new WeakMap<JsonObject, ReadonlyMap<string, string>>();

/** The key of an element in a node of a tree, whatever the order of the keys in a list item. */
function keyOf(node: JsonObject, element: string): string {
  if (element.startsWith('f:')) return element;
  const items = (): readonly string[] => Object.keys(node).filter((key) => !key.startsWith('f:'));
  const keys = itemKeys.get(node) ?? new Map(items().map((key) => [normalElement(key), key]));
  itemKeys.set(node, keys);
  return keys.get(normalElement(element)) ?? element;
}

/** The members of a tree at the path and below it. */
export function membersWithin(tree: JsonObject, path: Path): readonly Path[] {
  const node = path.reduce<JsonObject | undefined>(childAt, tree);
  if (node === undefined) return [];
  return [...(isMember(node) ? [path] : []), ...membersOf(node).map((below) => [...path, ...below])];
}

interface Edit {
  isTaken: boolean;
  isAdded: boolean;
  readonly below: Map<string, Edit>;
}

/** The tree without the taken members, and with the added ones: the same tree if that changes nothing. */
export function editedTree(tree: JsonObject, taken: readonly Path[], added: readonly Path[]): JsonObject {
  const root = newEdit();
  for (const path of taken) editAt(root, path).isTaken = true;
  for (const path of added) editAt(root, path).isAdded = true;
  return (isEmpty(tree) ? edited(undefined, root) : edited(tree, root)) ?? {};
}

function newEdit(): Edit {
  return { isTaken: false, isAdded: false, below: new Map() };
}

function editAt(root: Edit, path: Path): Edit {
  let edit = root;
  for (const element of path) {
    const next = edit.below.get(element) ?? newEdit();
    edit.below.set(element, next);
    edit = next;
  }
  return edit;
}

function edited(node: JsonObject | undefined, edit: Edit): JsonObject | undefined {
  const changes = new Map([...edit.below].flatMap(([element, below]) => changedChild(node, element, below)));
  const was = hasMember(node);
  const is = edit.isAdded || (was && !edit.isTaken);
  if (changes.size === 0 && was === is) return node;
  return asMember(withKeys(node ?? {}, changes), is);
}

function changedChild(node: JsonObject | undefined, element: string, edit: Edit) {
  const before = childAt(node, element);
  const after = edited(before, edit);
  return after === before ? [] : [[node === undefined ? element : keyOf(node, element), after] as const];
}

/** The node with the mark of a member, or without it; undefined if nothing is left of it. */
function asMember(node: JsonObject, is: boolean): JsonObject | undefined {
  if (!hasChildren(node)) return is ? {} : undefined;
  return is === Object.hasOwn(node, '.') ? node : withKeys(node, new Map([['.', is ? {} : undefined]]));
}

/** Whether a manager with this tree owns anything. */
export function hasMembers(tree: JsonObject): boolean {
  for (const key in tree) if (key !== '.') if (isOwned(tree[key])) return true;
  return false;
}

function isOwned(below: Json | undefined): boolean {
  return isObject(below) && (isMember(below) || hasMembers(below));
}

function hasChildren(node: JsonObject): boolean {
  for (const key in node) if (key !== '.') return true;
  return false;
}
