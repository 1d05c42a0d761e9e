// The parts of the rules of readiness: the finding of a read, and a rule's verdict on it. The rules read conditions and counts, and
// put them into words. They also decide whether a controller has seen the change at all.

import type { ExpressionResult } from '../../objects/cluster.ts';
import { at, isObject, type Json, type JsonObject, objectsAt, textAt } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import type { ChangeType } from '../model/change.ts';
import type { StoredResource } from '../model/entry.ts';
import type { Gate } from '../model/gate.ts';

/** A read that found the object. */
export type Seen = GateEvidence & { readonly live: JsonObject };

export interface Verdict {
  readonly kind: Finding['kind'];
  readonly found: string;
  /** It counts at once only if the object shows that a controller has seen the change (`evidenceOf`). */
  readonly needsEvidence: boolean;
  /** The condition that the finding depends on, if it depends on a condition. */
  readonly condition?: JsonObject;
}

/** Ready by a rule that allows for the change itself. */
export function ready(found: string): Verdict {
  return { kind: 'ready', found, needsEvidence: false };
}

export function notYet(found: string): Verdict {
  return { kind: 'notYet', found, needsEvidence: false };
}

/** A failure ends the gate, so that it must never be one from before the change. */
export function failed(found: string, condition?: JsonObject): Verdict {
  return { kind: 'failed', found, needsEvidence: true, ...(condition === undefined ? {} : { condition }) };
}

/** Ready by what may still be the state before the change. */
export function readyWithEvidence(found: string, condition?: JsonObject): Verdict {
  return { ...failed(found, condition), kind: 'ready' };
}

/** Not yet, for the first reason that holds; ready if no reason holds. */
export function unless(reasons: readonly (string | undefined)[], found: string): Verdict {
  const reason = reasons.find((one) => one !== undefined);
  return reason === undefined ? ready(found) : notYet(reason);
}

// The finding of a read of a gated object.

/** `found` is in words, cleaned, at most `longestFound` characters; nothing in it changes while the object does not. */
export type Finding =
  | { readonly kind: 'ready'; readonly found: string }
  | { readonly kind: 'notYet'; readonly found: string }
  /** The object will not become ready any more. `reason`: the object's end; absent if the checked state has failed. */
  | { readonly kind: 'failed'; readonly found: string; readonly reason?: 'Gone' | 'Replaced' | 'Terminating' };

/** The forms of a gate's checks that an expression has. */
export type Checked = 'ready' | 'failed';

/** All that the answer may depend on. */
export interface GateEvidence {
  readonly gate: Gate;
  readonly type: ChangeType;
  readonly resource: StoredResource;
  /** Its content must not be repeated in words: types, statuses and CamelCase reasons only (isSealed of model/entry.ts). */
  readonly sealed: boolean;
  /** The object before the change; absent if there was no object. */
  readonly prior: JsonObject | undefined;
  /** The uid of the object that the change was made to; undefined if it is not known. */
  readonly uid: string | undefined;
  /** Its resourceVersion as the change left it; absent if it is not known. */
  readonly version?: string;
  /** Absent if there is no object. */
  readonly live: JsonObject | undefined;
  /** The results of the gate's expressions. */
  readonly evaluated: { readonly [checked in Checked]?: ExpressionResult };
  /** The class that a PersistentVolumeClaim names, if the engine could read it. */
  readonly storageClass?: JsonObject;
  /** How long ago the change was made, in ms. */
  readonly age: number;
}

// Conditions and phases of a status, and their words. The words repeat another program's text only if it has the expected form. For
// a sealed object, they repeat nothing else.

/** The conditions in their order: some rules of kinds use the first that matches. */
export function conditionsOf(object: JsonObject): readonly JsonObject[] {
  return objectsAt(object, 'status', 'conditions');
}

/** The condition of that type in the status of an object. */
export function conditionOf(object: JsonObject | undefined, type: string): JsonObject | undefined {
  return object === undefined ? undefined : conditionsOf(object).find((one) => textAt(one, 'type') === type);
}

export function hasStatus(condition: JsonObject | undefined, status: string): boolean {
  return textAt(condition, 'status') === status;
}

const statuses: readonly string[] = ['True', 'False', 'Unknown'];
const longestMessage = 150;

/** `condition Ready is False: IssuerNotReady: the issuer …`; the message only if the engine may show it. */
export function conditionWords(seen: Seen, type: string): string {
  const condition = conditionOf(seen.live, type);
  if (condition === undefined) return `condition ${type} is not set`;
  const status = textAt(condition, 'status') ?? '';
  if (status === 'True') return withReason(`condition ${type} is True`, reasonAt(condition, 'reason'));
  const said = statuses.includes(status) ? `is ${status}` : 'is neither True nor False';
  return withMessage(seen, withReason(`condition ${type} ${said}`, reasonAt(condition, 'reason')), condition);
}

/** Like `conditionWords`, for a condition that means trouble if it is True. */
export function troubleWords(seen: Seen, type: string): string {
  const condition = conditionOf(seen.live, type);
  return hasStatus(condition, 'True') ? withMessage(seen, conditionWords(seen, type), condition) : conditionWords(seen, type);
}

