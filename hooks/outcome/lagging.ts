// A refusal that may pass: between two changes lie milliseconds, and what an API server knows by a cache (PriorityClasses, quotas,
// LimitRanges, policies, webhooks, Namespaces) it may not have heard of yet. Such a write is tried again for a moment before the refusal
// is final.
import type { Failure } from '../model/failure.ts';
import type { Done, Result } from './answer.ts';

/** ms before each further try. */
const pauses: readonly number[] = [50, 150, 300, 500];

/** The next try, where an earlier write of the same Transaction may be what the API server has not heard of; else undefined. */
export function triedAgain({ observation, carry }: Done, index: number, failure: Failure): Result | undefined {
  const { items, phase } = observation.status;
  const neighbour = items[phase === 'RollingBack' ? index + 1 : index - 1]?.progress.kind;
  const tries = carry.lagging ?? 0;
  const pause = pauses[tries];
  const mayPass = ['refused', 'absent'].includes(failure.kind) && carry.refused === undefined;
  if (!mayPass || pause === undefined || (neighbour !== 'applied' && neighbour !== 'restored')) return undefined;
  return { kind: 'again', carry: { ...carry, lagging: tries + 1 }, pause };
}
