// A cache of bounded size.

interface Bounded<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
}

/** Drops the least recently used values once all values together weigh more than `most`. `weigh` defaults to 1 for each value. */
export function bounded<Value>(most: number, weigh: (value: Value) => number = () => 1): Bounded<Value> {
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
    set: (key, value) => {
      remove(key);
      const weight = weigh(value);
      if (weight > most) return;
      entries.set(key, { value, weight });
      total += weight;
      for (const oldest of entries.keys()) {
        if (total <= most) break;
        remove(oldest);
      }
    },
    delete: remove,
  };
}
