// What a call has looked at a moment ago is not looked at again: all Deletes of a call share one look around.

export interface Looks {
  /** The answer to what `key` names, asked for anew unless the last asking began less than a moment ago. */
  once<Result>(key: string, ask: () => Promise<Result>): Promise<Result>;
}

/** ms for which a look counts, from its beginning. */
export const lookAge = 1_000;

/** For one call: nothing of it may be kept for the next. `now` is monotonic, in ms. */
export function createLooks(now: () => number): Looks {
  const looks = new Map<string, { readonly began: number; readonly answer: Promise<unknown> }>();
  return {
    once<Result>(key: string, ask: () => Promise<Result>): Promise<Result> {
      const known = looks.get(key);
      if (known !== undefined && now() < known.began + lookAge) return known.answer as Promise<Result>;
      const answer = ask();
      looks.set(key, { began: now(), answer });
      return answer;
    },
  };
}
