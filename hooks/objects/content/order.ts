// The order of elements in lists with keys and in sets. We, others, or both may have changed the order.
import type { Parts } from './lists.ts';

/** The state of a path of our change in the live object. */
export type PathState = 'untouched' | 'applied' | 'foreign';

interface OrderedParts {
  readonly kind: Parts['kind'];
  readonly prior: Parts['entries'];
  readonly expected: Parts['entries'];
  readonly live: Parts['entries'];
}

interface MergedOrder {
  /** The remaining elements, in their restored order. */
  readonly elements: readonly string[];
  /** The state of our change of the order in the live list; absent if we did not change the order. */
  readonly ours?: PathState;
  readonly theirs: boolean;
}

/** Orders the elements that remain after a merge. The order of map keys means nothing: it stays as it is. */
export function mergeOrder(parts: OrderedParts, left: readonly string[]): MergedOrder {
  if (parts.kind === 'map') return { elements: left, theirs: false };
  const weReordered = !sameOrder(parts.prior, parts.expected);
  const theyReordered = !sameOrder(parts.expected, parts.live);
  // Elements are gone, and the order of the remaining elements equals the prior order. So our order needs no undo.
  const undone = sameOrder(parts.prior, parts.live);
  const [restored, kept] = [weave(parts.prior, parts.live, left), weave(parts.live, parts.prior, left)];
  if (!weReordered) return { elements: theyReordered ? kept : restored, theirs: theyReordered };
  if (theyReordered && !undone) return { elements: kept, ours: 'foreign', theirs: true };
  return { elements: restored, ours: undone ? 'untouched' : 'applied', theirs: false };
}

/** Whether the elements that exist on both sides have equal orders. */
export function sameOrder(before: Parts['entries'], after: Parts['entries']): boolean {
  const common = [...before.keys()].filter((element) => after.has(element));
  const again = [...after.keys()].filter((element) => before.has(element));
  return common.every((element, index) => again[index] === element);
}

/** `left` in the order of `first`. An element that `first` lacks comes after the element that precedes it in `second`. */
function weave(first: Parts['entries'], second: Parts['entries'], left: readonly string[]): readonly string[] {
  const wanted = new Set(left);
  const leftOf = (entries: Parts['entries']): readonly string[] => [...entries.keys()].filter((element) => wanted.has(element));
  // The elements that come after each element of `first`, and before the first of them.
  const isAfter = new Map<string | undefined, string[]>([undefined, ...leftOf(first)].map((element) => [element, []]));
  let before: string | undefined;
  for (const element of leftOf(second)) {
    if (isAfter.has(element)) before = element;
    else isAfter.get(before)?.push(element);
  }
  const result = [...isAfter].flatMap(([element, after]) => (element === undefined ? after : [element, ...after]));
  const placed = new Set(result);
  return [...result, ...left.filter((element) => !placed.has(element))];
}
