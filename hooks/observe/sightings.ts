// Remembers for a moment that an object exists, so that a Transaction with many changes does not read the same object for each of
// them.
import type { Clock } from '../cluster.ts';
import { bounded } from './bounded.ts';
import type { Presence } from './observation.ts';

export interface Sightings {
  /** The presence of `key`: from `ask`, unless it was present a moment ago; then `object` is empty. */
  look(key: string, ask: () => Promise<Presence>): Promise<Presence>;
}

/** `span`: ms for which a presence counts. `most`: how many are remembered. */
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
