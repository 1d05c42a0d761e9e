// Two schemas, node by node.
import { at, equalJson, isObject, type Json, type JsonObject, objectAt, objectsAt } from '../../objects/json.ts';
import { withImplicit } from './implicit.ts';
import { withDoubles } from './numbers.ts';
import { embedded, nodeRules, preserves, type RuleName } from './rules.ts';

export interface Difference {
  readonly rule: RuleName | 'fieldRemoved' | 'fieldOverUnknown' | 'default' | 'allOf' | 'anyOf';
  /** `.spec.forProvider.region`; items are `[]`, members of a map `{}`. */
  readonly path: string;
  readonly message: string;
}

interface Pair {
  readonly path: string;
  readonly old: JsonObject;
  readonly next: JsonObject;
  /** A rule above this node concerns the whole value, so a default inside it matters. */
  readonly isWatched: boolean;
  /** Inside allOf or anyOf: a branch allows names that it does not mention, so they may be removed from it. */
  readonly isBranch: boolean;
}

/** All breaches between two schemas. Both must be of limited depth. */
export function compareSchemas(old: JsonObject, next: JsonObject): readonly Difference[] {
  const [before, after] = [withImplicit(withDoubles(old)), withImplicit(withDoubles(next))];
  return compareNodes({ path: '', old: before, next: after, isWatched: false, isBranch: false });
}

function compareNodes(given: Pair): readonly Difference[] {
  const pair = wholeResource(given);
  const { path, old, next } = pair;
  const broken = Object.entries(nodeRules).flatMap(([rule, breaks]) => {
    const message = breaks(old, next);
    return message === undefined ? [] : [{ rule: rule as RuleName, path, message }];
  });
  const inside = { ...pair, isWatched: pair.isWatched || isWatching(next) };
  return [...broken, ...defaults(pair), ...nulls(pair), ...fields(inside), ...members(inside), ...junctors(inside)];
}

/**
 * If a node is no longer an embedded resource, the apiVersion, kind and metadata among the fields that it preserves stay with it.
 */
function wholeResource(pair: Pair): Pair {
  const { old, next } = pair;
  if (at(old, embedded) !== true) return pair;
  const isKept = at(next, embedded) === true || at(next, preserves) === true;
  return { ...pair, old: withImplicit(old), next: isKept ? withImplicit(next) : next };
}

const watching = ['maxProperties', 'allOf', 'anyOf', 'oneOf', 'not', 'x-kubernetes-validations'];

/** Whether a rule of this node judges its value as a whole. */
function isWatching(node: JsonObject): boolean {
  return watching.some((key) => at(node, key) !== undefined) || at(node, 'x-kubernetes-list-type') === 'set';
}

function defaults({ path, old, next, isWatched }: Pair): readonly Difference[] {
  const [before, after] = [at(old, 'default'), at(next, 'default')];
  if (!isWatched || equalJson(before, after)) return [];
  const what = after === undefined ? 'gone' : 'new or another one';
  return [{ rule: 'default', path, message: `a default is ${what} below a rule about the whole` }];
}

// The API server dropped a null, or replaced it by the default. Now the null stays: no enum admits it, and rules above see it. The
// other rules of the node itself do not matter.
function nulls({ path, old, next, isWatched }: Pair): readonly Difference[] {
  const isNew = at(old, 'nullable') !== true && at(next, 'nullable') === true;
  if (!isNew || !(isWatched || at(next, 'enum') !== undefined)) return [];
  return [{ rule: 'nullable', path, message: 'nullable is true, was false: a null stays, and a rule may refuse it' }];
}

function fields(pair: Pair): readonly Difference[] {
  const [before, after] = [objectAt(pair.old, 'properties'), objectAt(pair.next, 'properties')];
  const known = Object.entries(before).flatMap(([name, old]) => {
    const path = `${pair.path}.${name}`;
    const next = at(after, name);
    if (next === undefined) return pair.isBranch ? [] : [{ rule: 'fieldRemoved' as const, path, message: 'the field is gone' }];
    return compareNodes({ ...pair, path, old: objectAt(old), next: objectAt(next) });
  });
  const added = Object.entries(after).filter(([name]) => !Object.hasOwn(before, name));
  return [...known, ...added.flatMap(([name, next]) => addedField({ ...pair, path: `${pair.path}.${name}` }, objectAt(next)))];
}

