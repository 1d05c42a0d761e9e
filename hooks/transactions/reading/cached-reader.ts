// A Reader that keeps some answers for a moment: that a ServiceAccount exists, the version of a snapshot's ConfigMap, and a
// permission that a ServiceAccount has. Without it, a Transaction with many changes would read these for each change. Many
// Transactions that begin at the same time would do this, too. The Reader keeps only existing objects and granted permissions. It
// reads absence and denials again each time. It always reads targets, Leases and the Transaction itself.
import type { AccessAnswer, Answer, Clock, Location, Reader } from '../../objects/cluster.ts';
import { at, type JsonObject } from '../../objects/json.ts';
import { createLruCache } from '../../objects/lru-cache.ts';
import { serviceAccounts } from '../writes/resources.ts';

/** Puts the kept answers before the reader. Of an object, it keeps only uid and version. */
type CachedReader = (reader: Reader) => Reader;

interface Bounds {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** ms for which a sighting counts. */
  readonly span: number;
  /** How many are remembered. */
  readonly most: number;
}

export function createCachedReader(bounds: Bounds): CachedReader {
  const objects = remembering(bounds, identityAlone);
  const rights = remembering<AccessAnswer>(bounds, (found) => (found.kind === 'ok' && found.allowed ? found : undefined));
  return (reader) => ({
    ...reader,
    get: (location, identity) => {
      const ask = (): Promise<Answer> => reader.get(location, identity);
      const isRemembered = identity.kind === 'engine' && location.resource.plural === serviceAccounts.plural;
      return isRemembered ? objects(keyOf(location), ask) : ask();
    },
    getMetadata: (location, identity) => {
      const ask = (): Promise<Answer> => reader.getMetadata(location, identity);
      return identity.kind === 'engine' ? objects(keyOf(location), ask) : ask();
    },
    allowed: (question, identity) => rights(JSON.stringify([identity, question]), () => reader.allowed(question, identity)),
  });
}

function remembering<Found>({ clock, span, most }: Bounds, sightingOf: (found: Found) => Found | undefined) {
  const seen = createLruCache<{ readonly at: number; readonly sighting: Found }>({ most });
  return async (key: string, ask: () => Promise<Found>): Promise<Found> => {
    const now = clock.monotonic();
    const last = seen.get(key);
    if (last !== undefined && now < last.at + span) return last.sighting;
    const found = await ask();
    const sighting = sightingOf(found);
    if (sighting === undefined) seen.delete(key);
    else seen.set(key, { at: now, sighting });
    return found;
  };
}

function identityAlone(answer: Answer): Answer | undefined {
  if (answer.kind !== 'ok') return undefined;
  const kept = ['uid', 'resourceVersion'].flatMap((key) => {
    const value = at(answer.object, 'metadata', key);
    return value === undefined ? [] : [[key, value] as const];
  });
  const object: JsonObject = { metadata: Object.fromEntries(kept) };
  return { ...answer, object };
}

function keyOf({ resource: { group, plural }, namespace = '', name }: Location): string {
  return [group, plural, namespace, name].join('/');
}
