// The checks that a gate names itself: a condition, a field, an expression.
import type { ExpressionResult } from '../../objects/cluster.ts';
import { equalJson, isList, isObject, type Json, type JsonObject } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import type { Check } from '../model/gate.ts';
import { conditionOf, conditionWords, hasStatus, troubleWords } from './conditions.ts';
import { parseFieldPath, readField } from './field-path.ts';
import type { Checked } from './finding.ts';
import type { Seen } from './verdict.ts';

type Answer =
  | { readonly kind: 'yes' | 'no'; readonly found: string; readonly condition?: JsonObject }
  /** The check cannot be answered, now or later. */
  | { readonly kind: 'broken'; readonly found: string };

/** What the check of that name comes to; undefined where the gate has none. */
export function answerOf(seen: Seen, checked: Checked): Answer | undefined {
  const check = seen.gate[checked];
  if (check === undefined) return undefined;
  if (check.kind === 'condition') return ofCondition(seen, check, checked);
  return check.kind === 'field' ? ofField(seen, check) : ofExpression(seen, check, seen.evaluated[checked]);
}

type Of<Kind> = Extract<Check, { readonly kind: Kind }>;

function ofCondition(seen: Seen, { type, status }: Of<'condition'>, checked: Checked): Answer {
  const condition = conditionOf(seen.live, type);
  const isMet = hasStatus(condition, status);
  // A message explains what is wrong: what failed, or what is not yet ready.
  const isTrouble = isMet === (checked === 'failed');
  const found = isTrouble ? troubleWords(seen, type) : conditionWords(seen, type);
  return { kind: isMet ? 'yes' : 'no', found, ...(condition === undefined ? {} : { condition }) };
}

function ofField(seen: Seen, { path, value }: Of<'field'>): Answer {
  const parsed = parseFieldPath(path);
  if (parsed.kind === 'bad') return { kind: 'broken', found: `field ${foreign(path, 80)}: ${parsed.message}` };
  const field = readField(seen.live, parsed.steps);
  const isMet = value === undefined ? !isEmpty(field) : equalJson(field, value);
  return { kind: isMet ? 'yes' : 'no', found: `${foreign(path, 100)} ${fieldWords(seen, field, value)}` };
}

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  ((isList(value) || isObject(value)) && Object.keys(value).length === 0);

function fieldWords({ sealed }: Seen, field: Json | undefined, value: Json | undefined): string {
  if (field === undefined) return 'is not set';
  if (value === undefined) return isEmpty(field) ? 'is empty' : 'is set';
  const isMet = equalJson(field, value);
  if (sealed) return isMet ? 'is as required' : 'is not as required';
  return isMet ? `is ${shown(field)}` : `is ${shown(field)}, not ${shown(value)}`;
}

function shown(value: Json): string {
  if (isList(value)) return 'a list';
  return isObject(value) ? 'a map' : foreign(JSON.stringify(value), 40);
}

function ofExpression({ sealed }: Seen, { expression }: Of<'expression'>, evaluated: ExpressionResult | undefined): Answer {
  // It may name values of the object, and so may the words of its evaluation.
  const said = sealed ? 'its expression' : `expression ${foreign(expression, 80)}`;
  if (evaluated?.kind === 'broken')
    return { kind: 'broken', found: `${said} cannot be evaluated${sealed ? '' : `: ${evaluated.message}`}` };
  if (evaluated?.kind !== 'value') return { kind: 'no', found: `${said} reads a field that is not set` };
  return { kind: evaluated.value ? 'yes' : 'no', found: `${said} is ${evaluated.value}` };
}
