// Who owns a path of an object. Others decide how many paths and owners an object has, so lookups use a tree of nodes
// that is built once per object, as far as callers look into it.
import { isObject, type Json, type JsonObject, textAt } from '../json.ts';
import { childAt, hasMembers } from './field-trees.ts';
import { eachChild, fieldTreesOf, isMember, type Manager, managersOf } from './fields.ts';
import { type ListKinds, valueAt } from './lists.ts';
import { normalElement, type Path } from './path.ts';

/** The managers that own a path, a path below it, or an ancestor of it as a whole. */
export function ownersAt(object: Json | undefined, path: Path): readonly Manager[] {
  const { managers, root } = ownershipIn(object);
  const own = new Set<number>();
  const node = descend(root, path, (leaf) => addAll(own, leaf.owners));
  if (node !== undefined) addAll(own, ownersWithin(node));
  return managers.filter((_, index) => own.has(index));
}

/** The owned paths of an object, as a tree of path elements. */
interface Ownership {
  readonly managers: readonly Manager[];
  /** Whether the owned fields have the names that they have in the object. */
  readonly isLegible: boolean;
  readonly root: OwnedNode;
}

interface OwnedNode {
  /** Indexes into the list of managers. */
  readonly owners: readonly number[];
  /** The fields below, by the managers that own some of them. */
  readonly trees: readonly OwnedTree[];
  /** The nodes below that were found so far; all of them if there are many managers. */
  below?: Map<string, OwnedNode | undefined>;
  /** Remembered: `hasChildren`, and the owners of the members below. */
  isInner?: boolean;
  within?: readonly number[];
}

interface OwnedTree {
  readonly owner: number;
  readonly tree: JsonObject;
}

/** If more managers own fields below a node, all nodes below it are found at once: others decide how many managers there are. */
const fewOwners = 8;

const ownerships = new WeakMap<object, Ownership>();

function ownershipIn(object: Json | undefined): Ownership {
  const known = isObject(object) ? ownerships.get(object) : undefined;
  if (known !== undefined) return known;
  const managers = managersOf(object);
  const root = { owners: [], trees: fieldTreesOf(object).map((tree, owner) => ({ owner, tree })) };
  const isLegible = managers.length > 0 && managers.every(({ apiVersion }) => apiVersion === textAt(object, 'apiVersion'));
  const made = { managers, isLegible, root };
  if (isObject(object)) ownerships.set(object, made);
  return made;
}

function nodeOf(found: readonly OwnedTree[]): OwnedNode | undefined {
  if (found.length === 0) return undefined;
  return { owners: found.filter(({ tree }) => isMember(tree)).map(({ owner }) => owner), trees: found };
}

function childOf(node: OwnedNode, element: string): OwnedNode | undefined {
  const isComplete = node.trees.length > fewOwners;
  const below = node.below ?? (isComplete ? allBelow(node) : new Map<string, OwnedNode | undefined>());
  node.below = below;
  if (!isComplete && !below.has(element)) below.set(element, nodeOf(treesAt(node, element)));
  return below.get(element);
}

function treesAt({ trees }: OwnedNode, element: string): readonly OwnedTree[] {
  return trees.flatMap(({ owner, tree }) => {
    const below = childAt(tree, element);
    return below === undefined ? [] : [{ owner, tree: below }];
  });
}

function allBelow({ trees }: OwnedNode): Map<string, OwnedNode | undefined> {
  const found = new Map<string, OwnedTree[]>();
  for (const { owner, tree } of trees)
    eachChild(tree, (element, below) => {
      const normal = normalElement(element);
      const same = found.get(normal) ?? [];
      found.set(normal, same);
      same.push({ owner, tree: below });
    });
  return new Map([...found].map(([element, some]) => [element, nodeOf(some)]));
}

function hasChildren(node: OwnedNode): boolean {
  const isInner = ({ tree }: OwnedTree): boolean => Object.keys(tree).some((key) => key !== '.' && isObject(tree[key]));
  node.isInner ??= node.trees.some(isInner);
  return node.isInner;
}

// If any entry owns members of a value, managers own these members one by one. Then an owner of the value itself owns only its
// existence. If a value has no owned members (a selector, an atomic list), its owner owns it as a whole: `whole` is called with its
// leaf.
function descend(root: OwnedNode, path: Path, whole: (leaf: OwnedNode) => void): OwnedNode | undefined {
  let node = root;
  for (const element of path) {
    const next = childOf(node, element);
    if (next === undefined) {
      if (!hasChildren(node)) whole(node);
      return undefined;
    }
    node = next;
  }
  return node;
}

function ownersWithin(node: OwnedNode): readonly number[] {
  node.within ??= node.trees.filter(({ tree }) => isMember(tree) || hasMembers(tree)).map(({ owner }) => owner);
  return node.within;
}

function addAll(all: Set<number>, more: readonly number[]): void {
  for (const one of more) all.add(one);
}

/**
 * Whether the object has a value at the path that no manager owns: a default, or a value that an admission policy set. The API
 * server does not make the writer own the values that admission adds. False if the object has no owners at all, or if a manager
 * owns fields under their names in another version of the API. In both cases ownership proves nothing.
 */
export function isUnclaimed(object: Json | undefined, path: Path, kinds: ListKinds): boolean {
  const { isLegible } = ownershipIn(object);
  return isLegible && valueAt(object, path, kinds) !== undefined && ownersAt(object, path).length === 0;
}

/** Whether a manager owns the path as a whole: no manager owns a path below it. */
export function isWhole(object: Json | undefined, member: Path): boolean {
  const node = descend(ownershipIn(object).root, member, () => undefined);
  return node !== undefined && !hasChildren(node);
}
