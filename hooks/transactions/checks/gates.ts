// The gates of a Transaction as they are written: what the decoded form, which has defaults, would not show any more. That an
// expression is CEL is checked where CEL is.

import { at, isObject, isRawNumber, type Json, textAt } from '../../objects/json.ts';
import { groupOf } from '../../objects/reference.ts';
import { formatDuration, parseDuration } from '../../objects/time.ts';
import { foreign } from '../../objects/words.ts';
import { parseFieldPath } from '../gates/field-path.ts';
import type { Change } from '../model/change.ts';
import { defaultFailFast, defaultGate, gatePlaces } from '../model/gate.ts';
import { type Fault, fault } from './fault.ts';

/** Characters of an expression, and of a path. */
export const longestExpression = 1024;

/** Of `timeout`, and of the durations of `failFast`, from the least to the most: those of the schema. */
export const gateTimeoutBounds = ['1s', '24h'] as const;

/** Seconds that a Job with a gate must stay: the engine may read it again when it reads all gates. */
export const leastJobLife = 60;

/** A change with its gate as it is written. */
interface GatedChange {
  readonly change: Change;
  readonly gate: Json | undefined;
}

/** Every fault of the gates: of `spec.gate` (`raw`), and of each change. */
export function gateFaults(raw: Json | undefined, changes: readonly GatedChange[]): readonly Fault[] {
  const ofSpec = raw === undefined ? [] : specMessages(raw).map((message) => fault('Invalid', `spec.gate${message}`));
  const ofChanges = changes.flatMap(({ change, gate }, index) =>
    [
      ...(gate === undefined ? [] : changeMessages(gate, change)).map((message) => `gate${message}`),
      ...lifeMessages(change, gate, raw),
    ].map((message) => fault('Invalid', `spec.changes[${index}].${message}`, index)),
  );
  return [...ofSpec, ...ofChanges];
}

const notAnObject = ': must be an object, such as {}';

function specMessages(gate: Json): readonly string[] {
  if (!isObject(gate)) return [notAnObject];
  const misplaced = ['at', 'ready', 'failed'].filter((name) => at(gate, name) !== undefined);
  return [
    ...misplaced.map((name) => `.${name}: is for one change: write it in the gate of a change`),
    ...timeMessages(gate),
    ...podMessages(gate),
  ];
}

function changeMessages(gate: Json, { type }: Change): readonly string[] {
  if (!isObject(gate)) return [notAnObject];
  const [place, isReadyOnDelete] = [at(gate, 'at'), type === 'Delete' && at(gate, 'ready') !== undefined];
  const isKnown = place === undefined || gatePlaces.some((one) => one === place);
  return [
    ...(isKnown ? [] : [`.at: ${quoted(place)} is none of ${gatePlaces.join(', ')}`]),
    ...(isReadyOnDelete ? ['.ready: a Delete is ready when the object is gone: leave it out'] : []),
    ...(isReadyOnDelete ? [] : checkMessages(at(gate, 'ready'), '.ready')),
    ...checkMessages(at(gate, 'failed'), '.failed'),
    ...timeMessages(gate),
    ...podMessages(gate),
  ];
}

function quoted(value: Json | undefined): string {
  return isObject(value) || Array.isArray(value) ? 'this' : foreign(JSON.stringify(value) ?? '', 60);
}

function timeMessages(gate: Json): readonly string[] {
  const [timeout, stableFor] = [durationAt(gate, 'timeout'), durationAt(gate, 'stableFor')];
  const isTimeout = isWithinBounds(timeout);
  return [
    ...(isTimeout ? [] : [`.timeout: ${boundsWords(defaultGate.timeout)}`]),
    ...stableMessages(stableFor, isTimeout ? timeout : undefined),
  ];
}

function isWithinBounds(duration: number | undefined): duration is number {
  const [least = 0, most = 0] = gateTimeoutBounds.map(parseDuration);
  return duration !== undefined && duration >= least && duration <= most;
}

function boundsWords(usual: number): string {
  const [least, most] = gateTimeoutBounds;
  return `must be a duration from ${least} to ${most}, such as ${formatDuration(usual)}`;
}

function podMessages(gate: Json): readonly string[] {
  const [failFast, keepLogs] = [at(gate, 'failFast'), at(gate, 'keepLogs')];
  return [
    ...(failFast === undefined ? [] : failFastMessages(failFast)),
    ...(keepLogs === undefined || typeof keepLogs === 'boolean' ? [] : ['.keepLogs: must be true or false']),
  ];
}

