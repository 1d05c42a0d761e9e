// Who owns a path of an object. Others decide how many paths there are and who owns them: what an object is asked about each of
// its paths is answered from a tree, made once.
import { isObject, type Json, textAt } from '../model/json.ts';
import { type Manager, managersOf } from './fields.ts';
import { type ListKinds, valueAt } from './lists.ts';
import { type Path, pathOf } from './path.ts';

/** The managers that own a path, something below it, or all of what it lies in. */
export function ownersAt(object: Json | undefined, path: Path): readonly Manager[] {
  const { managers, root } = ownershipIn(object);
  const own = new Set<number>();
  const node = descend(root, path, (leaf) => addAll(own, leaf.owners));
  if (node !== undefined) addOwnersWithin(node, own);
  return managers.filter((_, index) => own.has(index));
}

/** The managers that own a path or something below it. */
export function ownersWithin(object: Json | undefined, path: Path): readonly Manager[] {
  const { managers, root } = ownershipIn(object);
  const own = new Set<number>();
  const node = descend(root, path, () => undefined);
  if (node !== undefined) addOwnersWithin(node, own);
  return managers.filter((_, index) => own.has(index));
}

/** What is owned of an object, as a tree of the elements of paths. */
interface Ownership {
  readonly managers: readonly Manager[];
  /** Whether the fields have the names that they have in the object. */
  readonly isLegible: boolean;
  readonly root: OwnedNode;
}

interface OwnedNode {
  /** Places in the list of managers. */
  readonly owners: number[];
  readonly below: Map<string, OwnedNode>;
}

const ownerships = new WeakMap<object, Ownership>();

function ownershipIn(object: Json | undefined): Ownership {
  const known = isObject(object) ? ownerships.get(object) : undefined;
  if (known !== undefined) return known;
  const managers = managersOf(object);
  const root: OwnedNode = { owners: [], below: new Map() };
  for (const [index, { fields }] of managers.entries()) for (const text of fields) nodeAt(root, pathOf(text)).owners.push(index);
  const isLegible = managers.length > 0 && managers.every(({ apiVersion }) => apiVersion === textAt(object, 'apiVersion'));
  const made = { managers, isLegible, root };
  if (isObject(object)) ownerships.set(object, made);
  return made;
}

function nodeAt(root: OwnedNode, path: Path): OwnedNode {
  let node = root;
  for (const element of path) {
    const next = node.below.get(element) ?? { owners: [], below: new Map() };
    node.below.set(element, next);
    node = next;
  }
  return node;
}

// What has members of its own in any entry is owned by them, one by one; an owner of it owns that it exists. What has none is
// owned as a whole (a selector, an atomic list): `leaf` is reported of that.
function descend(root: OwnedNode, path: Path, whole: (leaf: OwnedNode) => void): OwnedNode | undefined {
  let node = root;
  for (const element of path) {
    const next = node.below.get(element);
    if (next === undefined) {
      if (node.below.size === 0) whole(node);
      return undefined;
    }
    node = next;
  }
  return node;
}

function addOwnersWithin({ owners, below }: OwnedNode, own: Set<number>): void {
  addAll(own, owners);
  for (const node of below.values()) addOwnersWithin(node, own);
}

function addAll(all: Set<number>, more: readonly number[]): void {
  for (const one of more) all.add(one);
}

/**
 * Whether a value is there that nobody owns: a default, or what an admission policy made of somebody's write. The API server does
 * not count what admission adds as the writer's. Where nobody owns anything, or somebody owns fields under the names that they
 * have in another version of the API, nothing is known.
 */
export function isUnclaimed(object: Json | undefined, path: Path, kinds: ListKinds): boolean {
  const { isLegible } = ownershipIn(object);
  return isLegible && valueAt(object, path, kinds) !== undefined && ownersAt(object, path).length === 0;
}

/** Whether a path that somebody owns is owned as a whole: nobody owns anything below it. */
export function isWhole(object: Json | undefined, member: Path): boolean {
  return descend(ownershipIn(object).root, member, () => undefined)?.below.size === 0;
}
