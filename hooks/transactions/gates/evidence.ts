// Whether what a status says is about the change. A controller may take a while to see it, and until then the status of the state
// before it stands: a custom resource with `Ready=True` keeps that when its spec is changed.
import { at, isObject, type Json, textAt } from '../../objects/json.ts';
import { conditionOf } from './conditions.ts';
import type { Seen } from './verdict.ts';

/** Ms after the change from which on a status counts that shows nothing: a controller that runs has seen the change by then. */
export const withoutEvidence = 10_000;

/** `behind`: it is known to be about another generation, and never counts. `none`: nothing shows which. */
type Evidence = { readonly kind: 'seen' } | { readonly kind: 'behind'; readonly observed: number } | { readonly kind: 'none' };

const seenIt: Evidence = { kind: 'seen' };

/** What the object shows; by a condition, where the answer rests on one. */
export function evidenceOf(seen: Seen, condition: Json | undefined): Evidence {
  const generation = at(seen.live, 'metadata', 'generation');
  const observed = [at(seen.live, 'status', 'observedGeneration'), at(condition, 'observedGeneration')].find(isNumber);
  if (isNumber(generation) && isNumber(observed)) return observed >= generation ? seenIt : { kind: 'behind', observed };
  if (isUnmoved(seen, generation)) return seenIt;
  return isWrittenSince(seen) && (hasTurned(seen, condition) || isOfOurs(seen)) ? seenIt : { kind: 'none' };
}

const isNumber = (value: Json | undefined): value is number => typeof value === 'number';

/** The write left the generation as it was, so that there is nothing for a controller to see. */
function isUnmoved({ prior }: Seen, generation: Json | undefined): boolean {
  return isNumber(generation) && generation === at(prior, 'metadata', 'generation');
}

// The prior state may be from minutes before the change, and a kind may have a status by default: what stands there as the change
// left it shows nothing.
function isWrittenSince({ live, version }: Seen): boolean {
  return version === undefined || textAt(live, 'metadata', 'resourceVersion') !== version;
}

/** Equality alone: clocks differ. */
function hasTurned({ prior }: Seen, condition: Json | undefined): boolean {
  const turned = textAt(condition, 'lastTransitionTime');
  const before = conditionOf(prior, textAt(condition, 'type') ?? '');
  return prior !== undefined && turned !== undefined && turned !== textAt(before, 'lastTransitionTime');
}

/** Before the change there was nothing to have a status. */
function isOfOurs({ live, prior }: Seen): boolean {
  const status = at(live, 'status');
  return prior === undefined && isObject(status) && Object.keys(status).length > 0;
}

export function behindWords({ live, sealed }: Seen, observed: number): string {
  const generation = at(live, 'metadata', 'generation');
  return sealed || !isNumber(generation)
    ? 'observedGeneration is not metadata.generation'
    : `observedGeneration is ${observed}, metadata.generation is ${generation}`;
}
