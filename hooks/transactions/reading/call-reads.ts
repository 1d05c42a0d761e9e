// Results of reads are shared for a moment: all Deletes of a call share one list of dependents. If a search takes longer than a
// call, it continues in the next call: the process keeps the objects found so far.

import type { Place } from '../../objects/requests/pager.ts';
import { createKnownTargets, type KnownTargets } from './known-targets.ts';

/** A list in progress. */
export interface Begun {
  readonly pages: readonly (readonly unknown[])[];
  /** How many items were found. */
  readonly count: number;
  /** The place at which the list continues; undefined if it is complete. */
  readonly next: Place | undefined;
}

/** Lists by name, for each search by its key. */
export type Lists = ReadonlyMap<string, ReadonlyMap<string, Begun>>;

export interface CallReads {
  /** The answer for `key`: the last one if it is not older than a moment, otherwise a new one from `ask`. */
  once<Result>(key: string, ask: () => Promise<Result>): Promise<Result>;
  /** The answer for `key` for the rest of the call: its reader knows that nothing changes the answer meanwhile. */
  inCall<Result>(key: string, ask: () => Promise<Result>): Promise<Result>;
  /** Whether there is time for another page. */
  isTime(): boolean;
  /** The objects that a list of the search `key` has found so far, in this call or in the previous call. */
  begun(key: string, list: string): Begun | undefined;
  /** Keeps `begun`; without it, the list starts again the next time. */
  keep(key: string, list: string, begun: Begun | undefined): void;
  /** The lists that the next call continues; none if all are complete. */
  unfinished(): Lists;
  readonly kinds: KnownKinds;
  readonly targets: KnownTargets;
}

/** By place: kinds that a second list of a place must contain. Calls of one process share them. */
export interface KnownKinds {
  get(place: string): ReadonlySet<string> | undefined;
  set(place: string, kinds: ReadonlySet<string>): void;
}

/** ms for which a search counts, from its start. */
const sharedFor = 1_000;

interface CallReadOptions {
  /** Monotonic, in ms. */
  readonly now: () => number;
  /** Monotonic ms after which the engine reads no page: the step after the search needs the rest of the call's time. */
  readonly until: number;
  /** The lists that the previous call did not complete. */
  readonly lists: Lists;
  readonly kinds?: KnownKinds;
  readonly targets?: KnownTargets;
}

/** Made for one call. */
export function createCallReads(options: CallReadOptions): CallReads {
  const { now, until, lists, kinds = new Map(), targets = createKnownTargets() } = options;
  const answers = new Map<string, { readonly began: number; readonly answer: Promise<unknown> }>();
  const found = new Map([...lists].map(([key, begun]) => [key, new Map(begun)] as const));
  let isOver = false;
  const within = <Result>(span: number, key: string, ask: () => Promise<Result>): Promise<Result> => {
    const known = answers.get(key);
    if (known !== undefined && now() < known.began + span) return known.answer as Promise<Result>;
    if (known !== undefined) found.delete(key);
    const answer = ask();
    answers.set(key, { began: now(), answer });
    return answer;
  };
  return {
    once: (key, ask) => within(sharedFor, key, ask),
    inCall: (key, ask) => within(Number.POSITIVE_INFINITY, key, ask),
    isTime() {
      const isTime = now() < until;
      isOver ||= !isTime;
      return isTime;
    },
    begun: (key, list) => found.get(key)?.get(list),
    keep(key, list, begun) {
      const lists = found.get(key) ?? new Map<string, Begun>();
      found.set(key, lists);
      if (begun === undefined) lists.delete(list);
      else lists.set(list, begun);
    },
    unfinished: () => (isOver ? found : new Map()),
    kinds,
    targets,
  };
}
