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
