// Work with large objects is cut into steps of at most some tenths of a second, each in a turn of the event loop of its own: probes, and
// the calls of others, are answered between them.
import type { JsonObject } from '../../objects/json.ts';
import { weightOf } from '../../objects/measure.ts';

/** Bytes, as JSON, of objects that keep the thread busy for longer than some ms. */
const large = 128 * 1024;

// Shared by all calls: two long steps are never in the same turn.
let last: Promise<void> = Promise.resolve();

/** Resolves in a turn of the event loop that no other caller has. */
export function ownTurn(): Promise<void> {
  last = last.then(() => new Promise((resolve) => setImmediate(resolve)));
  return last;
}

/** The same if a step with these objects is a long one; at once otherwise. */
export async function turnFor(...objects: readonly (JsonObject | undefined)[]): Promise<void> {
  if (objects.reduce((sum, object) => sum + weightOf(object).text, 0) > large) await ownTurn();
}
