// Work that is cut into steps, as a generator: `requests/loop-turns.ts` gives each step a turn of the event loop.

/** The result of such work, in one turn: for objects that are not large. */
export function atOnce<Result>(steps: Generator<unknown, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
