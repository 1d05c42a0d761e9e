// How long a look at a lock is good for.
import { itemOf, type Observation } from '../observe/observation.ts';
import { lifeLeft } from './locks.ts';
import type { Step } from './step.ts';

/** ms after the look by which a write of this step must have taken effect: the lock of its target may be another's then. */
export function lockTime({ kind }: Step, { due, now }: Pick<Observation, 'due' | 'now'>): number {
  const isUnderLock = kind === 'apply' || kind === 'compensate';
  const lease = itemOf(due)?.lease;
  return isUnderLock && lease?.kind === 'present' ? lifeLeft(lease.object, now) : Number.POSITIVE_INFINITY;
}
