// The engine cuts work with large objects into steps of at most some tenths of a second. Each step has its own turn of the event
// loop. Between the steps, the engine answers probes and other Transactions' calls.
import type { JsonObject } from '../json.ts';
import { weightOf } from '../measure.ts';

/** Bytes, as JSON, of objects that keep the thread busy for longer than some ms. */
const large = 128 * 1024;

// All calls share this: two long steps are never in one turn.
let last: Promise<void> = Promise.resolve();

/** What the program does around long steps. */
interface AroundSteps {
  /** Resolves when the caller's next step may begin; undefined if it may begin at once. */
  pause(): Promise<void> | undefined;
  began(): void;
}

let around: AroundSteps | undefined;

/** Called once, when the program starts. */
export function aroundSteps(own: AroundSteps): void {
  around = own;
}

/** Resolves in a turn of the event loop that no other caller has. */
export async function ownTurn(): Promise<void> {
  await around?.pause();
  last = last.then(() => new Promise((resolve) => setImmediate(resolve))).then(() => around?.began());
  return last;
}

/** The result of work that is cut into steps: each step has a turn of its own. */
export async function inOwnTurns<Result>(steps: Generator<unknown, Result>): Promise<Result> {
  for (;;) {
    await ownTurn();
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** The same if a step with these objects is a long one; at once otherwise. */
export async function turnFor(...objects: readonly (JsonObject | undefined)[]): Promise<void> {
  if (areLarge(...objects)) await ownTurn();
}

/** Whether a step with these objects is a long one. */
export function areLarge(...objects: readonly (JsonObject | undefined)[]): boolean {
  return objects.reduce((sum, object) => sum + weightOf(object).text, 0) > large;
}
