// The state of a CustomResourceDefinition.
import { at, isList, type JsonObject, textAt } from '../model/json.ts';
import { parseTime } from '../model/timeouts.ts';

/** Whether a CustomResourceDefinition serves its kind, and when (ms) it was created. */
export function definitionState(definition: JsonObject): { readonly isEstablished: boolean; readonly created: number } {
  const conditions = at(definition, 'status', 'conditions');
  const isEstablished =
    isList(conditions) && conditions.some((one) => textAt(one, 'type') === 'Established' && textAt(one, 'status') === 'True');
  return { isEstablished, created: parseTime(textAt(definition, 'metadata', 'creationTimestamp')) ?? 0 };
}

/** ms until every API server serves the kind of a new CustomResourceDefinition, at most. */
const servingPatience = 30_000;

/** Whether a CustomResourceDefinition is so new that some API servers may not serve its kind yet. `now` in ms. */
export function isYoung(definition: JsonObject | undefined, now: number): boolean {
  return definition !== undefined && now <= definitionState(definition).created + servingPatience;
}
