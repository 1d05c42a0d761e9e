// What was just seen to be there is not looked at again for a moment, so that a Transaction of many changes does not ask the same
// thing at each of them.
import type { Presence } from './observation.ts';

export interface Sightings {
  /** The presence of what `key` names: asked for by `ask`, unless it was found to be there a moment ago; its object is empty then. */
  look(key: string, ask: () => Promise<Presence>): Promise<Presence>;
}
