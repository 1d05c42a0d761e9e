// Taints that evict Pods, and the tolerations of these. Pure. Source: k8s.io/api/core/v1/toleration.go.
import { at, isList, type Json, type JsonObject, textAt } from '../model/json.ts';

/** The NoExecute taints that a Node has as `after`, and not as `before`. */
export function evictingTaints(before: JsonObject | undefined, after: JsonObject): readonly Json[] {
  const known = allTaints(before);
  return allTaints(after).filter((taint) => !known.some((one) => isSame(one, taint)));
}

function allTaints(node: JsonObject | undefined): readonly Json[] {
  const taints = at(node, 'spec', 'taints');
  return (isList(taints) ? taints : []).filter((taint) => textAt(taint, 'effect') === 'NoExecute');
}

function isSame(one: Json, other: Json): boolean {
  return ['key', 'value'].every((part) => (textAt(one, part) ?? '') === (textAt(other, part) ?? ''));
}

/** Whether the Pod stays. The first toleration that matches counts. One that ends only delays the eviction. */
export function isToleratedBy(pod: JsonObject, taint: Json): boolean {
  const tolerations = at(pod, 'spec', 'tolerations');
  const matching = (isList(tolerations) ? tolerations : []).find((toleration) => matches(toleration, taint));
  return matching !== undefined && at(matching, 'tolerationSeconds') === undefined;
}

function matches(toleration: Json, taint: Json): boolean {
  const said = (part: string): string => textAt(toleration, part) ?? '';
  if (!['', 'NoExecute'].includes(said('effect')) || !['', textAt(taint, 'key')].includes(said('key'))) return false;
  if (said('operator') === 'Exists') return true;
  return ['', 'Equal'].includes(said('operator')) && said('value') === (textAt(taint, 'value') ?? '');
}
