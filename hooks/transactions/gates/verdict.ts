// What a rule says of an object that is there, before it is asked whether a controller has seen the change at all.
import type { JsonObject } from '../../objects/json.ts';
import type { Finding, Look } from './finding.ts';

/** A look that found the object. */
export type Seen = Look & { readonly live: JsonObject };

export interface Verdict {
  readonly kind: Finding['kind'];
  readonly found: string;
  /** It counts at once only where the object shows that a controller has seen the change (evidence.ts). */
  readonly needsEvidence: boolean;
  /** The condition that it rests on, where it rests on one. */
  readonly condition?: JsonObject;
}

/** Ready by a rule that allows for the change itself. */
export function ready(found: string): Verdict {
  return { kind: 'ready', found, needsEvidence: false };
}

export function notYet(found: string): Verdict {
  return { kind: 'notYet', found, needsEvidence: false };
}

/** A failure ends the gate, so that it must never be one from before the change. */
export function failed(found: string, condition?: JsonObject): Verdict {
  return { kind: 'failed', found, needsEvidence: true, ...(condition === undefined ? {} : { condition }) };
}

/** Ready by what may still be the state before the change. */
export function readyWithEvidence(found: string, condition?: JsonObject): Verdict {
  return { ...failed(found, condition), kind: 'ready' };
}

/** Not yet, for the first of the reasons that holds; ready where none does. */
export function unless(reasons: readonly (string | undefined)[], found: string): Verdict {
  const reason = reasons.find((one) => one !== undefined);
  return reason === undefined ? ready(found) : notYet(reason);
}