function failFastMessages(failFast: Json): readonly string[] {
  if (!isObject(failFast)) return ['.failFast: must be an object, such as {enabled: false}'];
  const enabled = at(failFast, 'enabled');
  const bad = Object.entries(defaultFailFast).filter(
    ([name]) => at(failFast, name) !== undefined && !isWithinBounds(parseDuration(textAt(failFast, name) ?? '')),
  );
  return [
    ...(enabled === undefined || typeof enabled === 'boolean' ? [] : ['.failFast.enabled: must be true or false']),
    ...bad.map(([name, usual]) => `.failFast.${name}: ${boundsWords(usual)}`),
  ];
}

function stableMessages(stableFor: number | undefined, timeout: number | undefined): readonly string[] {
  if (stableFor === undefined) return ['.stableFor: must be a duration from 0s, such as 30s'];
  if (timeout === undefined || stableFor < timeout) return [];
  return [`.stableFor: must be shorter than timeout, which is ${formatDuration(timeout)}: shorten it, or write a longer timeout`];
}

/** In ms: the default if the gate has no value; undefined if the value is no duration. */
function durationAt(gate: Json, name: keyof typeof defaultGate): number | undefined {
  return at(gate, name) === undefined ? defaultGate[name] : parseDuration(textAt(gate, name) ?? '');
}

const forms = { condition: conditionMessages, field: fieldMessages, expression: expressionMessages } as const;
const formNames = ['condition', 'field', 'expression'] as const;

function checkMessages(check: Json | undefined, path: string): readonly string[] {
  if (check === undefined) return [];
  const oneOf = `exactly one of ${formNames.join(', ')}`;
  if (!isObject(check)) return [`${path}: must be an object with ${oneOf}`];
  const written = formNames.filter((name) => at(check, name) !== undefined);
  const [form] = written;
  if (form === undefined) return [`${path}: has no check: write ${oneOf}`];
  if (written.length > 1) return [`${path}: has ${written.join(' and ')}: write ${oneOf}`];
  return forms[form](at(check, form)).map((message) => `${path}.${form}${message}`);
}

// Sources: apimachinery, metav1.Condition.
const label = '[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?';
const conditionType = new RegExp(`^(?=.{1,316}$)([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?${label}$`);
const statuses: readonly Json[] = ['True', 'False', 'Unknown'];

function conditionMessages(condition: Json | undefined): readonly string[] {
  const [type, status] = [textAt(condition, 'type'), at(condition, 'status')];
  const isStatus = status === undefined || statuses.includes(status);
  return [
    ...(type !== undefined && conditionType.test(type) ? [] : ['.type: must be the type of a condition, such as Ready']),
    ...(isStatus ? [] : [`.status: ${quoted(status)} is none of "True", "False", "Unknown"`]),
  ];
}

function fieldMessages(field: Json | undefined): readonly string[] {
  const value = at(field, 'value');
  const isValue = value === undefined || isRawNumber(value) || ['string', 'number', 'boolean'].includes(typeof value);
  return [
    ...pathMessages(textAt(field, 'path') ?? ''),
    ...(isValue ? [] : ['.value: must be a text, a number, true or false: leave it out where the field must only not be empty']),
  ];
}

function pathMessages(path: string): readonly string[] {
  if (path.length > longestExpression) return [`.path: has ${path.length} characters, at most ${longestExpression} are allowed`];
  const parsed = parseFieldPath(path);
  return parsed.kind === 'path'
    ? []
    : [`.path: ${parsed.message}: write a path such as .status.phase or .status.loadBalancer.ingress[0].ip`];
}

function expressionMessages(expression: Json | undefined): readonly string[] {
  if (typeof expression !== 'string' || expression.trim() === '')
    return [': must be a CEL expression, such as object.status.phase == "Active"'];
  if (expression.length <= longestExpression) return [];
  return [`: has ${expression.length} characters, at most ${longestExpression} are allowed`];
}

// It would be gone before its end is seen.
function lifeMessages({ type, target, content }: Change, gate: Json | undefined, ofSpec: Json | undefined): readonly string[] {
  const isGated = gate === undefined ? ofSpec !== undefined : textAt(gate, 'at') !== 'Never';
  const isJob = type !== 'Delete' && groupOf(target.apiVersion) === 'batch' && target.kind === 'Job';
  const life = at(content, 'spec', 'ttlSecondsAfterFinished');
  if (!isGated || !isJob || typeof life !== 'number' || life >= leastJobLife) return [];
  return [
    `content.spec.ttlSecondsAfterFinished: is ${life}, and a Job with a gate must stay ${leastJobLife} s after its end: write ${leastJobLife} or more, or gate.at: Never`,
  ];
}
