// Label selectors, as the API server reads them in a query.
import { at, isObject, type Json, type JsonObject, listAt, textAt } from './json.ts';

/**
 * The selector of an object's spec; undefined if it selects everything. The function leaves out a requirement that it does not
 * know.
 */
export function labelSelectorOf(owner: Json): string | undefined {
  const selector = at(owner, 'spec', 'selector');
  const equal = Object.entries(matchLabelsOf(selector)).map(([key, value]) => `${key}=${value}`);
  const text = [...equal, ...listAt(selector, 'matchExpressions').flatMap(requirementOf)].join(',');
  return text === '' ? undefined : text;
}

/** Whether the selector of an object's spec selects objects with these labels. An empty one selects nothing here. */
export function selects(owner: Json, labels: JsonObject): boolean {
  const selector = at(owner, 'spec', 'selector');
  const equal = Object.entries(matchLabelsOf(selector));
  const expressions = listAt(selector, 'matchExpressions');
  if (equal.length + expressions.length === 0) return false;
  return equal.every(([key, value]) => labels[key] === value) && expressions.every((one) => holds(one, labels));
}

function holds(expression: Json, labels: JsonObject): boolean {
  const value = labels[textAt(expression, 'key') ?? ''];
  const isListed = value !== undefined && listAt(expression, 'values').includes(value);
  switch (textAt(expression, 'operator')) {
    case 'In':
      return isListed;
    case 'NotIn':
      return !isListed;
    case 'Exists':
      return value !== undefined;
    default:
      return value === undefined;
  }
}

// The selector of a ReplicationController is a map of labels.
function matchLabelsOf(selector: Json | undefined): JsonObject {
  const labels = at(selector, 'matchLabels') ?? (at(selector, 'matchExpressions') === undefined ? selector : undefined);
  return isObject(labels) ? labels : {};
}

function requirementOf(expression: Json): readonly string[] {
  const key = textAt(expression, 'key') ?? '';
  const values = `(${listAt(expression, 'values').join(',')})`;
  switch (textAt(expression, 'operator')) {
    case 'In':
      return [`${key} in ${values}`];
    case 'NotIn':
      return [`${key} notin ${values}`];
    case 'Exists':
      return [key];
    case 'DoesNotExist':
      return [`!${key}`];
    default:
      return [];
  }
}
