// How long a look at a lock is good for.
import type { Observation } from '../observe/observation.ts';
import { lifeLeft } from './locks.ts';
import type { Step } from './step.ts';

/** ms after the look by which a write of this step must have taken effect: the lock of its target may be another's then. */
export function lockTime({ kind }: Step, { view, now }: Pick<Observation, 'view' | 'now'>): number {
  const isUnderLock = kind === 'apply' || kind === 'compensate';
  return isUnderLock && view.kind === 'item' && view.lease.kind === 'present'
    ? lifeLeft(view.lease.object, now)
    : Number.POSITIVE_INFINITY;
}
