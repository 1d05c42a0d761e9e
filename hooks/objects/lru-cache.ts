// A cache with a bound: it drops the least recently used values.

export interface LruCache<Value> {
  /** Counts as a use. */
  get(key: string): Value | undefined;
  has(key: string): boolean;
  set(key: string, value: Value): void;
  delete(key: string): void;
  /** The least recently used value first. */
  values(): readonly Value[];
}

interface Bounds<Value> {
  /** The most that all values together may weigh. */
  readonly most: number;
  /** By default each value weighs 1. */
  readonly weigh?: (value: Value) => number;
  /** The cache calls it with each value that another value drove out. */
  readonly dropped?: (value: Value) => void;
}

/** The cache does not keep a value that alone weighs more than `most`. */
export function createLruCache<Value>({ most, weigh = () => 1, dropped = () => undefined }: Bounds<Value>): LruCache<Value> {
  const entries = new Map<string, { readonly value: Value; readonly weight: number }>();
  let total = 0;
  const remove = (key: string): void => {
    total -= entries.get(key)?.weight ?? 0;
    entries.delete(key);
  };
  return {
    get: (key) => {
      const found = entries.get(key);
      if (found === undefined) return undefined;
      entries.delete(key);
      entries.set(key, found);
      return found.value;
    },
    has: (key) => entries.has(key),
    set: (key, value) => {
      remove(key);
      const weight = weigh(value);
      if (weight > most) return;
      entries.set(key, { value, weight });
      total += weight;
      for (const [oldest, entry] of entries) {
        if (total <= most) break;
        remove(oldest);
        dropped(entry.value);
      }
    },
    delete: remove,
    values: () => [...entries.values()].map(({ value }) => value),
  };
}
