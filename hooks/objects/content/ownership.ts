// The engine restores field ownership together with the content. The managers that owned fields before the engine's write own them
// again, unless another manager has changed the value since. Others' entries stay, and no entry of the engine remains.
//
// The API server accepts a PUT that changes only managedFields.
import { at, equalJson, isList, isObject, type Json, type JsonObject, textAt } from '../json.ts';
import { formatTime, parseTime } from '../time.ts';
import { contentOf, withManagedFields } from './content.ts';
import { editedTree, gainedMembers, hasSameMembers, membersOf, membersWithin } from './field-trees.ts';
import {
  entryOf,
  type FieldSet,
  isEmpty,
  type Manager,
  managerKey,
  managersByKey,
  managersOf,
  noFields,
  ownerOf,
  treeOf,
  unionOf,
} from './fields.ts';
import { goneValues, type ListKinds, partsOf, valueAt } from './lists.ts';
import { isWhole } from './owners.ts';
import { type Path, pathOf, pathSet, pathText } from './path.ts';

/** The API server keeps at most ten Update entries, and folds the oldest ones into the entry of this manager. */
const ancientChanges = 'ancient-changes';

interface Owned {
  /** The object before the Transaction's change. */
  readonly prior: Json | undefined;
  /** The object right after the Transaction's change. */
  readonly expected: Json | undefined;
  readonly live: Json | undefined;
  /** Whether a manager owns a path only as a manager whose values are no manager's content. */
  readonly ownsUncounted?: (owner: Manager, path: Path) => boolean;
  /**
   * The manager name that others share with the engine, if the content is restored already: that write took fields from the
   * manager, too.
   */
  readonly halfRestored?: string | undefined;
  /** Managers that own what a first write has taken, if the second write is missing. Then their fields go back. */
  readonly halfBy?: readonly string[] | undefined;
}

/** Whether one of these managers has an entry in the object. */
export function hasManager(object: Json | undefined, names: readonly string[]): boolean {
  return managersOf(object).some((manager) => names.includes(manager.name));
}

// This path never exists in an object: an entry with it shows that the object was fenced, not restored. A snapshot may hold the mark of
// a Transaction whose process died while it fenced the object. The mark belongs to no manager, and no undo restores it.
const fencePath: Path = ['f:metadata', 'f:annotations', 'f:tx.janus.io/fence'];
const fence = pathText(fencePath);

/** The managedFields entry of a manager that has only fenced an object. */
export function fenceOf(name: string, apiVersion: string): JsonObject {
  return markOf(name, apiVersion, fencePath);
}

/**
 * The entry of a manager that has restored the content, if the API server would add no entry: it adds none for fields that are
 * removed.
 */
export function restoredOf(name: string, apiVersion: string): JsonObject {
  return markOf(name, apiVersion, ['f:metadata', 'f:annotations', 'f:tx.janus.io/restored']);
}

function markOf(name: string, apiVersion: string, path: Path): JsonObject {
  return entryOf({ name, operation: 'Update', apiVersion, subresource: '', fields: new Set([pathText(path)]) });
}

/** Whether the manager has an entry in the object that shows that values were restored. */
export function hasRestored(object: Json | undefined, name: string): boolean {
  return ownedBy(object, [name]).some((path) => pathText(path) !== fence);
}

/** Whether the entry belongs to server-side apply to the object itself. A client may write other things under its name. */
export function isOfApply({ operation, subresource }: Manager): boolean {
  return operation === 'Apply' && subresource === '';
}

/** The paths that one of these managers owns in the object. */
export function ownedBy(object: Json | undefined, names: readonly string[]): readonly Path[] {
  return managersOf(object)
    .filter((manager) => names.includes(manager.name))
    .flatMap((manager) => [...manager.fields].map(pathOf));
}

/**
 * The managers that own one of the paths, or a path below it, in the live object but not in the expected one. Values in a status
 * are no content; other subresources, such as `scale`, write content.
 */
