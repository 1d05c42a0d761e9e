// Label selectors, as the API server reads them in a query.
import { at, isList, isObject, type Json, textAt } from './json.ts';

/** The selector of an object's spec; undefined if it selects everything. A requirement that is not understood is left out. */
export function labelSelectorOf(owner: Json): string | undefined {
  const selector = at(owner, 'spec', 'selector');
  const labels = at(selector, 'matchLabels') ?? (at(selector, 'matchExpressions') === undefined ? selector : undefined);
  const equal = Object.entries(isObject(labels) ? labels : {}).map(([key, value]) => `${key}=${value}`);
  const text = [...equal, ...listAt(selector, 'matchExpressions').flatMap(requirementOf)].join(',');
  return text === '' ? undefined : text;
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

function listAt(value: Json | undefined, key: string): readonly Json[] {
  const found = at(value, key);
  return isList(found) ? found : [];
}
