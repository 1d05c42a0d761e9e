// What a call has looked at a moment ago is not looked at again: all Deletes of a call share one look around. A look that takes longer
// than a call goes on in the next one: what it has found so far is kept by the process.

/** A list, page by page. */
export interface Begun {
  readonly pages: readonly (readonly unknown[])[];
  /** Of what was found. */
  readonly count: number;
  /** Where it goes on; undefined when that was all. */
  readonly next: Place | undefined;
}

export interface Place {
  readonly from?: string;
  /** Objects of a page. */
  readonly limit: number;
}

/** Lists by their name, of looks by theirs. */
export type Lists = ReadonlyMap<string, ReadonlyMap<string, Begun>>;

export interface Looks {
  /** The answer to what `key` names, requested again unless the last asking began less than a moment ago. */
  once<Result>(key: string, ask: () => Promise<Result>): Promise<Result>;
  /** Whether a look may begin with another page. */
  isTime(): boolean;
  /** What a list of the look `key` has come to, in this call or in the one before. */
  begun(key: string, list: string): Begun | undefined;
  /** Without `begun`, the list begins at its beginning the next time. */
  keep(key: string, list: string, begun: Begun | undefined): void;
  /** For the next call; nothing where all have ended. */
  unfinished(): Lists;
}

/** ms for which a look counts, from its beginning. */
const lookAge = 1_000;

interface LookOptions {
  /** Monotonic, in ms. */
  readonly now: () => number;
  /** Monotonic ms after which no page is asked for: what follows from the look must have its time, or it would be for nothing. */
  readonly until: number;
  /** What the looks of the call before have not ended. */
  readonly lists: Lists;
}

/** For one call. */
export function createLooks({ now, until, lists }: LookOptions): Looks {
  const looks = new Map<string, { readonly began: number; readonly answer: Promise<unknown> }>();
  const found = new Map([...lists].map(([key, look]) => [key, new Map(look)] as const));
  let isOver = false;
  return {
    once<Result>(key: string, ask: () => Promise<Result>): Promise<Result> {
      const known = looks.get(key);
      if (known !== undefined && now() < known.began + lookAge) return known.answer as Promise<Result>;
      if (known !== undefined) found.delete(key);
      const answer = ask();
      looks.set(key, { began: now(), answer });
      return answer;
    },
    isTime() {
      const isTime = now() < until;
      isOver ||= !isTime;
      return isTime;
    },
    begun: (key, list) => found.get(key)?.get(list),
    keep(key, list, begun) {
      const look = found.get(key) ?? new Map<string, Begun>();
      found.set(key, look);
      if (begun === undefined) look.delete(list);
      else look.set(list, begun);
    },
    unfinished: () => (isOver ? found : new Map()),
  };
}
