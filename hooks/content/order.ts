// Order inside lists with keys and sets: it can be our change, theirs, or both.
import type { Parts } from './lists.ts';

/** How a path of our change looks in the live object. */
export type PathState = 'untouched' | 'applied' | 'foreign';

interface OrderedParts {
  readonly kind: Parts['kind'];
  readonly prior: Parts['entries'];
  readonly expected: Parts['entries'];
  readonly live: Parts['entries'];
}

interface MergedOrder {
  /** The elements that are left, in their restored order. */
  readonly elements: readonly string[];
  /** How our change of the order looks in the live list; absent when we did not change it. */
  readonly ours?: PathState;
  readonly theirs: boolean;
}

/** Orders what a merge left over. The keys of maps have no order that counts; they stay as they come. */
export function mergeOrder(parts: OrderedParts, left: readonly string[]): MergedOrder {
  if (parts.kind === 'map') return { elements: left, theirs: false };
  const weReordered = !sameOrder(parts.prior, parts.expected);
  const theyReordered = !sameOrder(parts.expected, parts.live);
  // An order that fits both, since elements are gone, is not our work: nothing of it is left to undo.
  const undone = sameOrder(parts.prior, parts.live);
  const [restored, kept] = [weave(parts.prior, parts.live, left), weave(parts.live, parts.prior, left)];
  if (!weReordered) return { elements: theyReordered ? kept : restored, theirs: theyReordered };
  if (theyReordered && !undone) return { elements: kept, ours: 'foreign', theirs: true };
  return { elements: restored, ours: undone ? 'untouched' : 'applied', theirs: false };
}

/** Whether the elements that both have follow one another alike. */
function sameOrder(before: Parts['entries'], after: Parts['entries']): boolean {
  const common = [...before.keys()].filter((element) => after.has(element));
  const again = [...after.keys()].filter((element) => before.has(element));
  return common.every((element, index) => again[index] === element);
}

/** `left` in the order of `first`; what `first` lacks follows the element that it follows in `second`. */
function weave(first: Parts['entries'], second: Parts['entries'], left: readonly string[]): readonly string[] {
  const wanted = new Set(left);
  const result = [...first.keys()].filter((element) => wanted.has(element));
  let previous = -1;
  for (const element of second.keys()) {
    if (!wanted.has(element)) continue;
    const index = result.indexOf(element);
    if (index < 0) result.splice(previous + 1, 0, element);
    previous = index < 0 ? previous + 1 : index;
  }
  const placed = new Set(result);
  return [...result, ...left.filter((element) => !placed.has(element))];
}
