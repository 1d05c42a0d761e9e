// The state of a CustomResourceDefinition.
import { at, isList, type JsonObject, textAt } from '../model/json.ts';
import { parseTime } from '../model/timeouts.ts';

/** Whether a CustomResourceDefinition serves its kind, and since when (ms) it exists. */
export function definitionState(definition: JsonObject): { readonly isEstablished: boolean; readonly created: number } {
  const conditions = at(definition, 'status', 'conditions');
  const isEstablished =
    isList(conditions) && conditions.some((one) => textAt(one, 'type') === 'Established' && textAt(one, 'status') === 'True');
  return { isEstablished, created: parseTime(textAt(definition, 'metadata', 'creationTimestamp')) ?? 0 };
}

/** ms that a CustomResourceDefinition may take until every API server serves its kind. */
const servingPatience = 30_000;

/** Whether a CustomResourceDefinition was created so lately that its kind may not be served everywhere yet. `now` in ms. */
export function isYoung(definition: JsonObject | undefined, now: number): boolean {
  return definition !== undefined && now <= definitionState(definition).created + servingPatience;
}
