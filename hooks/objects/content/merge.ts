// The three-way merge. It recognises the Transaction's change in a live object, and it computes the object without this change. In
// this file, "we" are the Transaction and its engine.
//
// prior -> expected is our change, expected -> live is theirs. The restored object is the prior one plus their changes. It is a
// conflict if a path of our change has neither its prior nor its expected value. It is also a conflict if others changed a list
// item that we added or removed.
import { at, equalJson, isObject, type Json, type JsonObject, withKeys } from '../json.ts';
import { assemble, type ListKinds, type Parts, partsOf } from './lists.ts';
import { mergeOrder, type PathState, sameOrder } from './order.ts';
import { field, type Path } from './path.ts';

export interface OurPath {
  readonly path: Path;
  readonly state: PathState;
  /** We changed the order of the list; its items are no part of this path. */
  readonly isOrder?: true;
}

export interface Merge {
  /** The prior state plus their changes. At foreign paths: the live value. */
  readonly restored: Json | undefined;
  /** Every path of our change. */
  readonly ours: readonly OurPath[];
  /** The paths that others have changed since. */
  readonly theirs: readonly Path[];
}

interface Versions {
  readonly prior: Json | undefined;
  readonly expected: Json | undefined;
  readonly live: Json | undefined;
}

export function merge(versions: Versions, kinds: ListKinds): Merge {
  return mergeAt(versions, [], kinds);
}

/** The paths at which two values differ: fields and list items that exist on one side only, or have different values. */
export function differences(before: Json | undefined, after: Json | undefined, kinds: ListKinds): readonly Path[] {
  return differencesAt({ prior: before, expected: after, live: before }, [], kinds);
}

// The function finds our paths as `merge` does, without the restored value.
function differencesAt(versions: Versions, path: Path, kinds: ListKinds): readonly Path[] {
  const { prior: before, expected: after } = versions;
  if (isObject(before) && isObject(after)) return mapDifferences(before, after, path, kinds);
  if (equalJson(before, after)) return [];
  const parts = commonParts(versions, path, kinds);
  if (parts === undefined) return [path];
  const found = [...new Set([...parts.prior.keys(), ...parts.expected.keys()])].flatMap((element) => {
    const [before, after] = [parts.prior.get(element), parts.expected.get(element)];
    return before === after ? [] : differencesAt({ prior: before, expected: after, live: before }, [...path, element], kinds);
  });
  return parts.kind === 'map' || sameOrder(parts.prior, parts.expected) ? found : [...found, path];
}

// Most of 90 000 fields are equal texts.
function mapDifferences(before: JsonObject, after: JsonObject, path: Path, kinds: ListKinds): readonly Path[] {
  const keys = Object.keys(before).filter((key) => before[key] !== after[key]);
  return [...keys, ...added(after, before)].flatMap((key) => {
    const [own, other] = [at(before, key), at(after, key)];
    return differencesAt({ prior: own, expected: other, live: own }, [...path, field(key)], kinds);
  });
}

/** The keys that none of the other maps has. */
function added(map: JsonObject, ...known: readonly JsonObject[]): readonly string[] {
  return Object.keys(map).filter((key) => !known.some((one) => Object.hasOwn(one, key)));
}

function mergeAt(versions: Versions, path: Path, kinds: ListKinds): Merge {
  const { prior, expected, live } = versions;
  if (isObject(prior) && isObject(expected) && isObject(live)) return mergeMaps({ prior, expected, live }, path, kinds);
  if (equalJson(prior, expected)) return theirsOnly(versions, path, kinds);
  const parts = commonParts(versions, path, kinds);
  if (parts === undefined) return whole(versions, path);
  const elements = new Set([...parts.prior.keys(), ...parts.expected.keys(), ...parts.live.keys()]);
  const children = Array.from(elements, (element): Child => {
    const child = { prior: parts.prior.get(element), expected: parts.expected.get(element), live: parts.live.get(element) };
    return [element, isSame(child) ? { restored: child.live, ...unchanged } : mergeAt(child, [...path, element], kinds)];
  });
  return combine(versions, parts, children, path);
}

