// Whether an object is ready, not yet ready, or will not become ready any more: a function of one read.
import type { ExpressionResult } from '../../objects/cluster.ts';
import { at, equalJson, isList, isObject, type Json, type JsonObject, textAt } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import { type Check, type GateState, longestFound } from '../model/gate.ts';
import { parseFieldPath, readField } from './field-path.ts';
import { needsNoRead, ruleOfKind } from './kinds.ts';
import {
  behindWords,
  type Checked,
  conditionOf,
  conditionWords,
  evidenceOf,
  type Finding,
  failed,
  type GateEvidence,
  hasStatus,
  notYet,
  ready,
  readyWithEvidence,
  type Seen,
  troubleWords,
  type Verdict,
  withoutEvidence,
} from './verdict.ts';

const words = {
  gone: 'it is gone',
  there: 'it is still there',
  terminating: 'it is being deleted',
  replaced: 'it was replaced by another object of the same name',
} as const;

/** The finding of the read. Equal objects give equal words. */
export function evaluateGate(evidence: GateEvidence): Finding {
  const finding = evidence.type === 'Delete' ? deleted(evidence) : standing(evidence);
  return { ...finding, found: foreign(finding.found, longestFound) };
}

function standing(evidence: GateEvidence): Finding {
  const { live } = evidence;
  if (live === undefined) return { kind: 'failed', found: words.gone, reason: 'Gone' };
  if (isReplaced(evidence)) return { kind: 'failed', found: words.replaced, reason: 'Replaced' };
  const isTerminating = at(live, 'metadata', 'deletionTimestamp') !== undefined;
  if (isTerminating) return { kind: 'failed', found: words.terminating, reason: 'Terminating' };
  const seen = { ...evidence, live };
  return failure(seen) ?? counted(seen, readiness(seen));
}

function isReplaced({ live, uid }: GateEvidence): boolean {
  return uid !== undefined && textAt(live, 'metadata', 'uid') !== uid;
}

function deleted(evidence: GateEvidence): Finding {
  const { live } = evidence;
  if (live === undefined) return { kind: 'ready', found: words.gone };
  if (isReplaced(evidence)) return { kind: 'ready', found: words.replaced };
  const seen = { ...evidence, live };
  return failure(seen) ?? { kind: 'notYet', found: remaining(seen) };
}

function remaining({ live, sealed }: Seen): string {
  if (at(live, 'metadata', 'deletionTimestamp') === undefined) return words.there;
  const finalizers = at(live, 'metadata', 'finalizers');
  if (sealed || !isList(finalizers) || finalizers.length === 0) return words.terminating;
  return `${words.terminating} and waits for finalizers: ${finalizers.join(', ')}`;
}

/** The result of the gate's own `failed`, if that decides. */
function failure(seen: Seen): Finding | undefined {
  const answer = answerOf(seen, 'failed');
  if (answer === undefined || answer.kind === 'no') return undefined;
  if (answer.kind === 'broken') return { kind: 'failed', found: answer.found };
  return counted(seen, failed(answer.found, answer.condition));
}

function readiness(seen: Seen): Verdict {
  const answer = answerOf(seen, 'ready');
  if (answer === undefined) return ruleOfKind(seen);
  if (answer.kind === 'yes') return readyWithEvidence(answer.found, answer.condition);
  // What cannot be evaluated has nothing to do with what a controller has seen.
  return answer.kind === 'no' ? notYet(answer.found) : { ...ready(answer.found), kind: 'failed' };
}

/** The verdict as it counts at this time. */
function counted(seen: Seen, { kind, found, needsEvidence, condition }: Verdict): Finding {
  if (!needsEvidence) return { kind, found };
  const evidence = evidenceOf(seen, condition);
  if (evidence.kind === 'behind') return { kind: 'notYet', found: `${found}, but ${behindWords(seen, evidence.observed)}` };
  if (evidence.kind === 'seen' || seen.age >= withoutEvidence) return { kind, found };
  return { kind: 'notYet', found: `${found}, but nothing shows yet that a controller has seen the change` };
}

// The checks that a gate names itself: a condition, a field, an expression.

type Answer =
  | { readonly kind: 'yes' | 'no'; readonly found: string; readonly condition?: JsonObject }
  /** The check cannot be answered, now or later. */
  | { readonly kind: 'broken'; readonly found: string };

/** The result of the check with that name; undefined if the gate has no such check. */
function answerOf(seen: Seen, checked: Checked): Answer | undefined {
  const check = seen.gate[checked];
  if (check === undefined) return undefined;
  if (check.kind === 'condition') return ofCondition(seen, check, checked);
  return check.kind === 'field' ? ofField(seen, check) : ofExpression(seen, check, seen.evaluated[checked]);
}

type Of<Kind> = Extract<Check, { readonly kind: Kind }>;

function ofCondition(seen: Seen, { type, status }: Of<'condition'>, checked: Checked): Answer {
  const condition = conditionOf(seen.live, type);
  const isMet = hasStatus(condition, status);
  // A message explains the trouble: the part that failed, or that is not yet ready.
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

// Whether a gate passes: from the object as it was read, and from the state that the status has stored of the gate.

export function findingOf(evidence: GateEvidence, before: GateState): Finding {
  if (needsNoRead(evidence)) return { kind: 'ready', found: '' };
  return hasCompleted(evidence, before) ? { kind: 'ready', found: 'it completed, and was deleted' } : evaluateGate(evidence);
}

// A Job may be deleted by its time to live while others are waited for. What was ready by its kind has completed.
function hasCompleted({ resource, gate, type, live }: GateEvidence, { passed, readySince }: GateState): boolean {
  if (live !== undefined && at(live, 'metadata', 'deletionTimestamp') === undefined) return false;
  const isJob = resource.group === 'batch' && resource.kind === 'Job' && type !== 'Delete';
  return isJob && (passed === true || (readySince !== undefined && gate.ready === undefined));
}

// The state that a gate waits for, in words. The words repeat the spec, never the object. For a sealed object, they do not repeat a
// value of the spec either: together with the finding, that value would show the content of the object.

const longestValue = 100;

/** As it follows "expected": `condition Available to be True`. */
export function expectedOf({ gate: { ready, failed }, sealed }: Pick<GateEvidence, 'gate' | 'sealed'>): string {
  const wanted = ready === undefined ? 'it to be ready' : checkOf(ready, sealed);
  return failed === undefined ? wanted : `${wanted}, and not ${checkOf(failed, sealed)}`;
}

function checkOf(check: Check, sealed: boolean): string {
  switch (check.kind) {
    case 'condition':
      return foreign(`condition ${check.type} to be ${check.status}`, longestValue);
    case 'field':
      return foreign(`${check.path} ${wantedOf(check, sealed)}`, longestValue);
    case 'expression':
      return sealed ? 'its expression to be true' : foreign(`${check.expression} to be true`, longestValue);
  }
}

function wantedOf({ value }: Extract<Check, { readonly kind: 'field' }>, sealed: boolean): string {
  if (value === undefined) return 'to have a value';
  return sealed ? 'to have the value that it names' : `to be ${JSON.stringify(value)}`;
}
