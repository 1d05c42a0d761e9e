// Changes that the API server lets nobody take back.
import { at, equalJson, type JsonObject, textAt } from '../model/json.ts';
import { parseQuantity } from '../model/quantity.ts';

/** What makes the step from prior to expected a one-way one, in words; undefined when nothing does. */
export function oneWay(prior: JsonObject | undefined, expected: JsonObject | undefined): string | undefined {
  if (prior === undefined || expected === undefined) return undefined;
  if (at(expected, 'immutable') === true && at(prior, 'immutable') !== true) return 'it becomes immutable';
  return grows(prior, expected) ? 'a claim can grow but not shrink' : undefined;
}

// Source: k8s.io/kubernetes pkg/apis/core/validation, ValidatePersistentVolumeClaimUpdate: requests may only grow.
function grows(prior: JsonObject, expected: JsonObject): boolean {
  if (textAt(expected, 'kind') !== 'PersistentVolumeClaim') return false;
  const path = ['spec', 'resources', 'requests', 'storage'] as const;
  const [before, after] = [textAt(prior, ...path), textAt(expected, ...path)];
  return before !== undefined && after !== undefined && !equalJson(before, after) && parseQuantity(after) > parseQuantity(before);
}
