// The snapshot of an earlier try of this Transaction: authentic, but from before a target changed.
import { must } from '../../support/client.ts';
import { configMapPlace } from '../places.ts';
import { putBack, removeAll } from './copies.ts';
import type { Attempted, Deed } from './deeds.ts';
import { type Scene, type Stored, storedParts, uidOf } from './scene.ts';

/** Given the stored parts, the parts that the adversary kept, and the number of requests since then. */
type IsDue = (parts: readonly Stored[], kept: readonly Stored[], requests: number) => boolean;

/**
 * The process died before the status named the snapshot: the adversary removes it, a user changes a target, it puts the snapshot
 * back.
 */
function earlierTry(id: string, isDue: IsDue): Deed {
  const begin = (): Attempted => {
    const kept: Stored[] = [];
    let requests = 0;
    return async (scene) => {
      const parts = await storedParts(scene);
      requests += 1;
      if (kept.length > 0) return isDue(parts, kept, requests) && putBackInstead(scene, parts, kept);
      if (parts.length > 0) await takeAway(scene, parts);
      kept.push(...parts);
      requests = 0;
      return false;
    };
  };
  return { id, begin, when: 'once it is stored', breaks: true, isOvertaken: true, afterCrash: true };
}

/** Removes the snapshot; then a user with rights on a target changes it, before anything of the Transaction is applied. */
async function takeAway(scene: Scene, parts: readonly Stored[]): Promise<void> {
  await removeAll(scene, parts);
  const { names, world, since } = scene.run;
  const { key, path } = configMapPlace(names.namespace, names.b);
  const patch = { data: { color: 'violet' } };
  since.set(key, must(await world.stranger.patch(path, patch, 'merge', { fieldManager: 'stranger' })));
}

async function putBackInstead(scene: Scene, parts: readonly Stored[], kept: readonly Stored[]): Promise<true> {
  await removeAll(scene, parts);
  await putBack(scene, kept);
  return true;
}

const isStoredAnew: IsDue = (parts, kept) =>
  parts.length > 0 && parts.every(({ object }) => kept.every((one) => uidOf(one.object) !== uidOf(object)));

export const earlierTries: readonly Deed[] = [
  earlierTry('earlier-try', isStoredAnew),
  ...[1, 4, 9, 16, 25].map((most) => earlierTry(`earlier-try-after-${most}`, (_parts, _kept, requests) => requests >= most)),
];
