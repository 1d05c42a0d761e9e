// Random numbers that depend on the seed alone.

export interface Chance {
  /** 0 <= n < 1. */
  next(): number;
  /** 0 <= n < below, whole. */
  below(below: number): number;
  happens(probability: number): boolean;
  oneOf<Item>(items: readonly Item[]): Item;
}

/** The generator is mulberry32: small, and good enough to pick faults. */
export function chanceOf(...seeds: readonly number[]): Chance {
  let state = seeds.reduce((mixed, seed) => Math.imul(mixed ^ (seed + 0x9e37_79b9), 0x85eb_ca6b) ^ (mixed >>> 13), 1);
  const next = (): number => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (most: number): number => Math.floor(next() * most);
  return {
    next,
    below,
    happens: (probability) => next() < probability,
    oneOf: (items) => {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error('nothing to choose from');
      return item;
    },
  };
}
