// Ownership goes back with the content: who owned what before our write owns it again, unless the value has become
// somebody else's; entries of others stay; nothing of ours is left.
//
// The API server takes a PUT that changes only managedFields as it is.
import { equalJson, isObject, type Json, type JsonObject, textAt } from '../model/json.ts';
import { formatTime, parseTime } from '../model/timeouts.ts';
import { entryOf, type FieldSet, type Manager, managerKey, managersOf, noFields } from './fields.ts';
import { type ListKinds, partsOf, valueAt } from './lists.ts';
import { type Path, pathOf, pathSet, pathText } from './path.ts';

/** The manager into whose entry the API server folds the oldest Update entries when there are more than ten. */
const ancient = 'ancient-changes';

/** Of Kubernetes itself, which writes into objects of others: no reason to keep one. */
export const kubernetesManagers: readonly string[] = [
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'cloud-controller-manager',
  'kube-apiserver',
];

export interface Owned {
  /** The object before our change. */
  readonly prior: Json | undefined;
  /** The object right after our change. */
  readonly expected: Json | undefined;
  readonly live: Json | undefined;
}

/** Whether one of these managers has an entry in the object. */
export function hasManager(object: Json | undefined, names: readonly string[]): boolean {
  return managersOf(object).some((manager) => names.includes(manager.name));
}

/** Of no value that there is: what it marks was fenced, and not restored. */
const fencePath: Path = ['f:metadata', 'f:annotations', 'f:tx.janus.io/fence'];

/** The entry of a manager that has only fenced an object. */
export function fenceOf(name: string, apiVersion: string): JsonObject {
  return entryOf({ name, operation: 'Update', apiVersion, subresource: '', fields: new Set([pathText(fencePath)]) });
}

/** Whether that manager has an entry in the object, and it says that values were restored. */
export function hasRestored(object: Json | undefined, name: string): boolean {
  return ownedBy(object, [name]).some((path) => pathText(path) !== pathText(fencePath));
}

/** The paths that one of these managers owns in the object. */
export function ownedBy(object: Json | undefined, names: readonly string[]): readonly Path[] {
  return managersOf(object)
    .filter((manager) => names.includes(manager.name))
    .flatMap((manager) => [...manager.fields].map(pathOf));
}

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

// Made once of each object: it is asked for every path of an object, and others decide how many there are.
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
// owned as a whole (a selector, an atomic list): `leaf` is told of that.
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
 * have in another version of the API, nothing can be told.
 */
export function isUnclaimed(object: Json | undefined, path: Path, kinds: ListKinds): boolean {
  const { isLegible } = ownershipIn(object);
  return isLegible && valueAt(object, path, kinds) !== undefined && ownersAt(object, path).length === 0;
}

/** The managers that own one of the paths, or something below it, in live and did not in expected: they took it over since. */
export function newOwners(
  owned: Owned,
  paths: readonly Path[],
  ourNames: readonly string[],
): readonly { path: Path; manager: string }[] {
  const before = fieldsByManager(owned.expected);
  const ours = pathSet(paths);
  const { root } = ownershipIn(owned.live);
  const isWhole = (member: Path): boolean => descend(root, member, () => undefined)?.below.size === 0;
  const isOfOurs = (member: Path): boolean => ours.covers(member) || (ours.leadsTo(member) && isWhole(member));
  return managersOf(owned.live)
    .filter((manager) => !ourNames.includes(manager.name) && manager.subresource === '' && manager.name !== ancient)
    .flatMap((manager) => {
      const gained = manager.fields.difference(before.get(managerKey(manager)) ?? noFields);
      const taken = [...gained].map(pathOf).find(isOfOurs);
      return taken === undefined ? [] : [{ path: taken, manager: manager.name }];
    });
}

/** The managers other than ours that lost a field between the two versions. */
export function losers(before: Json | undefined, after: Json | undefined): readonly string[] {
  const left = fieldsByManager(after);
  const lost = managersOf(before).filter((manager) => !manager.fields.isSubsetOf(left.get(managerKey(manager)) ?? noFields));
  return [...new Set(lost.map((manager) => manager.name))].sort();
}

/**
 * The managedFields that the live object shall have after its content was restored. An empty result is `[{}]`, the API
 * server's word for none: an empty list would mean "leave them alone".
 */
