// Who owns a path of an object. Others decide how many paths and owners an object has, so lookups use a tree that is built once per
// object.
import { isObject, type Json, type JsonObject, textAt } from '../json.ts';
import { eachChild, fieldTreesOf, isMember, type Manager, managersOf } from './fields.ts';
import { type ListKinds, valueAt } from './lists.ts';
import { normalElement, type Path } from './path.ts';

/** The managers that own a path, a path below it, or an ancestor of it as a whole. */
export function ownersAt(object: Json | undefined, path: Path): readonly Manager[] {
  const { managers, root } = ownershipIn(object);
  const own = new Set<number>();
  const node = descend(root, path, (leaf) => addAll(own, leaf.owners));
  if (node !== undefined) addOwnersWithin(node, own);
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
  owners: readonly number[];
  /** Absent for most nodes: there may be 90 000 of them. */
  below?: Map<string, OwnedNode>;
}

const noOwners: readonly number[] = [];

const ownerships = new WeakMap<object, Ownership>();

function ownershipIn(object: Json | undefined): Ownership {
  const known = isObject(object) ? ownerships.get(object) : undefined;
  if (known !== undefined) return known;
  const managers = managersOf(object);
  const root: OwnedNode = { owners: noOwners };
  for (const [index, tree] of fieldTreesOf(object).entries()) grow(root, tree, index);
  const isLegible = managers.length > 0 && managers.every(({ apiVersion }) => apiVersion === textAt(object, 'apiVersion'));
  const made = { managers, isLegible, root };
  if (isObject(object)) ownerships.set(object, made);
  return made;
}

function grow(node: OwnedNode, tree: JsonObject, owner: number): void {
  eachChild(tree, (element, below) => {
    const next = childOf(node, normalElement(element));
    if (isMember(below)) next.owners = next.owners === noOwners ? [owner] : [...next.owners, owner];
    grow(next, below, owner);
  });
}

function childOf(node: OwnedNode, element: string): OwnedNode {
  const below = node.below ?? new Map<string, OwnedNode>();
  const found = below.get(element) ?? { owners: noOwners };
  node.below = below.set(element, found);
  return found;
}

// If any entry owns members of a value, managers own these members one by one. Then an owner of the value itself owns only its
// existence. If a value has no owned members (a selector, an atomic list), its owner owns it as a whole: `whole` is called with its
// leaf.
function descend(root: OwnedNode, path: Path, whole: (leaf: OwnedNode) => void): OwnedNode | undefined {
  let node = root;
  for (const element of path) {
    const next = node.below?.get(element);
    if (next === undefined) {
      if (node.below === undefined) whole(node);
      return undefined;
    }
    node = next;
  }
  return node;
}

function addOwnersWithin({ owners, below }: OwnedNode, own: Set<number>): void {
  addAll(own, owners);
  for (const node of below?.values() ?? []) addOwnersWithin(node, own);
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
  return node !== undefined && node.below === undefined;
}
