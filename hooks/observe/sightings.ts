// What was just seen to be there is not looked at again for a moment, so that a Transaction of many changes does not ask the same
// thing at each of them.
import type { Clock } from '../cluster.ts';
import { bounded } from './bounded.ts';
import type { Presence } from './observation.ts';

export interface Sightings {
  /** The presence of what `key` names: asked for by `ask`, unless it was found to be there a moment ago; its object is empty then. */
  look(key: string, ask: () => Promise<Presence>): Promise<Presence>;
}

/** `span`: ms for which what was seen to be there counts as being there; `most` things are remembered. */
export function createSightings(clock: Pick<Clock, 'monotonic'>, span: number, most: number): Sightings {
  const seen = bounded<number>(most);
  return {
    async look(key, ask) {
      const at = clock.monotonic();
      const last = seen.get(key);
      if (last !== undefined && at < last + span) return { kind: 'present', object: {} };
      const found = await ask();
      if (found.kind === 'present') seen.set(key, at);
      else seen.delete(key);
      return found;
    },
  };
}