export function newOwners(
  owned: Owned,
  paths: readonly Path[],
  ourNames: readonly string[],
): readonly { path: Path; manager: string }[] {
  const before = managersByKey(owned.expected);
  const ours = pathSet(paths);
  const isOfOurs = (member: Path): boolean => ours.covers(member) || (ours.leadsTo(member) && isWhole(owned.live, member));
  return managersOf(owned.live)
    .filter((manager) => ![...ourNames, ancientChanges].includes(manager.name) && manager.subresource !== 'status')
    .flatMap((manager) => {
      const gained = gainedMembers(treeOf(manager), treeIn(before, managerKey(manager)));
      const taken = gained.find((path) => isOfOurs(path) && owned.ownsUncounted?.(manager, path) !== true);
      return taken === undefined ? [] : [{ path: taken, manager: manager.name }];
    });
}

/**
 * The managedFields for the live object once its content is restored. If no entries remain, the result is `[{}]`, as the API server
 * requires: it would ignore an empty list and keep the old entries.
 */
export function restoredManagers(owned: Owned, kinds: ListKinds, ourNames: readonly string[]): readonly JsonObject[] {
  const [prior, expected, live] = [managersByKey(owned.prior), managersByKey(owned.expected), managersByKey(owned.live)];
  const versions = { prior, expected, live };
  const folded = foldedFields(versions);
  const known = new Map([...prior, ...live]);
  const held = new Set(ownedBy(owned.live, owned.halfBy ?? []).map(pathText));
  const others = [...known].filter(([, manager]) => !ourNames.includes(manager.name));
  const moved = others.map(([key, manager]) => {
    const { lost, gained } = movedFields(versions, key, manager.name === ancientChanges ? { to: folded } : { from: folded });
    const kept = manager.name === owned.halfRestored && isOfApply(manager) ? membersOf(treeIn(prior, key)) : [];
    const taken = held.size === 0 ? [] : membersOf(treeIn(prior, key)).filter((path) => held.has(pathText(path)));
    const back = [...lost, ...kept, ...taken].filter((path) => pathText(path) !== fence && isRestored(owned, path, kinds));
    return { key, manager, gained, back };
  });
  const given = new Set(moved.flatMap(({ back }) => back.map(pathText)));
  const restored = moved.flatMap(({ key, manager, gained, back }) => {
    // If another manager owns a folded field now, the API server may have folded the field again: it stays in `ancient-changes`.
    const taken = manager.name === ancientChanges ? gained.filter((path) => given.has(pathText(path))) : gained;
    const tree = editedTree(treeIn(live, key), [...taken, fencePath], back);
    return isEmpty(tree) ? [] : [withTime(manager, tree, [prior.get(key), live.get(key)])];
  });
  return restored.length === 0 ? [{}] : afterAncientChanges(restored).map(entryOf);
}

/** Whether the same managers own the same fields, whenever they wrote them. */
export function hasSameOwners(object: Json | undefined, other: Json | undefined): boolean {
  const [ours, theirs] = [managersByKey(object), managersByKey(other)];
  const keys = [...new Set([...ours.keys(), ...theirs.keys()])];
  return keys.every((key) => hasSameMembers(treeIn(ours, key), treeIn(theirs, key)));
}

/** Whether two states of an object have one content and the same owners. Undefined: the object does not exist. */
export function isSameState(
  one: JsonObject | undefined,
  other: JsonObject | undefined,
  resource: Parameters<typeof contentOf>[1],
): boolean {
  if (one === undefined || other === undefined) return one === other;
  return equalJson(contentOf(one, resource), contentOf(other, resource)) && hasSameOwners(one, other);
}

/**
 * The restored values, with the managedFields from before the restoring write. What went with our values (a bundle in a webhook that
 * we added) has no owner any more.
 */
export function withOwnersOf(before: JsonObject, restored: JsonObject, kinds: ListKinds): JsonObject {
  if (!isList(at(before, 'metadata', 'managedFields'))) return restored;
  const gone = goneValues(before, restored, kinds);
  const managers = managersOf(before).map((manager) => {
    const taken = gone.flatMap((path) => membersWithin(treeOf(manager), path));
    const tree = editedTree(
      treeOf(manager),
      taken.filter((path) => valueAt(before, path, kinds) !== undefined),
      [],
    );
    return ownerOf(manager, tree, manager.time);
  });
  return withManagedFields(restored, managers.filter((manager) => !isEmpty(treeOf(manager))).map(entryOf));
}

