// The three-way merge that both recognises our change in a live object and takes it back out.
//
// prior -> expected is our change, expected -> live is theirs. Undone means prior plus theirs. A path of our change that is
// neither as in prior nor as in expected, or something of theirs inside a list item that we added or removed, is a conflict.
import { equalJson, type Json } from '../model/json.ts';
import { assemble, type ListKinds, type Parts, partsOf } from './lists.ts';
import { mergeOrder, type PathState } from './order.ts';
import type { Path } from './path.ts';

export interface OurPath {
  readonly path: Path;
  readonly state: PathState;
  /** It is the order of the list that we changed: what is in it is somebody else's, or has paths of its own. */
  readonly isOrder?: true;
}

export interface Merge {
  /** prior plus theirs; where paths are foreign, the live value. */
  readonly restored: Json | undefined;
  /** Every path of our change. */
  readonly ours: readonly OurPath[];
  /** The paths that others changed since. */
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

/** The paths in which two values differ: fields and list items that are on one side only, or hold different values. */
export function differences(before: Json | undefined, after: Json | undefined, kinds: ListKinds): readonly Path[] {
  return merge({ prior: before, expected: after, live: before }, kinds).ours.map(({ path }) => path);
}

function mergeAt(versions: Versions, path: Path, kinds: ListKinds): Merge {
  if (equalJson(versions.prior, versions.expected)) return theirsOnly(versions, path, kinds);
  const parts = commonParts(versions, path, kinds);
  if (parts === undefined) return whole(versions, path);
  const elements = new Set([...parts.prior.keys(), ...parts.expected.keys(), ...parts.live.keys()]);
  const children = [...elements].map((element) => {
    const child = { prior: parts.prior.get(element), expected: parts.expected.get(element), live: parts.live.get(element) };
    return [element, mergeAt(child, [...path, element], kinds)] as const;
  });
  return combine(versions, parts, children, path);
}

function theirsOnly({ expected, live }: Versions, path: Path, kinds: ListKinds): Merge {
  if (equalJson(expected, live)) return { restored: live, ours: [], theirs: [] };
  // With the roles turned, our paths are theirs.
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

// An absent map or list counts as an empty one, so that two parties may add to it. Not so an absent list item: it is one
// thing. And where there is nothing but absent and empty ones, the difference between the two is the change.
function commonParts(versions: Versions, path: Path, kinds: ListKinds): CommonParts | undefined {
  const sides = [versions.prior, versions.expected, versions.live];
  const present = sides.filter((value) => value !== undefined);
  if (present.length < sides.length && (isItem(path) || present.every(isEmpty))) return undefined;
  const [prior, expected, live] = sides.map((value) => partsOf(value, path, kinds));
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