function withMessage({ sealed }: Seen, words: string, condition: JsonObject | undefined): string {
  const message = sealed ? '' : foreign(textAt(condition, 'message') ?? '', longestMessage);
  return message === '' ? words : `${words}: ${message}`;
}

export function withReason(words: string, reason: string | undefined): string {
  return reason === undefined ? words : `${words}: ${reason}`;
}

// Source: apimachinery, metav1.Condition.Reason; shorter, since a text without blanks can hold anything.
const reasonForm = /^[A-Za-z][A-Za-z0-9_,:]{0,62}$/;

/** A reason, or a phase, if the text has the form of one. */
export function reasonAt(object: JsonObject | undefined, ...path: readonly string[]): string | undefined {
  const found = textAt(object, ...path);
  return found !== undefined && reasonForm.test(found) ? found : undefined;
}

export function phaseWords({ live }: Seen): string {
  const phase = reasonAt(live, 'status', 'phase');
  return phase === undefined ? 'status.phase is not set' : `phase is ${phase}`;
}

// Numbers of a status, and their words: without the numbers if the object is sealed.

/** The number at the path; `otherwise` if there is no number. */
export function numberAt({ live }: Seen, path: string, otherwise = 0): number {
  const found = at(live, ...path.split('.'));
  return typeof found === 'number' ? found : otherwise;
}

export function hasNumber({ live }: Seen, path: string): boolean {
  return typeof at(live, ...path.split('.')) === 'number';
}

/** The counted objects, and the statement about those that count: `replicas are available`. */
type Counted = `${'replicas' | 'Pods'} ${string}`;

/** `2 of 3 replicas are available`. */
export function share(seen: Seen, found: number, wanted: number, what: Counted): string {
  if (!seen.sealed) return `${found} of ${wanted} ${what}`;
  return `${found < wanted ? 'not all' : 'all'} ${what}`;
}

/** The share, if it is not the whole. */
export function fewer(seen: Seen, found: number, wanted: number, what: Counted): string | undefined {
  return found < wanted ? share(seen, found, wanted, what) : undefined;
}

/** What there is too much of: replicas of before a change go last. */
export function surplus({ sealed }: Seen, found: number, wanted: number): string | undefined {
  if (found <= wanted) return undefined;
  return sealed
    ? 'there are more replicas than wanted'
    : `there are ${found} replicas, ${wanted} wanted: old ones are still to go`;
}

// Whether the content of a status is about the change. A controller may take a while to see the change. Until then, the object
// keeps the status of the state before the change: a custom resource with `Ready=True` keeps this condition when its spec changes.

/** Ms after the change from which on a status counts that shows nothing: a controller that runs has seen the change by then. */
export const withoutEvidence = 10_000;

/** `behind`: it is known to be about another generation, and never counts. `none`: nothing shows which. */
type Evidence = { readonly kind: 'seen' } | { readonly kind: 'behind'; readonly observed: number } | { readonly kind: 'none' };

const seenIt: Evidence = { kind: 'seen' };

/** The evidence that the object shows, with its condition if the answer depends on a condition. */
export function evidenceOf(seen: Seen, condition: Json | undefined): Evidence {
  const generation = at(seen.live, 'metadata', 'generation');
  const observed = [at(seen.live, 'status', 'observedGeneration'), at(condition, 'observedGeneration')].find(isNumber);
  if (isNumber(generation) && isNumber(observed)) return observed >= generation ? seenIt : { kind: 'behind', observed };
  if (isUnmoved(seen, generation)) return seenIt;
  return isWrittenSince(seen) && (hasTurned(seen, condition) || isOfOurs(seen)) ? seenIt : { kind: 'none' };
}

const isNumber = (value: Json | undefined): value is number => typeof value === 'number';

/** The write left the generation as it was, so that there is nothing for a controller to see. */
function isUnmoved({ prior }: Seen, generation: Json | undefined): boolean {
  return isNumber(generation) && generation === at(prior, 'metadata', 'generation');
}

// The prior state may be from minutes before the change, and a kind may have a default status. So a status that is still as the
// change left it shows nothing.
function isWrittenSince({ live, version }: Seen): boolean {
  return version === undefined || textAt(live, 'metadata', 'resourceVersion') !== version;
}

/** Equality alone: clocks differ. */
function hasTurned({ prior }: Seen, condition: Json | undefined): boolean {
  const turned = textAt(condition, 'lastTransitionTime');
  const before = conditionOf(prior, textAt(condition, 'type') ?? '');
  return prior !== undefined && turned !== undefined && turned !== textAt(before, 'lastTransitionTime');
}

/** Before the change there was nothing to have a status. */
function isOfOurs({ live, prior }: Seen): boolean {
  const status = at(live, 'status');
  return prior === undefined && isObject(status) && Object.keys(status).length > 0;
}

export function behindWords({ live, sealed }: Seen, observed: number): string {
  const generation = at(live, 'metadata', 'generation');
  return sealed || !isNumber(generation)
    ? 'observedGeneration is not metadata.generation'
    : `observedGeneration is ${observed}, metadata.generation is ${generation}`;
}