// The API server folds the oldest entries together. If `ancient-changes` is not the oldest of them, the API server folds that entry
// into itself and drops it with all its fields. Source: k8s.io/apimachinery util/managedfields/internal/capmanagers.go.
function afterAncientChanges(managers: readonly Manager[]): readonly Manager[] {
  const folded = managers.filter(({ name }) => name === ancientChanges).map(({ time }) => parseTime(time) ?? 0);
  const oldest = Math.max(...folded) + 1_000;
  if (folded.length === 0) return managers;
  return managers.map((manager) => {
    const isOlder = manager.name !== ancientChanges && manager.operation === 'Update' && (parseTime(manager.time) ?? 0) < oldest;
    return isOlder ? ownerOf(manager, treeOf(manager), formatTime(oldest)) : manager;
  });
}

// The fields that the engine's writes took from a manager, and the fields that they gave to it, including the folding into
// `ancient-changes`.
function movedFields(
  { prior, expected }: Versions,
  key: string,
  folded: { readonly from?: FieldSet; readonly to?: FieldSet },
): { readonly lost: readonly Path[]; readonly gained: readonly Path[] } {
  const [before, after] = [treeIn(prior, key), treeIn(expected, key)];
  const fromIt = folded.from?.size ? [...folded.from.intersection(prior.get(key)?.fields ?? noFields)] : [];
  return {
    lost: [...gainedMembers(before, after), ...fromIt.map(pathOf)],
    gained: [...gainedMembers(after, before), ...[...(folded.to ?? noFields)].map(pathOf)],
  };
}

type ByKey = ReadonlyMap<string, Manager>;

interface Versions {
  readonly prior: ByKey;
  readonly expected: ByKey;
  readonly live: ByKey;
}

const noTree: JsonObject = {};

function treeIn(managers: ByKey, key: string): JsonObject {
  const manager = managers.get(key);
  return manager === undefined ? noTree : treeOf(manager);
}

// Fields that an Update manager owned before and `ancient-changes` owns now: the engine's own two writes may have caused the
// folding.
function foldedFields({ prior, live }: Versions): FieldSet {
  const inAncientChanges = (managers: ByKey): FieldSet =>
    unionOf([...managers.values()].filter(({ name }) => name === ancientChanges).map(({ fields }) => fields));
  const folded = inAncientChanges(live).difference(inAncientChanges(prior));
  if (folded.size === 0) return noFields;
  return folded.intersection(unionOf([...prior].filter(([key]) => !live.has(key)).map(([, { fields }]) => fields)));
}

function isRestored({ prior, live }: Owned, path: Path, kinds: ListKinds): boolean {
  const before = valueAt(prior, path, kinds);
  const now = valueAt(live, path, kinds);
  // A write-only field (stringData of a Secret) has an owner but no value, before and now.
  if (before === undefined || now === undefined) return before === now;
  // An owner of a container owns its existence. The members have their own owners, and the function evaluates them one by one.
  return equalJson(before, now) || (partsOf(before, path, kinds) !== undefined && partsOf(now, path, kinds) !== undefined);
}

// An entry that does not change keeps its time.
function withTime(manager: Manager, tree: JsonObject, versions: readonly (Manager | undefined)[]): Manager {
  const same = versions.find((other) => other !== undefined && hasSameMembers(treeOf(other), tree));
  return ownerOf(manager, tree, same?.time ?? manager.time);
}

/** Whether the object exists and is being deleted. */
export function isTerminating(object: Json | undefined): boolean {
  return textAt(object, 'metadata', 'deletionTimestamp') !== undefined;
}

// Keys of a Secret that an apply has sent as `stringData`: no field manager owns them, so the next apply cannot remove them.

/**
 * How many such keys stay although content does not name them, in words. Undefined if no such key stays. Names of keys may be
 * secret.
 */
export function stayingKeysNote(content: Json | undefined, prior: Json | undefined, manager: string): string | undefined {
  const sent = ownedBy(prior, [manager]).filter(([first, key]) => first === 'f:stringData' && key !== undefined);
  const names = sent.map(([, key = '']) => key.slice(2));
  const staying = names.filter((name) => isIn(prior, name) && !isIn(content, name));
  if (staying.length === 0) return undefined;
  return `${staying.length} of its keys that content does not name stay: an earlier apply sent them as stringData, so no field manager owns them`;
}

function isIn(secret: Json | undefined, key: string): boolean {
  const data = at(secret, 'data');
  return isObject(data) && Object.hasOwn(data, key);
}