export function restoredManagers(owned: Owned, kinds: ListKinds, ourNames: readonly string[]): readonly JsonObject[] {
  const versions = {
    prior: fieldsByManager(owned.prior),
    expected: fieldsByManager(owned.expected),
    live: fieldsByManager(owned.live),
  };
  const folded = foldedFields(versions);
  const known = new Map([...managersOf(owned.prior), ...managersOf(owned.live)].map((manager) => [managerKey(manager), manager]));
  const others = [...known].filter(([, manager]) => !ourNames.includes(manager.name));
  const moved = others.map(([key, manager]) => {
    const { lost, gained } = movedFields(versions, key, manager.name === ancient ? { to: folded } : { from: folded });
    const back = new Set([...lost].filter((path) => isRestored(owned, pathOf(path), kinds)));
    return { key, manager, gained, back };
  });
  const given = moved.reduce<FieldSet>((all, { back }) => all.union(back), noFields);
  const restored = moved.flatMap(({ key, manager, gained, back }) => {
    // What was folded away and has become somebody else's since may have been folded again: it stays where it is.
    const taken = manager.name === ancient ? gained.intersection(given) : gained;
    const fields = fieldsOf(versions.live, key).difference(taken).union(back);
    return fields.size === 0 ? [] : [withTime({ ...manager, fields }, owned, key)];
  });
  return restored.length === 0 ? [{}] : afterAncient(restored).map(entryOf);
}

// The API server folds the oldest entries together. Where `ancient-changes` is not itself the oldest of them it folds that entry
// into itself and drops it, with all that it owns. Source: k8s.io/apimachinery util/managedfields/internal/capmanagers.go.
function afterAncient(managers: readonly Manager[]): readonly Manager[] {
  const folded = managers.filter(({ name }) => name === ancient).map(({ time }) => parseTime(time) ?? 0);
  const oldest = Math.max(...folded) + 1_000;
  if (folded.length === 0) return managers;
  return managers.map((manager) => {
    const isOlder = manager.name !== ancient && manager.operation === 'Update' && (parseTime(manager.time) ?? 0) < oldest;
    return isOlder ? { ...manager, time: formatTime(oldest) } : manager;
  });
}

// What our writes took from a manager and gave to it, the folding into `ancient-changes` included.
function movedFields(
  versions: FieldsByVersion,
  key: string,
  folded: { readonly from?: FieldSet; readonly to?: FieldSet },
): { readonly lost: FieldSet; readonly gained: FieldSet } {
  const prior = fieldsOf(versions.prior, key);
  const expected = fieldsOf(versions.expected, key);
  return {
    lost: prior.difference(expected).union(prior.intersection(folded.from ?? noFields)),
    gained: expected.difference(prior).union(folded.to ?? noFields),
  };
}

function fieldsOf(version: ReadonlyMap<string, FieldSet>, key: string): FieldSet {
  return version.get(key) ?? noFields;
}

function fieldsByManager(object: Json | undefined): ReadonlyMap<string, FieldSet> {
  return new Map(managersOf(object).map((manager) => [managerKey(manager), manager.fields]));
}

interface FieldsByVersion {
  readonly prior: ReadonlyMap<string, FieldSet>;
  readonly expected: ReadonlyMap<string, FieldSet>;
  readonly live: ReadonlyMap<string, FieldSet>;
}

// What Update managers owned before and `ancient-changes` holds now: our own two writes may have pushed them over the limit.
function foldedFields({ prior, live }: FieldsByVersion): FieldSet {
  const inAncient = (fields: ReadonlyMap<string, FieldSet>): FieldSet =>
    [...fields].filter(([key]) => key.startsWith(`["${ancient}"`)).reduce((all, [, own]) => all.union(own), noFields);
  const folded = inAncient(live).difference(inAncient(prior));
  const vanished = [...prior].filter(([key]) => !live.has(key)).reduce((all, [, own]) => all.union(own), noFields);
  return folded.intersection(vanished);
}

function isRestored({ prior, live }: Owned, path: Path, kinds: ListKinds): boolean {
  const before = valueAt(prior, path, kinds);
  const now = valueAt(live, path, kinds);
  // A field that can only be written (stringData of a Secret) is owned without being there, before and now.
  if (before === undefined || now === undefined) return before === now;
  // A container is owned for its existence; its members are owned, and judged, one by one.
  return equalJson(before, now) || (partsOf(before, path, kinds) !== undefined && partsOf(now, path, kinds) !== undefined);
}

function withTime(manager: Manager, owned: Owned, key: string): Manager {
  const same = (object: Json | undefined): Manager | undefined =>
    managersOf(object).find((other) => managerKey(other) === key && other.fields.symmetricDifference(manager.fields).size === 0);
  const time = (same(owned.prior) ?? same(owned.live))?.time ?? manager.time;
  return time === undefined ? manager : { ...manager, time };
}

/** Whether the object exists and is on its way out. */
export function isTerminating(object: Json | undefined): boolean {
  return textAt(object, 'metadata', 'deletionTimestamp') !== undefined;
}