// Most of 90 000 fields are equal texts: the function copies the live map once, and merges only the fields that differ.
function mergeMaps(maps: Record<keyof Versions, JsonObject>, path: Path, kinds: ListKinds): Merge {
  const [ours, theirs]: [OurPath[], Path[]] = [[], []];
  const changed = new Map<string, Json | undefined>();
  for (const key of differingKeys(maps)) {
    const child = mergeAt(valuesOf(maps, key), [...path, field(key)], kinds);
    ours.push(...child.ours);
    theirs.push(...child.theirs);
    if (child.restored !== at(maps.live, key)) changed.set(key, child.restored);
  }
  return { restored: changed.size === 0 ? maps.live : withKeys(maps.live, changed), ours, theirs };
}

function differingKeys({ prior, expected, live }: Record<keyof Versions, JsonObject>): readonly string[] {
  const differing = Object.keys(prior).filter((key) => prior[key] !== expected[key] || prior[key] !== live[key]);
  return [...differing, ...added(expected, prior), ...added(live, prior, expected)];
}

function valuesOf({ prior, expected, live }: Record<keyof Versions, JsonObject>, key: string): Versions {
  return { prior: at(prior, key), expected: at(expected, key), live: at(live, key) };
}

const unchanged = { ours: [], theirs: [] } as const;

/** A quick test before objects are compared: most of 90 000 fields are texts. */
function isSame({ prior, expected, live }: Versions): boolean {
  return prior === expected && expected === live;
}

function theirsOnly({ expected, live }: Versions, path: Path, kinds: ListKinds): Merge {
  if (equalJson(expected, live)) return { restored: live, ours: [], theirs: [] };
  // The merge of the reversed roles reports their paths as ours.
  const changed = mergeAt({ prior: expected, expected: live, live: expected }, path, kinds).ours;
  return { restored: live, ours: [], theirs: changed.map((change) => change.path) };
}

function whole({ prior, expected, live }: Versions, path: Path): Merge {
  if (equalJson(live, expected)) return { restored: prior, ours: [{ path, state: 'applied' }], theirs: [] };
  if (equalJson(live, prior)) return { restored: prior, ours: [{ path, state: 'untouched' }], theirs: [] };
  return { restored: live, ours: [{ path, state: 'foreign' }], theirs: [path] };
}

interface CommonParts {
  readonly kind: Parts['kind'];
  readonly prior: Parts['entries'];
  readonly expected: Parts['entries'];
  readonly live: Parts['entries'];
}

// An absent map or list counts as an empty one, so that both we and others can add to it. An absent list item is no empty item: an
// item counts as a whole. If all sides are absent or empty, the difference between absent and empty is itself the change.
function commonParts(versions: Versions, path: Path, kinds: ListKinds): CommonParts | undefined {
  const sides = [versions.prior, versions.expected, versions.live];
  const present = sides.filter((value) => value !== undefined);
  if (present.length < sides.length && (isItem(path) || present.every(isEmpty))) return undefined;
  const [prior, expected] = [versions.prior, versions.expected].map((value) => partsOf(value, path, kinds));
  const live = versions.live === versions.prior ? prior : partsOf(versions.live, path, kinds);
  const known = [prior, expected, live].filter((parts) => parts !== undefined);
  const same = known.length === present.length && known.every((parts) => parts.kind === known[0]?.kind);
  if (!same || known[0] === undefined) return undefined;
  return { kind: known[0].kind, prior: entriesOf(prior), expected: entriesOf(expected), live: entriesOf(live) };
}

function entriesOf(parts: Parts | undefined): Parts['entries'] {
  return parts?.entries ?? new Map();
}

function isItem(path: Path): boolean {
  return /^[kv]:/.test(path.at(-1) ?? '');
}

function isEmpty(value: Json): boolean {
  return typeof value === 'object' && value !== null && !JSON.isRawJSON(value) && Object.keys(value).length === 0;
}

type Child = readonly [string, Merge];

function combine(versions: Versions, parts: CommonParts, children: readonly Child[], path: Path): Merge {
  const ours = children.flatMap(([, child]) => child.ours);
  const theirs = children.flatMap(([, child]) => child.theirs);
  const left = new Map(children.flatMap(([element, { restored }]) => (restored === undefined ? [] : [[element, restored]])));
  const order = mergeOrder(parts, [...left.keys()]);
  const entries = order.elements.flatMap((element) => {
    const value = left.get(element);
    return value === undefined ? [] : [[element, value] as const];
  });
  const emptied = entries.length === 0 && (versions.prior === undefined || versions.live === undefined);
  return {
    restored: emptied ? undefined : assemble(parts.kind, entries),
    ours: order.ours === undefined ? ours : [...ours, { path, state: order.ours, isOrder: true }],
    theirs: order.theirs ? [...theirs, path] : theirs,
  };
}