// The new schema reads a value that the old schema left unread, or read with another field's schema.
function addedField(pair: Pair, next: JsonObject): readonly Difference[] {
  const before = at(pair.old, 'additionalProperties');
  const inside = { ...pair, old: {}, next };
  if (isObject(before)) return compareNodes({ ...inside, old: before });
  if (isOpen(pair, before) && Object.keys(next).some((key) => !harmless.includes(key)))
    return [{ rule: 'fieldOverUnknown', path: pair.path, message: 'the field is new where unknown fields were kept' }];
  return pair.isWatched ? defaultsWithin(inside) : [];
}

/** Whether names that the old schema does not mention may have any value. */
function isOpen({ old, isBranch }: Pair, additional: Json | undefined): boolean {
  return isBranch || additional === true || at(old, preserves) === true;
}

function defaultsWithin(pair: Pair): readonly Difference[] {
  const below = Object.entries(objectAt(pair.next, 'properties')).flatMap(([name, next]) =>
    defaultsWithin({ ...pair, path: `${pair.path}.${name}`, next: objectAt(next) }),
  );
  return [...defaults(pair), ...below];
}

const harmless = [preserves, 'description', 'nullable', 'title'];

function members(pair: Pair): readonly Difference[] {
  return [...member(pair, 'items', `${pair.path}[]`), ...member(pair, 'additionalProperties', `${pair.path}{}`)];
}

function member(pair: Pair, key: 'items' | 'additionalProperties', path: string): readonly Difference[] {
  const [before, after] = [at(pair.old, key), at(pair.next, key)];
  if (before !== undefined && after === undefined) return lost(pair, path);
  if (!isObject(after)) return [];
  if (isObject(before)) return compareNodes({ ...pair, path, old: before, next: after });
  return isOpen(pair, before) ? [{ rule: 'fieldOverUnknown', path, message: 'there is a schema where anything was kept' }] : [];
}

function lost({ next, isBranch }: Pair, path: string): readonly Difference[] {
  const isKept = isBranch || at(next, preserves) === true;
  return isKept ? [] : [{ rule: 'fieldRemoved', path, message: 'what was kept by any name is dropped' }];
}

function junctors(pair: Pair): readonly Difference[] {
  const [allBefore, allAfter] = [branches(pair.old, 'allOf'), branches(pair.next, 'allOf')];
  const [anyBefore, anyAfter] = [branches(pair.old, 'anyOf'), branches(pair.next, 'anyOf')];
  const implied = (branch: JsonObject, index: number) => allBefore.some((one) => isLooser(one, branch, allBefore[index]));
  const admitted = (branch: JsonObject, index: number) => anyAfter.some((one) => isLooser(branch, one, anyAfter[index]));
  const all = allAfter.every(implied) ? [] : [{ rule: 'allOf' as const, path: pair.path, message: 'allOf demands more' }];
  const isAny = anyAfter.length === 0 || (anyBefore.length > 0 && anyBefore.every(admitted));
  return [...all, ...(isAny ? [] : [{ rule: 'anyOf' as const, path: pair.path, message: 'anyOf admits less' }])];
}

/**
 * Whether `next` admits everything that `old` does: they are equal, or the whole comparison with the branch in its place finds
 * nothing.
 */
function isLooser(old: JsonObject, next: JsonObject, inPlace: JsonObject | undefined): boolean {
  if (equalJson(old, next)) return true;
  const pair = { path: '', old, next, isWatched: true, isBranch: true };
  return (old === inPlace || next === inPlace) && compareNodes(pair).length === 0;
}

/**
 * The function compares each branch with each. No author writes a longer list. Of such a list it compares only the first branches;
 * the others count as one more branch.
 */
const mostBranches = 100;

function branches(node: JsonObject, key: string): readonly JsonObject[] {
  const all = objectsAt(node, key);
  return all.length <= mostBranches ? all : [...all.slice(0, mostBranches), { [key]: all }];
}
